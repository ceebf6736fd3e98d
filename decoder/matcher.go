package decoder

import (
	"bytes"
	"errors"
	"fmt"
)

// A Matcher follows one text through a grammar. It is cheap to make and to
// clone, and may be used by one goroutine at a time; matchers of the same
// grammar may be used at the same time.
type Matcher struct {
	g     *Grammar
	cfg   int32
	epoch int32
	done  bool
	asked bool // a step may have depended on the text since this was unset
	text  []byte
	past  []step // one for each accepted token or call of AcceptBytes

	mask    *Mask // of the present position, if computed
	maskAt  int   // length of past when mask was computed
	tokens  []int32
	pending []byte
}

// step is where the matcher was before a token.
type step struct {
	cfg   int32
	epoch int32
	text  int32
	done  bool
	token int32 // that was accepted; -1: bytes
}

// NewMatcher returns a matcher at the beginning of a text.
func (g *Grammar) NewMatcher() *Matcher {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &Matcher{g: g, cfg: g.start, epoch: g.epoch, maskAt: -1}
}

// A RefusedError says that a token or text is not allowed, and where.
type RefusedError struct {
	Token    int32  // -1 if bytes were refused
	Offset   int    // length of the text that was accepted
	Byte     byte   // the byte refused, unless AtEnd
	AtEnd    bool   // the text is complete, or not complete enough to end
	Expected string // what may come instead
}

// Error implements error.
func (e *RefusedError) Error() string {
	if e.AtEnd {
		return fmt.Sprintf("decoder: end of text at byte %d: expected %s", e.Offset, e.Expected)
	}
	return fmt.Sprintf("decoder: byte %d: unexpected %q: expected %s", e.Offset, e.Byte, e.Expected)
}

// sync brings the matcher's configuration up to date after the grammar has
// thrown its tables away.
func (m *Matcher) sync() {
	if m.g.stale != nil && m.g.stale() {
		m.g.forget()
	}
	if m.epoch == m.g.epoch {
		return
	}
	m.cfg, m.epoch, m.mask = m.g.start, m.g.epoch, nil
	if m.g.t.tokens != nil {
		m.cfg = m.replay(len(m.text))
		return
	}
	for i, b := range m.text {
		m.cfg = m.stepByte(m.cfg, b, m.text[:i])
	}
}

func (m *Matcher) stepByte(c int32, b byte, text []byte) int32 {
	mode := stepMode{exact: true, text: text}
	m.g.t.work = 0
	next := m.g.t.step(c, b, &mode)
	m.asked = m.asked || mode.asked
	return next
}

// Text returns what has been accepted, without end-of-generation tokens. The
// slice is valid until the next call.
func (m *Matcher) Text() []byte { return m.text }

// Done reports whether an end-of-generation token was accepted.
func (m *Matcher) Done() bool { return m.done }

// Mask returns the tokens that may come next. The error is a limit that was
// exceeded; the matcher is of no further use then.
func (m *Matcher) Mask() (*Mask, error) {
	g := m.g
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trim()
	m.sync()
	if m.done {
		return &Mask{}, nil
	}
	c := g.masks.find(m.cfg)
	if c == nil {
		if c = g.build.build(m.cfg, &g.masks); c == nil {
			return nil, g.err()
		}
	}
	if len(c.doubts) == 0 {
		return &c.mask, nil
	}
	if m.mask != nil && m.maskAt == len(m.past) {
		return m.mask, nil
	}
	m.pending = append(m.pending[:0], m.text...)
	var allowed []int32
	for _, tok := range c.doubts {
		if m.checkToken(tok) {
			allowed = append(allowed, tok)
		}
	}
	if err := g.err(); err != nil {
		return nil, err
	}
	m.mask, m.maskAt = c.mask.with(allowed), len(m.past)
	return m.mask, nil
}

// checkToken reports whether tok may come next, byte by byte. It is used by
// Mask only, which has put the text into pending.
func (m *Matcher) checkToken(tok int32) bool {
	b := m.g.vocab.Bytes(tok)
	if len(b) == 0 {
		return false
	}
	m.pending = m.pending[:len(m.text)]
	c := m.cfg
	for _, x := range b {
		if c = m.stepByte(c, x, m.pending); c == dead {
			return false
		}
		m.pending = append(m.pending, x)
	}
	return true
}

// Accept appends a token. A token that the mask doesn't allow is a
// [*RefusedError] and changes nothing.
func (m *Matcher) Accept(tok int32) error {
	g := m.g
	g.mu.Lock()
	defer g.mu.Unlock()
	m.sync()
	if m.done {
		return &RefusedError{Token: tok, Offset: len(m.text), AtEnd: true, Expected: "nothing after the end of generation"}
	}
	if tok < 0 || int(tok) >= g.vocab.Len() {
		return fmt.Errorf("decoder: token %d is not in the vocabulary of %d", tok, g.vocab.Len())
	}
	if g.vocab.IsEOG(tok) {
		if !g.t.accepting(m.cfg) {
			return &RefusedError{Token: tok, Offset: len(m.text), AtEnd: true, Expected: m.expected(m.cfg)}
		}
		m.past = append(m.past, step{m.cfg, m.epoch, int32(len(m.text)), false, -1})
		m.done = true
		return nil
	}
	if g.t.tokens != nil {
		return m.acceptToken(tok)
	}
	b := g.vocab.Bytes(tok)
	if len(b) == 0 {
		return &RefusedError{Token: tok, Offset: len(m.text), AtEnd: true, Expected: "a token that adds text"}
	}
	n, err := m.acceptBytes(b)
	if err != nil {
		m.text = m.text[:len(m.text)-n]
		m.cfg = m.past[len(m.past)-1].cfg
		m.past = m.past[:len(m.past)-1]
		var refused *RefusedError
		if errors.As(err, &refused) {
			refused.Token = tok
		}
		return err
	}
	return nil
}

// AcceptBytes appends text that need not end where a token ends. It stops at
// the first byte that is refused, with a [*RefusedError], and returns the
// number of bytes accepted. One call counts as one token for Rollback.
func (m *Matcher) AcceptBytes(b []byte) (n int, err error) {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	m.sync()
	if m.done && len(b) > 0 {
		return 0, &RefusedError{Token: -1, Offset: len(m.text), AtEnd: true, Expected: "nothing after the end of generation"}
	}
	return m.acceptBytes(b)
}

func (m *Matcher) acceptBytes(b []byte) (int, error) {
	m.past = append(m.past, step{m.cfg, m.epoch, int32(len(m.text)), false, -1})
	for i, x := range b {
		next := m.stepByte(m.cfg, x, m.text)
		if err := m.g.err(); err != nil {
			return i, err
		}
		if next == dead {
			return i, &RefusedError{Token: -1, Offset: len(m.text), Byte: x, Expected: m.expected(m.cfg)}
		}
		m.cfg = next
		m.text = append(m.text, x)
	}
	return len(b), nil
}

// Rollback takes back the last n tokens.
func (m *Matcher) Rollback(n int) error {
	if n < 0 || n > len(m.past) {
		return fmt.Errorf("decoder: rollback of %d tokens, %d were accepted", n, len(m.past))
	}
	if n == 0 {
		return nil
	}
	s := m.past[len(m.past)-n]
	m.past = m.past[:len(m.past)-n]
	m.text, m.done = m.text[:s.text], s.done
	m.cfg, m.epoch, m.maskAt = s.cfg, s.epoch, -1
	return nil
}

// Clone returns a matcher at the same place that goes its own way.
func (m *Matcher) Clone() *Matcher {
	c := *m
	c.text = append([]byte(nil), m.text...)
	c.past = append([]step(nil), m.past...)
	c.tokens, c.pending = nil, nil
	return &c
}

// Accepting reports whether the text is complete as it is.
func (m *Matcher) Accepting() bool {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	m.sync()
	return m.done || m.g.t.accepting(m.cfg)
}

// ShortestCompletion returns a text that completes what has been accepted, the
// shortest that the source knows; it is empty when Accepting. Tokens that add
// no text can't be in it, see [Matcher.Remaining].
func (m *Matcher) ShortestCompletion() []byte {
	m.g.mu.Lock()
	defer m.g.mu.Unlock()
	text := m.completion()
	if m.g.t.tokens != nil {
		return plainText(m.g.vocab, text)
	}
	return text
}

// ends keeps shortest completions, by configuration, that don't depend on the
// text.
type ends struct {
	of   map[int32][]byte
	size int // bytes held
}

// maxEnd is the length of the longest completion that is kept: there may be one
// for each byte of a long string.
const maxEnd = 1 << 10

func (e *ends) keep(c int32, end []byte) {
	if len(end) > maxEnd {
		return
	}
	if e.of == nil {
		e.of = map[int32][]byte{}
	}
	e.of[c] = bytes.Clone(end)
	e.size += 48 + len(end)
}

// completion returns a shortest completion, with spelled tokens.
func (m *Matcher) completion() []byte {
	g := m.g
	m.sync()
	if end, ok := g.ends.of[m.cfg]; ok {
		return bytes.Clone(end)
	}
	m.asked = false
	// What a source proposes for a frame may clash with text that the frame
	// doesn't know, such as a key read before. Then the part that fits is
	// kept, and the source is asked again with it known.
	c, text := m.cfg, append([]byte(nil), m.text...)
	var out []byte
	for range maxProposals {
		proposal := g.finish(c)
		n := 0
		for n < len(proposal) {
			next, size, adds := m.readSpelled(c, proposal[n:], text)
			if next == dead {
				break
			}
			c = next
			text = append(text, adds...)
			n += size
		}
		out = append(out, proposal[:n]...)
		if n == len(proposal) || n == 0 {
			break
		}
	}
	if !m.asked && g.err() == nil {
		g.ends.keep(m.cfg, out)
	}
	return out
}

// maxProposals bounds how often a source is asked again.
const maxProposals = 64

// finish returns what the source proposes for the cheapest stack of c.
func (g *Grammar) finish(c int32) []byte {
	var out []byte
	for {
		s, _ := g.t.cheapest(c)
		if s <= 0 {
			return out
		}
		out = append(out, g.t.src.Finish(g.t.stackFrame[s])...)
		c = g.t.stackParent[s]
	}
}
