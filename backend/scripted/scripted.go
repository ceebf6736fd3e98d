// Package scripted is a backend without weights: a Go function of the token history computes
// the logits. It follows every rule of the backend interface, including shared cells and a
// full cache, so that schedulers, samplers and servers can be tested without C and with known
// answers.
package scripted

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// A Func fills logits, all zero when it is called, given the tokens of one sequence up to and
// including the entry that requests them. It must depend on nothing else, must be safe for
// concurrent use and must not keep its arguments.
type Func func(history []int32, logits []float32)

// Options configures a model. The zero value is an instant model with a context length of
// 4096.
type Options struct {
	Name          string        // default "scripted"
	ContextLength int           // in Info; default 4096
	Cells         int           // initially allocated for each context; default its size
	Delay         time.Duration // every Decode takes at least this long, unless aborted
	TokenDelay    time.Duration // additional delay for each entry
	StateKey      string        // of all contexts; default the name
	Grain         int           // of contexts; default 1

	// Recurrent imitates a model with recurrent state: sequences are dropped and copied as a
	// whole, and an aborted Decode empties those in its batch.
	Recurrent bool

	// Sampling is Info's Sampling.
	Sampling map[string]any

	// Adapters are those of its contexts. Adapt, if set, receives their scales and may return an
	// error.
	Adapters []backend.Adapter
	Adapt    func(scales []float32) error

	// Fault, if set, is called before each Decode of a context with its number, from 0; its error
	// is returned instead of decoding.
	Fault func(n int, b *backend.Batch) error
}

// New returns a model with the vocabulary v whose logits next computes.
func New(v *vocab.Vocab, next Func, opt Options) *Model {
	if opt.Name == "" {
		opt.Name = "scripted"
	}
	if opt.ContextLength == 0 {
		opt.ContextLength = 4096
	}
	if opt.StateKey == "" {
		opt.StateKey = opt.Name
	}
	return &Model{vocab: v, next: next, opt: opt}
}

// Model implements backend.Model.
type Model struct {
	vocab  *vocab.Vocab
	next   Func
	opt    Options
	open   atomic.Int32
	closed atomic.Bool
}

var _ backend.Model = (*Model)(nil)

// Vocab implements backend.Model.
func (m *Model) Vocab() *vocab.Vocab { return m.vocab }

// Info implements backend.Model.
func (m *Model) Info() backend.Info {
	return backend.Info{
		Backend:       "scripted",
		Name:          m.opt.Name,
		Description:   "answers from a script",
		Architecture:  "scripted",
		ContextLength: m.opt.ContextLength,
		Sampling:      m.opt.Sampling,
	}
}

// Close implements backend.Model.
func (m *Model) Close() error {
	if m.open.Load() > 0 {
		return backend.ErrBusy
	}
	m.closed.Store(true)
	return nil
}

// OpenContexts returns the number of contexts that are not closed.
func (m *Model) OpenContexts() int { return int(m.open.Load()) }

// NewContext implements backend.Model. It ignores threads, cache type and flash attention.
func (m *Model) NewContext(p backend.ContextParams) (backend.Context, error) {
	if m.closed.Load() {
		return nil, backend.ErrClosed
	}
	if p.Size == 0 {
		p.Size = min(m.opt.ContextLength, 4096)
	}
	if p.MaxSeqs == 0 {
		p.MaxSeqs = 1
	}
	if p.MaxBatch == 0 {
		p.MaxBatch = min(512, p.Size)
	}
	if p.Size < 1 || p.MaxSeqs < 1 || p.MaxBatch < 1 {
		return nil, fmt.Errorf("scripted: context of %d cells, %d sequences, %d batch entries: all must be positive", p.Size, p.MaxSeqs, p.MaxBatch)
	}
	m.open.Add(1)
	cells := p.Size
	if m.opt.Cells > 0 {
		cells = min(cells, m.opt.Cells)
	}
	return &Context{
		model: m,
		p:     p,
		cells: cells,
		seqs:  make([][]*cell, p.MaxSeqs),
		next:  make([]int32, p.MaxSeqs),
	}, nil
}

// cell is one position of the KV cache, shared by refs sequences.
type cell struct {
	token int32
	refs  int32
}

// Context implements backend.Context.
type Context struct {
	model   *Model
	p       backend.ContextParams
	seqs    [][]*cell
	cells   int // allocated
	used    int // with a reference
	decodes int
	closed  bool

	next    []int32 // scratch of Batch.Check
	history []int32
	logits  []float32
	rows    int
}

var _ backend.Context = (*Context)(nil)

// Decode implements backend.Context.
func (c *Context) Decode(ctx context.Context, b *backend.Batch) error {
	if c.closed {
		return backend.ErrClosed
	}
	n := c.decodes
	c.decodes++
	if f := c.model.opt.Fault; f != nil {
		if err := f(n, b); err != nil {
			return err
		}
	}
	vocabLen := c.model.vocab.Len()
	if err := b.Check(vocabLen, c.p.MaxSeqs, c.p.MaxBatch, c.next); err != nil {
		return err
	}
	seen := make([]bool, c.p.MaxSeqs)
	for i, seq := range b.Seqs {
		if !seen[seq] && int(b.Pos[i]) != len(c.seqs[seq]) {
			return fmt.Errorf("%w: entry %d: sequence %d continues at position %d, not %d", backend.ErrBatch, i, seq, len(c.seqs[seq]), b.Pos[i])
		}
		seen[seq] = true
	}
	if c.used+b.Len() > c.cells {
		return fmt.Errorf("%w: %d of %d cells in use, %d needed", backend.ErrNoSlot, c.used, c.cells, b.Len())
	}
	if err := c.wait(ctx, b.Len()); err != nil {
		if c.model.opt.Recurrent {
			for _, seq := range b.Seqs {
				c.SeqRemove(seq, 0, -1)
			}
		}
		return err
	}

	c.rows = b.Rows()
	if need := c.rows * vocabLen; cap(c.logits) < need {
		c.logits = make([]float32, need)
	}
	c.logits = c.logits[:c.rows*vocabLen]
	clear(c.logits)
	row := 0
	for i, t := range b.Tokens {
		seq := b.Seqs[i]
		c.seqs[seq] = append(c.seqs[seq], &cell{token: t, refs: 1})
		c.used++
		if b.Want[i] != 0 {
			c.history = c.appendTokens(c.history[:0], seq)
			lo, hi := row*vocabLen, (row+1)*vocabLen
			c.model.next(c.history, c.logits[lo:hi:hi])
			row++
		}
	}
	return nil
}

// wait waits for the delay of the options, unless ctx ends first.
func (c *Context) wait(ctx context.Context, entries int) error {
	return pause(ctx, c.model.opt.Delay+time.Duration(entries)*c.model.opt.TokenDelay)
}

func (c *Context) appendTokens(dst []int32, seq int32) []int32 {
	for _, x := range c.seqs[seq] {
		dst = append(dst, x.token)
	}
	return dst
}

// Logits implements backend.Context.
func (c *Context) Logits(i int) []float32 {
	if i < 0 || i >= c.rows {
		panic(fmt.Sprintf("scripted: row %d of %d", i, c.rows))
	}
	n := c.model.vocab.Len()
	return c.logits[i*n : (i+1)*n : (i+1)*n]
}

// SeqLen implements backend.Context.
func (c *Context) SeqLen(seq int32) int32 { return int32(len(c.seqs[seq])) }

// Rewinds implements backend.Context.
func (c *Context) Rewinds() bool { return !c.model.opt.Recurrent }

// SeqRemove implements backend.Context. Like a backend with attention it can drop any tail,
// but nothing from the middle, since positions have no gaps.
func (c *Context) SeqRemove(seq, p0, p1 int32) bool {
	n := c.SeqLen(seq)
	if p1 < 0 || p1 > n {
		p1 = n
	}
	p0 = max(p0, 0)
	if p0 >= p1 {
		return true
	}
	if p1 < n || p0 > 0 && !c.Rewinds() {
		return false
	}
	for _, x := range c.seqs[seq][p0:] {
		if x.refs--; x.refs == 0 {
			c.used--
		}
	}
	c.seqs[seq] = c.seqs[seq][:p0]
	return true
}

// SeqCopy implements backend.Context.
func (c *Context) SeqCopy(src, dst, p0, p1 int32) {
	n := c.SeqLen(src)
	if p1 < 0 || p1 > n {
		p1 = n
	}
	p0 = max(p0, 0)
	if src == dst || p0 >= p1 || p1-p0 < n && !c.Rewinds() {
		return
	}
	for _, x := range c.seqs[src][p0:p1] {
		x.refs++
		c.seqs[dst] = append(c.seqs[dst], x)
	}
}

// SeqKeep implements backend.Context.
func (c *Context) SeqKeep(seq int32) {
	for s := range c.seqs {
		if int32(s) != seq {
			c.SeqRemove(int32(s), 0, -1)
		}
	}
}

// stateMagic begins a saved sequence; the tokens follow, four bytes each.
const stateMagic = "scripted"

// StateKey implements backend.Context.
func (c *Context) StateKey() (string, error) { return c.model.opt.StateKey, nil }

// SeqState implements backend.Context.
func (c *Context) SeqState(seq int32) ([]byte, error) {
	if c.closed {
		return nil, backend.ErrClosed
	}
	out := []byte(stateMagic)
	for _, x := range c.seqs[seq] {
		out = binary.LittleEndian.AppendUint32(out, uint32(x.token))
	}
	return out, nil
}

// SetSeqState implements backend.Context.
func (c *Context) SetSeqState(seq int32, state []byte) error {
	if c.closed {
		return backend.ErrClosed
	}
	c.SeqRemove(seq, 0, -1)
	if len(state) < len(stateMagic) || string(state[:len(stateMagic)]) != stateMagic || len(state)%4 != 0 {
		return backend.ErrState
	}
	state = state[len(stateMagic):]
	if c.used+len(state)/4 > c.cells {
		return backend.ErrNoSlot
	}
	for ; len(state) > 0; state = state[4:] {
		c.seqs[seq] = append(c.seqs[seq], &cell{token: int32(binary.LittleEndian.Uint32(state)), refs: 1})
		c.used++
	}
	return nil
}

// Used returns the number of cells in use, for tests that check for leaks.
func (c *Context) Used() int { return c.used }

// Tokens returns the tokens of a sequence.
func (c *Context) Tokens(seq int32) []int32 { return c.appendTokens(nil, seq) }

// Size implements backend.Context.
func (c *Context) Size() int { return c.p.Size }

// MaxSeqs implements backend.Context.
func (c *Context) MaxSeqs() int { return c.p.MaxSeqs }

// MaxBatch implements backend.Context.
func (c *Context) MaxBatch() int { return c.p.MaxBatch }

// Grain implements backend.Grained.
func (c *Context) Grain() int { return max(1, c.model.opt.Grain) }

// Close implements backend.Context.
func (c *Context) Close() error {
	if !c.closed {
		c.closed = true
		c.rows = 0
		c.model.open.Add(-1)
	}
	return nil
}

// Adapters implements backend.Adaptable.
func (c *Context) Adapters() []backend.Adapter { return c.model.opt.Adapters }

// Adapt implements backend.Adaptable.
func (c *Context) Adapt(scales []float32) error {
	if c.model.opt.Adapt == nil {
		return nil
	}
	return c.model.opt.Adapt(scales)
}
