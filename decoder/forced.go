package decoder

import (
	"math/bits"

	"github.com/stencil-json/stencil/vocab"
)

// maxForced is the maximum length of one run of forced text in bytes.
const maxForced = 1 << 14

// ForcedBytes returns the longest text that must follow: it ends where the text may
// end or where two different bytes may follow. The caller owns the result.
func (m *Matcher) ForcedBytes() []byte {
	m.lock()
	defer m.unlock()
	m.sync()
	out, _ := m.forced(m.cfg, m.text)
	return out
}

// forced returns the forced text after configuration c and the configuration that
// it leads to. text is the text that led to c.
func (m *Matcher) forced(c int32, text []byte) ([]byte, int32) {
	t := m.g.t
	if m.done {
		return nil, c
	}
	n := len(text)
	text = append(m.pending[:0], text...)
	var looks [maxLooks]byte
	for len(text)-n < maxForced && !t.accepting(c) && !t.readsTokens(c) {
		var live [4]uint64
		t.live(c, &live)
		// live ignores captures, so a byte of the set may still be refused.
		next := int32(dead)
		var b byte
		for _, x := range few(&live, &looks) {
			after := m.stepByte(c, x, text)
			if after == dead {
				continue
			}
			if next != dead {
				next = dead
				break
			}
			b, next = x, after
		}
		if next == dead || t.err != nil {
			break
		}
		c = next
		text = append(text, b)
	}
	m.pending = text
	return append([]byte(nil), text[n:]...), c
}

// maxLooks is the maximum number of possible bytes of which each is tried.
const maxLooks = 4

// few returns the members of a set with up to maxLooks members, else nil.
func few(set *[4]uint64, buf *[maxLooks]byte) []byte {
	out := buf[:0]
	for i, w := range set {
		for ; w != 0; w &= w - 1 {
			if len(out) == maxLooks {
				return nil
			}
			out = append(out, byte(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return out
}

// ForcedTokens returns the forced text, tokenized as the model's tokenizer does it.
// The last tokens are omitted if a longer token could begin in the forced text and
// extend beyond it: the model has never seen a text split there. The tokens are not
// accepted yet. The slice is valid until the next call.
func (m *Matcher) ForcedTokens() []int32 {
	if m.fail != nil {
		return nil
	}
	m.lock()
	defer m.unlock()
	m.sync()
	c, text := m.cfg, m.text
	m.tokens = m.tokens[:0]
	for {
		forced, after := m.forced(c, text)
		if !m.spellForced(forced, after) {
			break
		}
		tok, ok := m.g.t.onlyToken(after)
		if !ok || m.done {
			break
		}
		m.tokens = append(m.tokens, tok)
		if len(m.tokens) >= maxForced {
			break
		}
		c = m.g.t.stepToken(after, tok)
		text = append(append(text[:len(text):len(text)], forced...), m.g.vocab.Bytes(tok)...)
	}
	if len(m.tokens) == 0 {
		return nil
	}
	return m.tokens
}

// spellForced appends the tokens of forced text to m.tokens; after is the
// configuration after the text. It reports whether all of the text was tokenized.
func (m *Matcher) spellForced(text []byte, after int32) bool {
	g := m.g
	if len(text) == 0 {
		return true
	}
	from := len(m.tokens)
	m.tokens = g.vocab.TokenizeText(m.tokens, text)
	end := 0
	for i, tok := range m.tokens[from:] {
		b := g.vocab.Bytes(tok)
		if len(b) == 0 || end+len(b) > len(text) || string(text[end:end+len(b)]) != string(b) {
			// Not a plain spelling of the text: a normalising tokenizer.
			m.tokens = m.tokens[:from+i]
			break
		}
		end += len(b)
	}
	// Find the first place from which a token could reach past the end.
	cut := len(text)
	trie := g.vocab.Trie()
	for p := max(0, len(text)-trie.Depth); p < len(text); p++ {
		if g.reaches(trie, text[p:], after) {
			cut = p
			break
		}
	}
	for len(m.tokens) > from && end > cut {
		last := m.tokens[len(m.tokens)-1]
		m.tokens = m.tokens[:len(m.tokens)-1]
		end -= len(g.vocab.Bytes(last))
	}
	return end == len(text)
}

// reaches reports whether some token is text and then at least one byte that
// configuration c allows.
func (g *Grammar) reaches(trie *vocab.Trie, text []byte, c int32) bool {
	if c < 0 {
		return false
	}
	node := trie.Child[text[0]]
	for _, b := range text[1:] {
		if node < 0 {
			return false
		}
		node = trie.Follow(node, b)
	}
	if node < 0 {
		return false
	}
	var live [4]uint64
	g.t.live(c, &live)
	for i := node + 1; i < trie.Nodes[node].End; i = trie.Nodes[i].End {
		b := trie.Nodes[i].Byte
		if live[b>>6]>>(b&63)&1 != 0 {
			return true
		}
	}
	return false
}
