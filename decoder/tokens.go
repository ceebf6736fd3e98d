package decoder

import (
	"slices"

	"github.com/stencil-json/stencil/vocab"
)

// A TokenReader is a Source with edges that read one whole token regardless of its
// text: a control token, which has none, or one particular token of several with the
// same text. Such an edge applies where a token begins, in addition to the edges
// that read the token's text, if any.
//
// In the result of Finish, tokens that must be read as a whole are spelled by
// [SpellToken].
type TokenReader interface {
	Source
	// ReadsTokens reports whether there are such edges.
	ReadsTokens() bool
	// ExpandTokens records the token edges that leave f. It is called once per
	// frame, until Reset.
	ExpandTokens(f Frame, e *TokenEdges)
}

// TokenEdges collects the edges of a frame that read a whole token.
type TokenEdges struct{ list []tokenEdge }

type tokenEdge struct {
	token  int32
	not    bool // reads every token but this one
	frames []Frame
}

// Add records that a token replaces the frame by the given frames, as in
// [Edges.Add].
func (e *TokenEdges) Add(token int32, frames ...Frame) {
	e.list = append(e.list, tokenEdge{token: token, frames: slices.Clone(frames)})
}

// AddOthers records such an edge for every token but the given one, except
// end-of-generation and unused tokens.
func (e *TokenEdges) AddOthers(token int32, frames ...Frame) {
	e.list = append(e.list, tokenEdge{token: token, not: true, frames: slices.Clone(frames)})
}

// ReadsTokens reports whether the grammar refers to whole tokens, so that a match
// depends on the tokens of a text and not only on its bytes.
func (g *Grammar) ReadsTokens() bool { return g.t.tokens != nil }

// tokenTable caches the edges that read whole tokens.
type tokenTable struct {
	src    TokenReader
	vocab  *vocab.Vocab
	edges  map[Frame][]tokenEdge
	others map[int32]vocab.Bitset // by the excluded token
}

// newTokenTable returns nil if the source reads text only.
func newTokenTable(src Source, v *vocab.Vocab) *tokenTable {
	r, ok := src.(TokenReader)
	if !ok || !r.ReadsTokens() {
		return nil
	}
	return &tokenTable{src: r, vocab: v, edges: map[Frame][]tokenEdge{}, others: map[int32]vocab.Bitset{}}
}

func (k *tokenTable) reset() { clear(k.edges) }

func (k *tokenTable) bytes() int { return 100*len(k.edges) + len(k.others)*k.vocab.Len()/8 }

func (k *tokenTable) of(f Frame) []tokenEdge {
	list, ok := k.edges[f]
	if !ok {
		var e TokenEdges
		k.src.ExpandTokens(f, &e)
		list = e.list
		k.edges[f] = list
	}
	return list
}

// readable reports whether AddOthers may include a token.
func (k *tokenTable) readable(tok int32) bool {
	kind := k.vocab.Kind(tok)
	return !k.vocab.IsEOG(tok) && (len(k.vocab.Bytes(tok)) > 0 || kind == vocab.Control || kind == vocab.UserDefined)
}

func (k *tokenTable) reads(e *tokenEdge, tok int32) bool {
	if e.not {
		return tok != e.token && k.readable(tok)
	}
	return tok == e.token
}

// leads reports whether an edge of f reads a token.
func (k *tokenTable) leads(f Frame, tok int32) bool {
	return slices.ContainsFunc(k.of(f), func(e tokenEdge) bool { return k.reads(&e, tok) })
}

// allBut returns the tokens that an edge of AddOthers reads.
func (k *tokenTable) allBut(token int32) vocab.Bitset {
	set, ok := k.others[token]
	if !ok {
		set = vocab.NewBitset(k.vocab.Len())
		for tok := range int32(k.vocab.Len()) {
			if tok != token && k.readable(tok) {
				set.Set(tok)
			}
		}
		k.others[token] = set
	}
	return set
}

// tokenEdges calls yield for each edge that reads a whole token in configuration c,
// until it returns false; parent is the configuration below the edge's frames.
func (t *tables) tokenEdges(c int32, yield func(e *tokenEdge, parent int32) bool) bool {
	return t.reading(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		list := t.tokens.of(t.stackFrame[s])
		for i := range list {
			if !yield(&list[i], t.stackParent[s]) {
				return false
			}
		}
		return true
	})
}

// readsTokens reports whether a whole token may be read in c.
func (t *tables) readsTokens(c int32) bool {
	return t.tokens != nil && !t.tokenEdges(c, func(*tokenEdge, int32) bool { return false })
}

// stepToken returns the configuration after token tok, read as a whole.
func (t *tables) stepToken(c, tok int32) int32 {
	var out []int32
	t.tokenEdges(c, func(e *tokenEdge, parent int32) bool {
		if t.tokens.reads(e, tok) {
			out = t.appendStacks(out, t.pushAll(e.frames, parent))
		}
		return true
	})
	return t.config(out)
}

// onlyToken returns the whole token that must follow c, if nothing else may.
func (t *tables) onlyToken(c int32) (tok int32, ok bool) {
	var live [4]uint64
	if t.tokens == nil || t.accepting(c) {
		return 0, false
	}
	if t.live(c, &live); live != [4]uint64{} {
		return 0, false
	}
	tok = -1
	one := t.tokenEdges(c, func(e *tokenEdge, _ int32) bool {
		if e.not || tok >= 0 && tok != e.token {
			return false
		}
		tok = e.token
		return true
	})
	return tok, one && tok >= 0
}

// tokenEdges adds the tokens that may be read as a whole in c.
func (w *maskBuilder) tokenEdges(c int32) {
	w.t.tokenEdges(c, func(e *tokenEdge, _ int32) bool {
		w.twice = true
		if e.not {
			w.addBase(w.t.tokens.allBut(e.token))
		} else {
			w.extra = append(w.extra, e.token)
		}
		return true
	})
}

// Vocab returns the vocabulary of the matcher's grammar.
func (m *Matcher) Vocab() *vocab.Vocab { return m.g.vocab }

// readToken returns the configuration after token tok, read both as text and as a
// whole. text is the text before it; bytes beyond its length are overwritten.
func (m *Matcher) readToken(c, tok int32, text []byte) int32 {
	t := m.g.t
	whole := t.stepToken(c, tok)
	b := m.g.vocab.Bytes(tok)
	if len(b) == 0 {
		return whole
	}
	for _, x := range b {
		if c = m.stepByte(c, x, text); c == dead {
			return whole
		}
		text = append(text, x)
	}
	if whole == dead {
		return c
	}
	return t.config(t.appendStacks(t.appendStacks(nil, c), whole))
}

// acceptToken is Accept for grammars that read tokens as a whole.
func (m *Matcher) acceptToken(tok int32) error {
	next := m.readToken(m.cfg, tok, m.text)
	if err := m.g.err(); err != nil {
		return err
	}
	b := m.g.vocab.Bytes(tok)
	if next == dead {
		e := &RefusedError{Token: tok, Offset: len(m.text), AtEnd: true}
		c, text := m.cfg, m.text
		for i, x := range b {
			if next = m.stepByte(c, x, text); next == dead {
				e.Offset, e.Byte, e.AtEnd = len(m.text)+i, x, false
				break
			}
			c, text = next, append(text, x)
		}
		e.Expected = m.expected(c)
		return e
	}
	m.past = append(m.past, step{m.cfg, m.epoch, int32(len(m.text)), false, tok})
	if len(b) == 0 && m.g.spelled {
		b = SpellToken(tok)
	}
	m.text = append(m.text, b...)
	m.cfg = next
	return nil
}

// replay returns the configuration after the accepted tokens up to an offset of the
// text, which may be within a token that was read as text.
func (m *Matcher) replay(to int) int32 {
	c := m.g.start
	for i, s := range m.past {
		from, end := int(s.text), len(m.text)
		if from > to || from == to && m.g.spelled {
			break
		}
		if i+1 < len(m.past) {
			end = int(m.past[i+1].text)
		}
		if end <= to && m.g.t.tokens != nil && s.token >= 0 {
			c = m.readToken(c, s.token, m.text[:from:from])
			continue
		}
		for k := from; k < min(end, to); k++ {
			c = m.stepByte(c, m.text[k], m.text[:k])
		}
	}
	return c
}

// spelledByte begins a spelled token. It does not occur in UTF-8.
const spelledByte = 0xFF

// spelledSize is the length of a spelled token.
const spelledSize = 5

// SpellToken returns the bytes that represent a whole token within a completion.
func SpellToken(tok int32) []byte {
	out := []byte{spelledByte}
	for shift := 21; shift >= 0; shift -= 7 {
		out = append(out, 0x80|byte(tok>>shift&0x7F))
	}
	return out
}

// spelledToken returns the token whose spelling is a prefix of text.
func spelledToken(text []byte) (tok int32, ok bool) {
	if len(text) < spelledSize || text[0] != spelledByte {
		return 0, false
	}
	for _, b := range text[1:spelledSize] {
		tok = tok<<7 | int32(b&0x7F)
	}
	return tok, true
}

// plainText replaces the spelled tokens in a text by their texts.
func plainText(v *vocab.Vocab, text []byte) []byte {
	var out []byte
	for i := 0; i < len(text); i++ {
		if tok, ok := spelledToken(text[i:]); ok {
			out = append(out, v.Bytes(tok)...)
			i += spelledSize - 1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// Remaining returns a shortest completion, as [Matcher.ShortestCompletion] does,
// including the tokens that must be read as a whole.
func (m *Matcher) Remaining() (pieces []Piece) {
	if m.fail != nil {
		return nil
	}
	m.lock()
	defer m.unlock()
	text := m.sureCompletion()
	for len(text) > 0 {
		if tok, ok := spelledToken(text); ok {
			pieces, text = append(pieces, Piece{Token: tok}), text[spelledSize:]
			continue
		}
		n := slices.Index(text, spelledByte)
		if n < 0 {
			n = len(text)
		}
		n = max(n, 1)
		pieces, text = append(pieces, Piece{Text: string(text[:n])}), text[n:]
	}
	return pieces
}

// readSpelled reads the first byte of spelt, or the spelled token that it starts
// with, in configuration c after text. It returns the next configuration, the number
// of bytes of spelt that it read, and the bytes that these add to the text.
func (m *Matcher) readSpelled(c int32, spelt, text []byte) (next int32, size int, adds []byte) {
	if m.g.t.tokens != nil {
		if tok, ok := spelledToken(spelt); ok {
			return m.g.t.stepToken(c, tok), spelledSize, m.g.vocab.Bytes(tok)
		}
	}
	return m.stepByte(c, spelt[0], text), 1, spelt[:1]
}
