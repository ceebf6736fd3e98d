package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/decoder/walk"
)

// Status is the outcome of one schema.
type Status string

// The outcomes, in the order in which the summary lists them.
const (
	Pass            Status = "pass"
	CompileFailed   Status = "compile_error"
	ValidRefused    Status = "validation_error"   // a valid instance was refused
	InvalidAccepted Status = "invalidation_error" // an invalid instance was accepted
	TimedOut        Status = "timeout"
	Crashed         Status = "crash"
)

var allStatuses = []Status{Pass, CompileFailed, ValidRefused, InvalidAccepted, TimedOut, Crashed}

// Tokenizer tokenizes a text that continues another one.
type Tokenizer interface {
	TokenizeText(dst []int32, text []byte) []int32
}

// Maskbench replays instances through masks, token by token.
type Maskbench struct {
	Engine    Engine
	Tokenizer Tokenizer
	// Lenient, if set, is an engine that allows any property order and any
	// whitespace; a valid instance that Engine refuses and Lenient accepts
	// counts as reordered, not as refused.
	Lenient Engine
	// Compact writes instances without a space after commas and colons.
	Compact bool
	Jobs    int           // concurrent schemas; 0 is 1
	Timeout time.Duration // per schema; 0 is no limit
	// MemoryLimit is the resident size in bytes above which the schemas in progress
	// are abandoned as crashed; 0 is no limit.
	MemoryLimit int64
	Out         io.Writer // receives one JSON line per schema; may be nil
	// Progress, if set, is called after each schema with the number of finished
	// schemas.
	Progress func(finished int)
}

// Result is the outcome of one schema.
type Result struct {
	ID      string
	Status  Status
	TTFM    time.Duration // from compilation to the first mask; 0 if the schema did not compile
	Masks   []time.Duration
	Tokens  int
	Error   string
	Keyword string

	Reordered int // valid instances refused only because of order or spacing
	Skipped   int // instances that UTF-8 can't represent
	Wall, CPU time.Duration

	slowAt []position // parallel to Masks
}

// position is the place where a mask was computed.
type position struct {
	test, token int32 // index of the instance; index of the token in it
}

// MarshalJSON encodes the result as a line of the results file, with times in
// microseconds.
func (r *Result) MarshalJSON() ([]byte, error) {
	b := []byte(`{"id":`)
	b = appendString(b, r.ID)
	b = append(b, `,"status":`...)
	b = appendString(b, string(r.Status))
	b = append(b, `,"ttfm_us":`...)
	b = appendMicros(b, r.TTFM)
	b = append(b, `,"mask_us":[`...)
	for i, d := range r.Masks {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMicros(b, d)
	}
	b = append(b, `],"tokens":`...)
	b = strconv.AppendInt(b, int64(r.Tokens), 10)
	for _, field := range []struct{ name, text string }{{"error", r.Error}, {"keyword", r.Keyword}} {
		b = append(b, `,"`...)
		b = append(b, field.name...)
		b = append(b, `":`...)
		if field.text == "" {
			b = append(b, "null"...)
			continue
		}
		quoted, err := json.Marshal(field.text) // replaces invalid UTF-8
		if err != nil {
			return nil, err
		}
		b = append(b, quoted...)
	}
	if r.Reordered > 0 {
		b = append(b, `,"reordered":`...)
		b = strconv.AppendInt(b, int64(r.Reordered), 10)
	}
	if r.Skipped > 0 {
		b = append(b, `,"skipped":`...)
		b = strconv.AppendInt(b, int64(r.Skipped), 10)
	}
	return append(b, '}'), nil
}

func appendMicros(b []byte, d time.Duration) []byte {
	return strconv.AppendFloat(b, float64(d)/1e3, 'f', -1, 64)
}

// Run measures every case of the corpus and returns the summary.
func (mb *Maskbench) Run(ctx context.Context, corpus *Corpus) (*Summary, error) {
	p := pool[*Result]{
		jobs:    mb.Jobs,
		timeout: mb.Timeout,
		memory:  mb.MemoryLimit,
		newWork: func() func(*Case, *atomic.Bool) *Result {
			w := &replayer{bench: mb, start: time.Now()}
			return w.run
		},
		failed: func(c *Case, status Status, message string) *Result {
			return &Result{ID: c.ID, Status: status, Error: message}
		},
	}
	sum := newSummary()
	err := p.run(ctx, corpus, func(r *Result) error {
		sum.add(r)
		if mb.Progress != nil {
			mb.Progress(sum.Schemas)
		}
		if mb.Out == nil {
			return nil
		}
		line, err := r.MarshalJSON()
		if err == nil {
			_, err = mb.Out.Write(append(line, '\n'))
		}
		if err != nil {
			return fmt.Errorf("bench: results: %w", err)
		}
		return nil
	})
	sum.finish()
	return sum, err
}

// replayer measures cases one after another.
type replayer struct {
	bench     *Maskbench
	abandoned *atomic.Bool
	start     time.Time // times are durations since start, which reads only the monotonic clock
	tokens    []int32
}

func (w *replayer) now() time.Duration { return time.Since(w.start) }

func (w *replayer) run(c *Case, abandoned *atomic.Bool) *Result {
	w.abandoned = abandoned
	r := &Result{ID: c.ID}
	wall, cpu := w.now(), threadCPU()
	w.measure(r, c)
	r.Wall, r.CPU = w.now()-wall, threadCPU()-cpu
	return r
}

// measure compiles the schema and replays its instances.
func (w *replayer) measure(r *Result, c *Case) {
	begin := w.now()
	constraint, err := w.bench.Engine.Compile(c.Schema)
	if err != nil {
		w.refused(r, err)
		return
	}
	first := &opening{matcher: constraint.NewMatcher()}
	ready := w.now()
	first.mask, err = first.matcher.Mask()
	end := w.now()
	if err != nil {
		w.refused(r, err)
		return
	}
	r.TTFM, first.took = end-begin, end-ready
	w.replayAll(r, c, constraint, first)
	if r.Status == "" {
		r.Status = Pass
	}
}

// opening is the first mask of a schema. Its time counts twice, in the time to
// the first mask and as the mask of the first token.
type opening struct {
	matcher walk.Matcher
	mask    walk.Mask
	took    time.Duration
}

// refused records that the schema did not compile.
func (w *replayer) refused(r *Result, err error) {
	r.Status, r.Error = CompileFailed, err.Error()
	var refusal *CompileError
	if errors.As(err, &refusal) {
		r.Keyword = refusal.Keyword
	}
}

// replayAll replays every instance and sets the status.
func (w *replayer) replayAll(r *Result, c *Case, constraint Constraint, first *opening) {
	for i := range c.Tests {
		in := &c.Tests[i]
		if in.Skip {
			r.Skipped++
			continue
		}
		text := in.Text
		if w.bench.Compact {
			text = in.Compact()
		}
		from := first
		if first = nil; from == nil {
			from = &opening{matcher: constraint.NewMatcher()}
		}
		refusal := w.replay(r, i, from, text)
		switch {
		case w.abandoned.Load():
			return
		case in.Valid && refusal != "":
			if w.bench.Lenient != nil && lenientAccepts(w.bench.Lenient, c.Schema, text) {
				r.Reordered++
				continue
			}
			// An accepted invalid instance is worse and is kept.
			if r.Status == "" {
				r.Status, r.Error = ValidRefused, fmt.Sprintf("instance %d: %s", i, refusal)
			}
		case !in.Valid && refusal == "" && r.Status != InvalidAccepted:
			r.Status, r.Error = InvalidAccepted, fmt.Sprintf("instance %d: accepted: %s", i, shorten(string(text), 200))
		}
	}
}

// replay feeds text token by token and returns where and why it was refused, or ""
// if all of it was accepted.
func (w *replayer) replay(r *Result, test int, from *opening, text []byte) string {
	w.tokens = w.bench.Tokenizer.TokenizeText(w.tokens[:0], text)
	m, mask, earlier := from.matcher, from.mask, from.took
	for i, tok := range w.tokens {
		if w.abandoned.Load() {
			return "abandoned"
		}
		r.Tokens++
		var has bool
		var err error
		begin := w.now()
		if mask == nil {
			mask, err = m.Mask()
		}
		if err == nil {
			if has = mask.Has(tok); has {
				err = m.Accept(tok)
			}
		}
		r.Masks = append(r.Masks, w.now()-begin+earlier)
		r.slowAt = append(r.slowAt, position{int32(test), int32(i)})
		switch {
		case err != nil:
			return fmt.Sprintf("token %d: %v", i, err)
		case !has:
			return fmt.Sprintf("token %d (id %d) is not in the mask", i, tok)
		}
		mask, earlier = nil, 0
	}
	if !m.Accepting() {
		return "incomplete at the end of the text"
	}
	return ""
}

// lenientAccepts reports whether engine accepts text under schema.
func lenientAccepts(engine Engine, schema, text []byte) bool {
	constraint, err := engine.Compile(schema)
	if err != nil {
		return false
	}
	m := constraint.NewMatcher()
	n, err := m.AcceptBytes(text)
	return err == nil && n == len(text) && m.Accepting()
}

// shorten cuts s to about n bytes.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
