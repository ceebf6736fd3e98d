package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Status is the outcome of one schema.
type Status string

// The outcomes, in the order in which the summary lists them.
const (
	Pass            Status = "pass"
	CompileFailed   Status = "compile_error"
	ValidRefused    Status = "validation_error"   // a valid instance was refused
	InvalidAccepted Status = "invalidation_error" // an invalid instance was not
	TimedOut        Status = "timeout"
	Crashed         Status = "crash"
)

var allStatuses = []Status{Pass, CompileFailed, ValidRefused, InvalidAccepted, TimedOut, Crashed}

// Tokenizer turns a text that continues another one into tokens.
type Tokenizer interface {
	TokenizeText(dst []int32, text string) []int32
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
	Jobs    int           // schemas at once; 0 is 1
	Timeout time.Duration // for one schema; 0 is no limit
	// MemoryLimit is the resident size in bytes above which the schemas being
	// worked on are given up as crashed; 0 is no limit.
	MemoryLimit int64
	Out         io.Writer // one JSON line a schema; may be nil
	// Progress, if set, is told the number of finished schemas after each.
	Progress func(finished int)
}

// Result is the outcome of one schema.
type Result struct {
	ID      string
	Status  Status
	TTFM    time.Duration // compile to first mask; 0 when it did not compile
	Masks   []time.Duration
	Tokens  int
	Error   string
	Keyword string

	Reordered int // valid instances refused for order or spacing alone
	Skipped   int // instances that cannot be told in UTF-8
	Wall, CPU time.Duration

	slowAt []position // parallel to Masks
}

// position says where a mask was computed.
type position struct {
	test, token int32 // index of the instance; index of the token in it
}

// MarshalJSON writes the result as a line of the results file, times in
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
		quoted, err := json.Marshal(field.text) // makes broken UTF-8 whole
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

// Run measures every case of the corpus and returns the summary. A case that
// runs out of time or memory is abandoned: its goroutine ends at the next
// token, and another takes its place.
func (mb *Maskbench) Run(corpus *Corpus) (*Summary, error) {
	jobs := max(mb.Jobs, 1)
	cases := make(chan Case)
	results := make(chan *Result)
	var slots sync.WaitGroup
	for range jobs {
		slots.Go(func() { mb.slot(cases, results) })
	}
	var readErr error
	stop := make(chan struct{})
	go func() {
		defer close(cases)
		readErr = corpus.Each(func(c Case) error {
			select {
			case cases <- c:
				return nil
			case <-stop:
				return errEnough
			}
		})
	}()
	go func() {
		slots.Wait()
		close(results)
	}()

	sum := newSummary()
	var writeErr error
	for r := range results {
		sum.add(r)
		if mb.Out != nil && writeErr == nil {
			if writeErr = writeLine(mb.Out, r); writeErr != nil {
				close(stop)
			}
		}
		if mb.Progress != nil {
			mb.Progress(sum.Schemas)
		}
	}
	sum.finish()
	if writeErr != nil {
		return sum, fmt.Errorf("bench: results: %w", writeErr)
	}
	return sum, readErr // results is closed after cases is, so readErr is settled
}

func writeLine(w io.Writer, r *Result) error {
	line, err := r.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// memoryCheckEvery is often enough to catch a runaway schema at some hundred
// megabytes beyond the limit, and seldom enough not to be seen in the times.
const memoryCheckEvery = 100 * time.Millisecond

// slot hands cases to a worker of its own, one at a time, and replaces the
// worker when a case has to be given up.
func (mb *Maskbench) slot(cases <-chan Case, results chan<- *Result) {
	w := mb.newWorker()
	defer func() { close(w.in) }()
	ticker := time.NewTicker(memoryCheckEvery)
	defer ticker.Stop()
	for c := range cases {
		var deadline <-chan time.Time
		if mb.Timeout > 0 {
			deadline = time.After(mb.Timeout)
		}
		w.in <- c
		var r *Result
		for r == nil {
			select {
			case r = <-w.out:
			case <-deadline:
				r = &Result{ID: c.ID, Status: TimedOut, Error: fmt.Sprintf("no end after %v", mb.Timeout)}
				w = mb.abandon(w)
			case <-ticker.C:
				if rss := residentBytes(); mb.MemoryLimit > 0 && rss > mb.MemoryLimit {
					r = &Result{ID: c.ID, Status: Crashed,
						Error: fmt.Sprintf("memory limit: process holds %d MiB, limit is %d MiB", rss>>20, mb.MemoryLimit>>20)}
					w = mb.abandon(w)
					debug.FreeOSMemory()
				}
			}
		}
		results <- r
	}
}

// worker measures cases on a locked thread.
type worker struct {
	bench     *Maskbench
	in        chan Case
	out       chan *Result // holds one, so that an abandoned worker can end
	abandoned atomic.Bool
	start     time.Time // times are differences to this, which reads one clock, not two
	tokens    []int32
}

func (mb *Maskbench) newWorker() *worker {
	w := &worker{bench: mb, in: make(chan Case), out: make(chan *Result, 1), start: time.Now()}
	go w.loop()
	return w
}

func (mb *Maskbench) abandon(w *worker) *worker {
	w.abandoned.Store(true)
	close(w.in)
	return mb.newWorker()
}

func (w *worker) now() time.Duration { return time.Since(w.start) }

func (w *worker) loop() {
	unlock := lockThread()
	defer unlock()
	for c := range w.in {
		r := &Result{ID: c.ID}
		wall, cpu := w.now(), threadCPU()
		w.guard(r, &c)
		r.Wall, r.CPU = w.now()-wall, threadCPU()-cpu
		w.out <- r
	}
}

// guard turns a panic of the engine into a crashed result.
func (w *worker) guard(r *Result, c *Case) {
	defer func() {
		if p := recover(); p != nil {
			r.Status = Crashed
			r.Error = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	w.measure(r, c)
}

// measure compiles the schema and replays its instances.
func (w *worker) measure(r *Result, c *Case) {
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
	matcher Matcher
	mask    Mask
	took    time.Duration
}

// refused records that the schema has no constraint.
func (w *worker) refused(r *Result, err error) {
	r.Status, r.Error = CompileFailed, err.Error()
	var refusal *CompileError
	if errors.As(err, &refusal) {
		r.Keyword = refusal.Keyword
	}
}

// replayAll replays every instance and settles the status.
func (w *worker) replayAll(r *Result, c *Case, constraint Constraint, first *opening) {
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
			// An accepted invalid instance is the worse of the two and is kept.
			if r.Status == "" {
				r.Status, r.Error = ValidRefused, fmt.Sprintf("instance %d: %s", i, refusal)
			}
		case !in.Valid && refusal == "" && r.Status != InvalidAccepted:
			r.Status, r.Error = InvalidAccepted, fmt.Sprintf("instance %d: accepted: %s", i, shorten(string(text), 200))
		}
	}
}

// replay feeds text token by token and returns where and why it was refused,
// or "" when it was accepted as a whole.
func (w *worker) replay(r *Result, test int, from *opening, text []byte) string {
	w.tokens = w.bench.Tokenizer.TokenizeText(w.tokens[:0], string(text))
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
