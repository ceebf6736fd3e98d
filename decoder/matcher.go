package decoder

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/stencil-json/stencil/meter"
)

// A Matcher is the state of one text within a grammar. It is cheap to create and to
// clone. It must be used by one goroutine at a time; several matchers of a grammar
// may be used concurrently.
type Matcher struct {
	g     *Grammar
	cfg   int32
	epoch int32
	done  bool
	asked bool // a step since the last reset of asked may have depended on the text
	text  []byte
	past  []step // one per accepted token or call of AcceptBytes

	mask    *Mask // at the current position, if its tokens in doubt were checked
	maskAt  int   // length of past when mask was computed
	tokens  []int32
	pending []byte

	ctx  context.Context // stops the matcher's work when it ends; nil: nothing does
	fail error           // why the matcher is unusable
}

// step is the state of the matcher before a token.
type step struct {
	cfg   int32
	epoch int32
	text  int32
	done  bool
	token int32 // the accepted token; -1: bytes
}

// NewMatcher returns a matcher for a new text.
func (g *Grammar) NewMatcher() *Matcher {
	g.lock()
	defer g.mu.Unlock()
	return &Matcher{g: g, cfg: g.start, epoch: g.epoch, maskAt: -1}
}

// A RefusedError reports a token or text that is not allowed.
type RefusedError struct {
	Token    int32  // -1 if bytes were refused
	Offset   int    // length of the accepted text
	Byte     byte   // the refused byte, unless AtEnd
	AtEnd    bool   // the text may not end here, or nothing may follow
	Expected string // description of what may follow
}

// Error implements error.
func (e *RefusedError) Error() string {
	if e.AtEnd {
		return fmt.Sprintf("decoder: end of text at byte %d: expected %s", e.Offset, e.Expected)
	}
	return fmt.Sprintf("decoder: byte %d: unexpected %q: expected %s", e.Offset, e.Byte, e.Expected)
}

// Bind stops the matcher's work when ctx ends. A matcher stopped within a call is
// unusable, and [Matcher.Err] returns the reason.
func (m *Matcher) Bind(ctx context.Context) { m.ctx = meter.Unless(ctx, m.g.wanted) }

// Err returns what made the matcher unusable: a limit that was exceeded, or the cause
// of the end of its context. It is nil while the matcher is usable. Once it is not,
// methods without an error result return as if nothing could follow.
func (m *Matcher) Err() error {
	if m.fail != nil {
		return m.fail
	}
	m.g.lock()
	defer m.g.mu.Unlock()
	if m.spoiled() {
		return nil // the next call starts over
	}
	return m.g.err()
}

// spoiled reports whether the result of the last step is unreliable because the source
// has exceeded a limit of the state that it shares with other grammars. After sync the
// step is computed again, without the shared state.
func (m *Matcher) spoiled() bool { return m.g.stale != nil && m.g.stale() }

// again calls f, and once more if the source exceeded a limit of the state that it shares with others: the second time
// it does without that state. What f has accepted is taken back in between.
func (m *Matcher) again(f func() error) error {
	cfg, epoch, done, text, past := m.cfg, m.epoch, m.done, len(m.text), len(m.past)
	spoiled, err := m.attempt(f)
	if !spoiled {
		return err
	}
	m.cfg, m.epoch, m.done, m.maskAt, m.mask = cfg, epoch, done, -1, nil
	m.text, m.past = m.text[:text], m.past[:past]
	m.g.forget()
	return f()
}

// attempt calls f and reports whether that was in vain, see spoiled.
func (m *Matcher) attempt(f func() error) (spoiled bool, err error) {
	defer func() {
		if spoiled = m.spoiled(); !spoiled {
			return
		}
		if r := recover(); r != nil {
			if _, ok := r.(*meter.Stop); !ok {
				panic(r)
			}
		}
	}()
	return false, f()
}

// lock begins a call.
func (m *Matcher) lock() {
	m.g.lock()
	m.g.meter.Start(m.ctx)
}

// unlock ends a call. If the meter stopped the call, its partial results are
// discarded, and the matcher is unusable.
func (m *Matcher) unlock() {
	if r := recover(); r != nil {
		stop, ok := r.(*meter.Stop)
		if ok {
			m.fail = m.g.stopped(stop)
		}
		// After any other panic the tables are unreliable too.
		m.g.meter.Pause()
		m.g.forget()
		if !ok {
			m.g.mu.Unlock()
			panic(r)
		}
	}
	m.g.meter.Pause()
	m.g.mu.Unlock()
}

// An explainer is a Source that knows what probably exceeded a limit.
type explainer interface {
	Exceeded(limit *meter.LimitError) error
}

// stopped returns the error for a stop.
func (g *Grammar) stopped(stop *meter.Stop) error {
	var limit *meter.LimitError
	if errors.As(stop, &limit) {
		if x, ok := g.t.src.(explainer); ok {
			return x.Exceeded(limit)
		}
	}
	if err := g.t.src.Err(); err != nil && errors.Is(stop.Cause, err) {
		return err
	}
	return fmt.Errorf("decoder: %w", stop)
}

// failed sets the error of a call to what stopped the matcher. It is deferred before
// lock.
func (m *Matcher) failed(err *error) {
	if m.fail != nil {
		*err = m.fail
	}
}

// sync recomputes the matcher's configuration if the grammar has discarded its
// tables.
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

// Text returns the accepted text, without end-of-generation tokens. The slice is
// valid until the next call.
func (m *Matcher) Text() []byte { return m.text }

// Done reports whether an end-of-generation token was accepted.
func (m *Matcher) Done() bool { return m.done }

// Mask returns the tokens that may come next. An error is a limit that was exceeded;
// the matcher is unusable then.
func (m *Matcher) Mask() (mask *Mask, err error) {
	if m.fail != nil {
		return nil, m.fail
	}
	defer m.failed(&err)
	g := m.g
	m.lock()
	defer m.unlock()
	g.trim()
	err = m.again(func() (err error) {
		mask, err = m.computeMask()
		return err
	})
	return mask, err
}

func (m *Matcher) computeMask() (*Mask, error) {
	g := m.g
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

// checkToken reports whether tok may come next. It is used by Mask only, which has
// copied the text to pending.
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

// Accept appends a token. If the mask does not allow it, Accept returns a
// [*RefusedError] and changes nothing.
func (m *Matcher) Accept(tok int32) (err error) {
	if m.fail != nil {
		return m.fail
	}
	defer m.failed(&err)
	m.lock()
	defer m.unlock()
	return m.again(func() error { return m.accept(tok) })
}

func (m *Matcher) accept(tok int32) error {
	g := m.g
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

// AcceptBytes appends text, which need not end at a token boundary. It stops with a
// [*RefusedError] at the first refused byte, and returns the number of accepted
// bytes. One call counts as one token for Rollback.
func (m *Matcher) AcceptBytes(b []byte) (n int, err error) {
	if m.fail != nil {
		return 0, m.fail
	}
	defer m.failed(&err)
	m.lock()
	defer m.unlock()
	err = m.again(func() (err error) {
		m.sync()
		if m.done && len(b) > 0 {
			n, err = 0, &RefusedError{Token: -1, Offset: len(m.text), AtEnd: true, Expected: "nothing after the end of generation"}
			return err
		}
		n, err = m.acceptBytes(b)
		return err
	})
	return n, err
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

// Rollback removes the last n tokens.
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

// Clone returns an independent copy of the matcher.
func (m *Matcher) Clone() *Matcher {
	c := *m
	c.text = append([]byte(nil), m.text...)
	c.past = append([]step(nil), m.past...)
	c.tokens, c.pending = nil, nil
	return &c
}

// Accepting reports whether the accepted text is complete.
func (m *Matcher) Accepting() (yes bool) {
	if m.fail != nil {
		return false
	}
	m.lock()
	defer m.unlock()
	_ = m.again(func() error {
		m.sync()
		yes = m.done || m.g.t.accepting(m.cfg)
		return nil
	})
	return yes
}

// ShortestCompletion returns the shortest text known to complete the accepted text;
// it is empty if Accepting. It omits tokens without text, see [Matcher.Remaining].
func (m *Matcher) ShortestCompletion() []byte {
	if m.fail != nil {
		return nil
	}
	m.lock()
	defer m.unlock()
	text := m.sureCompletion()
	if m.g.t.tokens != nil {
		return plainText(m.g.vocab, text)
	}
	return text
}

// ends caches the shortest completions that don't depend on the text, by
// configuration.
type ends struct {
	of   map[int32][]byte
	size int // bytes held
}

// maxEnd is the maximum length of a cached completion: there may be one for each
// byte of a long string.
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

func (m *Matcher) sureCompletion() (out []byte) {
	_ = m.again(func() error {
		out = m.completion()
		return nil
	})
	return out
}

// completion returns a shortest completion, with tokens spelled by SpellToken.
func (m *Matcher) completion() []byte {
	g := m.g
	m.sync()
	if end, ok := g.ends.of[m.cfg]; ok {
		return bytes.Clone(end)
	}
	m.asked = false
	// The proposal of a source for a frame may conflict with text that the frame
	// does not record, such as an earlier key. Then the part that fits is
	// kept, and the source is asked again after it.
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

// maxProposals is how often a source is asked for one completion.
const maxProposals = 64

// finish returns the proposal of the source for the cheapest stack of c.
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
