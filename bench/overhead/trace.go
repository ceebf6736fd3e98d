package overhead

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/engine"
)

// A Recorder is a tracer for engines that records all spans. It is safe for
// concurrent use.
type Recorder struct {
	mu    sync.Mutex
	spans []engine.Span
}

// Span implements engine.Tracer.
func (r *Recorder) Span(s engine.Span) {
	r.mu.Lock()
	r.spans = append(r.spans, s)
	r.mu.Unlock()
}

// Take returns the recorded spans and clears the recorder.
func (r *Recorder) Take() []engine.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	spans := r.spans
	r.spans = nil
	return spans
}

// traceEvent is an entry of the Trace Event Format, which Perfetto and Chrome's
// about:tracing can read. Times are in µs.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"` // "X": a span, "M": a name
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// WriteTrace writes spans for a trace viewer. Each name is shown as a process. In
// it, batches are one row and each text has its own row, so that masks that are
// computed while the model runs appear below it.
func WriteTrace(w io.Writer, names []string, spans [][]engine.Span) error {
	out := bufio.NewWriter(w)
	fmt.Fprint(out, `{"displayTimeUnit":"ns","traceEvents":[`)
	separator := ""
	var failed error
	put := func(e traceEvent) {
		line, err := json.Marshal(e)
		if err != nil && failed == nil {
			failed = err
		}
		fmt.Fprint(out, separator, "\n", string(line))
		separator = ","
	}
	for i, list := range spans {
		process := i + 1
		put(traceEvent{Name: "process_name", Phase: "M", Process: process, Args: map[string]any{"name": names[i]}})
		put(traceEvent{Name: "thread_name", Phase: "M", Process: process, Args: map[string]any{"name": "batches"}})
		if len(list) == 0 {
			continue
		}
		// The list is sorted by end time.
		zero := slices.MinFunc(list, func(a, b engine.Span) int { return a.Start.Compare(b.Start) }).Start
		rows := map[string]int{}
		for _, s := range list {
			row := 0
			if s.Part != engine.PartStep && s.Part != engine.PartForward {
				text := s.Request
				if s.Choice > 0 {
					text = fmt.Sprintf("%s, choice %d", text, s.Choice)
				}
				if row = rows[text]; row == 0 {
					row = len(rows) + 1
					rows[text] = row
					put(traceEvent{Name: "thread_name", Phase: "M", Process: process, Thread: row, Args: map[string]any{"name": text}})
				}
			}
			e := traceEvent{
				Name: s.Part.String(), Category: "engine", Phase: "X", Process: process, Thread: row,
				Time: micros(s.Start.Sub(zero)), Duration: micros(s.Took),
			}
			if s.Tokens > 0 {
				e.Args = map[string]any{"tokens": s.Tokens}
			}
			put(e)
		}
	}
	fmt.Fprint(out, "\n]}\n")
	if failed != nil {
		return failed
	}
	return out.Flush()
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

// WriteResultTrace writes the spans that were recorded because of Bench.Trace.
func WriteResultTrace(w io.Writer, results []*Result) error {
	var names []string
	var spans [][]engine.Span
	for _, r := range results {
		names = append(names, fmt.Sprintf("%s, %s, %d at once, temperature %g", r.Case, r.Mode, r.Parallel, r.Temperature))
		spans = append(spans, r.spans)
	}
	return WriteTrace(w, names, spans)
}
