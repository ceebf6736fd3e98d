package decoder

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/vocab"
)

// Limits bounds what one grammar may use. A zero field means its default.
type Limits struct {
	// Threads is the maximum number of stacks in a configuration, that is, of
	// readings of one text that differ in the top frame. Default 4096.
	Threads int
	// Bytes is the size at which the tables of a grammar are discarded, to be
	// rebuilt as needed. Default 256 MiB.
	Bytes int
	// Stacks is the maximum number of stacks visited for one mask or one byte.
	// Default 2 million.
	Stacks int
	// Time is the maximum time for one mask, token or completion. Default 10 s.
	Time time.Duration
}

func (l Limits) withDefaults() Limits {
	if l.Threads == 0 {
		l.Threads = 4096
	}
	if l.Bytes == 0 {
		l.Bytes = 256 << 20
	}
	if l.Stacks == 0 {
		l.Stacks = 2 << 20
	}
	if l.Time == 0 {
		l.Time = 10 * time.Second
	}
	return l
}

// minGrowth is the number of bytes by which one mask may exceed Limits.Bytes if that
// is smaller.
const minGrowth = 64 << 20

// A LimitError reports which limit was exceeded.
type LimitError struct {
	Limit string // the name of the field in Limits, in lower case
	Max   int
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("decoder: more than %d %s", e.Max, e.Limit)
}

// A Grammar is a constraint bound to a vocabulary, together with the transitions
// and masks computed so far, which all its matchers share. It is safe for
// concurrent use; one lock guards it, held for the microseconds that a call takes;
// a longer call rests with it ([meter.Pace]) unless another one waits.
type Grammar struct {
	vocab  *vocab.Vocab
	limits Limits

	mu      sync.Mutex
	waiting atomic.Int32 // how many wait for mu
	t       *tables
	build   *maskBuilder
	masks   masks
	ends    ends
	start   int32
	epoch   int32 // number of times that the tables were discarded
	stale   func() bool
	meter   *meter.Meter
	held    atomic.Int64 // bytes held after the tables were last trimmed
	// spelled means that texts contain the spellings ([SpellToken]) of tokens
	// without text, for the sequence that owns the grammar.
	spelled bool
}

// lock is mu.Lock; who waits is counted.
func (g *Grammar) lock() {
	if g.mu.TryLock() {
		return
	}
	g.waiting.Add(1)
	g.mu.Lock()
	g.waiting.Add(-1)
}

// wanted reports whether somebody waits for the lock.
func (g *Grammar) wanted() bool { return g.waiting.Load() > 0 }

// New returns the grammar of src over v. The grammar owns the source from then on.
func New(src Source, v *vocab.Vocab, limits Limits) *Grammar {
	limits = limits.withDefaults()
	t := newTables(src, limits)
	t.tokens = newTokenTable(src, v)
	g := &Grammar{vocab: v, limits: limits, t: t, build: newMaskBuilder(t, v)}
	// The tables are trimmed between masks, so one mask may exceed the limit.
	g.meter = meter.New(meter.Limits{Time: limits.Time, Bytes: limits.Bytes + max(limits.Bytes, minGrowth)}, g.bytes)
	t.meter = g.meter
	if x, ok := src.(Metered); ok {
		x.SetMeter(g.meter)
	}
	if x, ok := src.(Staler); ok {
		g.stale = x.Stale
	}
	g.meter.Pause()
	g.start = g.begin()
	return g
}

// A starter is a Source with several initial frames or alternatives.
type starter interface {
	// Starts returns the initial frames of each alternative, top frame last.
	Starts() [][]Frame
}

// begin returns the initial configuration.
func (g *Grammar) begin() int32 {
	src, ok := g.t.src.(starter)
	if !ok {
		return g.t.push(g.t.src.Start(), 0) << 1
	}
	var stacks []int32
	for _, frames := range src.Starts() {
		var s int32
		for _, f := range frames {
			s = g.t.push(f, s<<1) // the empty stack has the number 0
		}
		stacks = append(stacks, s)
	}
	return g.t.config(stacks)
}

// Vocab returns the vocabulary that the grammar is bound to.
func (g *Grammar) Vocab() *vocab.Vocab { return g.vocab }

// Stats are the sizes of the tables of a grammar.
type Stats struct {
	Frames, Stacks, Sets, Masks int
	Bytes                       int // memory held, approximately
	Resets                      int // number of times that the tables were discarded
}

// Stats returns the current sizes.
func (g *Grammar) Stats() Stats {
	g.lock()
	defer g.mu.Unlock()
	return Stats{
		Frames: len(g.t.frames), Stacks: len(g.t.stackFrame), Sets: len(g.t.setOff) - 1,
		Masks: g.masks.n, Bytes: g.bytes(), Resets: int(g.epoch),
	}
}

func (g *Grammar) bytes() int {
	n := g.t.bytes() + g.masks.bytes() + g.ends.size + g.build.size + g.t.src.Bytes()
	if g.t.tokens != nil {
		n += g.t.tokens.bytes()
	}
	return n
}

// Held returns the memory held, approximately, as of the last time that a mask was
// computed. It does not wait for the grammar's lock.
func (g *Grammar) Held() int { return int(g.held.Load()) }

// trim discards the tables once they exceed the limit.
func (g *Grammar) trim() {
	n := g.bytes()
	if n > g.limits.Bytes {
		g.forget()
		n = g.bytes()
	}
	g.held.Store(int64(n))
}

func (g *Grammar) forget() {
	g.t.src.Reset()
	g.t.reset()
	g.masks, g.ends = masks{}, ends{}
	g.build.forget()
	g.epoch++
	g.start = g.begin()
}

func (g *Grammar) err() error {
	if g.t.err != nil {
		return g.t.err
	}
	return g.t.src.Err()
}
