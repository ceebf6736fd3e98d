package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Summary summarises the results of a run.
type Summary struct {
	Schemas int
	Counts  map[Status]int
	// Refusals counts the schemas that did not compile by the keyword that caused the error.
	Refusals  map[string]int
	Tokens    int
	Reordered int // valid instances refused only because of order or spacing
	Skipped   int // instances that UTF-8 can't represent
	Wall, CPU time.Duration
	PeakRSS   int64 // bytes

	// SlowMasks and SlowStarts are the slowest masks and the slowest times to a
	// first mask, slowest first.
	SlowMasks  []Slow
	SlowStarts []Slow

	masks, starts         sample
	slowMasks, slowStarts slowest
}

// Slow is one of the longest times of a run.
type Slow struct {
	ID    string
	Took  time.Duration
	Test  int // index of the instance; -1 for a time to the first mask
	Token int // index of the token in the instance
}

// slowKept is the maximum length of the lists of slow places.
const slowKept = 1000

func newSummary() *Summary {
	return &Summary{Counts: map[Status]int{}, Refusals: map[string]int{}}
}

func (s *Summary) add(r *Result) {
	s.Schemas++
	s.Counts[r.Status]++
	if r.Status == CompileFailed {
		s.Refusals[r.Keyword]++
	}
	s.Tokens += r.Tokens
	s.Reordered += r.Reordered
	s.Skipped += r.Skipped
	s.Wall += r.Wall
	s.CPU += r.CPU
	if r.TTFM > 0 {
		s.starts.add(r.TTFM)
		s.slowStarts.add(Slow{r.ID, r.TTFM, -1, -1})
	}
	for i, d := range r.Masks {
		s.masks.add(d)
		s.slowMasks.add(Slow{r.ID, d, int(r.slowAt[i].test), int(r.slowAt[i].token)})
	}
}

// slowest collects the longest of the times added to it.
type slowest struct {
	list  []Slow
	floor time.Duration // shorter times can't enter the list any more
}

func (s *slowest) add(x Slow) {
	if x.Took <= s.floor {
		return
	}
	if s.list = append(s.list, x); len(s.list) == 2*slowKept {
		s.cut()
	}
}

// cut sorts the list and drops the excess.
func (s *slowest) cut() []Slow {
	slices.SortStableFunc(s.list, func(a, b Slow) int { return cmp.Compare(b.Took, a.Took) })
	if len(s.list) >= slowKept {
		s.list = s.list[:slowKept]
		s.floor = s.list[slowKept-1].Took
	}
	return s.list
}

func (s *Summary) finish() {
	s.SlowMasks, s.SlowStarts = s.slowMasks.cut(), s.slowStarts.cut()
	s.PeakRSS = peakResidentBytes()
}

// sample keeps durations in nanoseconds; longer ones than 4.29 s are stored as 4.29 s.
type sample struct {
	ns     []uint32
	sorted bool
	sum    time.Duration
	max    time.Duration
}

func (s *sample) add(d time.Duration) {
	s.ns = append(s.ns, uint32(min(d, math.MaxUint32)))
	s.sorted = false
	s.sum += d
	s.max = max(s.max, d)
}

func (s *sample) avg() time.Duration {
	if len(s.ns) == 0 {
		return 0
	}
	return s.sum / time.Duration(len(s.ns))
}

// quantile returns the smallest duration that at least the share q of the
// sample does not exceed.
func (s *sample) quantile(q float64) time.Duration {
	if len(s.ns) == 0 {
		return 0
	}
	if !s.sorted {
		slices.Sort(s.ns)
		s.sorted = true
	}
	i := int(math.Ceil(q*float64(len(s.ns)))) - 1
	return time.Duration(s.ns[max(i, 0)])
}

// quantiles are the rows of the table between the average and the maximum.
var quantiles = []struct {
	name string
	q    float64
}{
	{"p25", 0.25}, {"p50", 0.5}, {"p75", 0.75}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999},
}

// WriteTable prints the summary: times between masks (TBM) and to the first
// mask (TTFM) in microseconds, then the counts.
func (s *Summary) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "µs\tTBM\tTTFM\t\n")
	row := func(name string, mask, start time.Duration) {
		fmt.Fprintf(t, "%s\t%s\t%s\t\n", name, micros(mask), micros(start))
	}
	row("avg", s.masks.avg(), s.starts.avg())
	for _, q := range quantiles {
		row(q.name, s.masks.quantile(q.q), s.starts.quantile(q.q))
	}
	row("max", s.masks.max, s.starts.max)
	fmt.Fprintf(t, "\t\t\t\n")
	fmt.Fprintf(t, "schemas\t%d\t\t\n", s.Schemas)
	for _, st := range allStatuses {
		fmt.Fprintf(t, "%s\t%d\t%.2f%%\t\n", st, s.Counts[st], percent(s.Counts[st], s.Schemas))
	}
	fmt.Fprintf(t, "masks\t%d\t\t\n", len(s.masks.ns))
	fmt.Fprintf(t, "tokens\t%d\t\t\n", s.Tokens)
	if s.Reordered > 0 {
		fmt.Fprintf(t, "reordered\t%d\tinstances\t\n", s.Reordered)
	}
	if s.Skipped > 0 {
		fmt.Fprintf(t, "skipped\t%d\tinstances\t\n", s.Skipped)
	}
	fmt.Fprintf(t, "wall\t%.2f\ts\t\n", s.Wall.Seconds())
	if s.CPU > 0 {
		fmt.Fprintf(t, "thread CPU\t%.2f\ts\t\n", s.CPU.Seconds())
	}
	fmt.Fprintf(t, "peak RSS\t%d\tMiB\t\n", s.PeakRSS>>20)
	if err := t.Flush(); err != nil {
		return err
	}
	return s.writeRefusals(w)
}

// writeRefusals lists the keywords that caused compile errors.
func (s *Summary) writeRefusals(w io.Writer) error {
	var words []string
	for k := range s.Refusals {
		words = append(words, k)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.Refusals[b], s.Refusals[a]), strings.Compare(a, b))
	})
	for i, k := range words {
		words[i] = fmt.Sprintf("%s %d", cmp.Or(k, "other"), s.Refusals[k])
	}
	if len(words) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\ncompile errors by keyword: %s\n", strings.Join(words, ", "))
	return err
}

// WriteSlowest prints the n slowest first masks and the n slowest masks.
func (s *Summary) WriteSlowest(w io.Writer, n int) error {
	for _, list := range []struct {
		title string
		slow  []Slow
	}{{"slowest first masks", s.SlowStarts}, {"slowest masks", s.SlowMasks}} {
		if _, err := fmt.Fprintf(w, "\n%s\n", list.title); err != nil {
			return err
		}
		for _, x := range list.slow[:min(n, len(list.slow))] {
			place := ""
			if x.Test >= 0 {
				place = fmt.Sprintf("  instance %d token %d", x.Test, x.Token)
			}
			if _, err := fmt.Fprintf(w, "%12s µs  %s%s\n", micros(x.Took), x.ID, place); err != nil {
				return err
			}
		}
	}
	return nil
}

// micros formats d in microseconds, with decimals for small values.
func micros(d time.Duration) string {
	us := float64(d) / 1e3
	switch {
	case us < 10:
		return fmt.Sprintf("%.2f", us)
	case us < 1000:
		return fmt.Sprintf("%.1f", us)
	default:
		return fmt.Sprintf("%.0f", us)
	}
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// Figures are the content of a summary as JSON.
type Figures struct {
	Schemas   int            `json:"schemas"`
	Counts    map[Status]int `json:"counts"`
	Refusals  map[string]int `json:"refusals"` // by keyword; "": other reasons
	Masks     int            `json:"masks"`
	Tokens    int            `json:"tokens"`
	Reordered int            `json:"reordered"`
	Skipped   int            `json:"skipped"`
	// Times are in microseconds.
	BetweenMasks Times      `json:"tbm_us"`
	FirstMask    Times      `json:"ttfm_us"`
	Prepared     float64    `json:"vocabulary_prepared_us"`
	Wall         float64    `json:"wall_s"`
	CPU          float64    `json:"thread_cpu_s"`
	PeakRSS      int64      `json:"peak_rss_bytes"`
	SlowStarts   []SlowTime `json:"slowest_first_masks,omitempty"`
	SlowMasks    []SlowTime `json:"slowest_masks,omitempty"`
}

// Times describe a distribution.
type Times struct {
	Average   float64            `json:"avg"`
	Quantiles map[string]float64 `json:"quantiles"`
	Max       float64            `json:"max"`
}

// A SlowTime is one of the longest times, in microseconds.
type SlowTime struct {
	ID    string  `json:"id"`
	Took  float64 `json:"us"`
	Test  *int    `json:"instance,omitempty"`
	Token *int    `json:"token,omitempty"`
}

// Figures returns the summary for JSON, with the n slowest first masks and masks; prepared is the preparation time of the
// vocabulary.
func (s *Summary) Figures(n int, prepared time.Duration) Figures {
	f := Figures{
		Schemas: s.Schemas, Counts: map[Status]int{}, Refusals: s.Refusals, Masks: len(s.masks.ns), Tokens: s.Tokens, Reordered: s.Reordered,
		Skipped: s.Skipped, BetweenMasks: s.masks.times(), FirstMask: s.starts.times(), Prepared: inMicros(prepared),
		Wall: s.Wall.Seconds(), CPU: s.CPU.Seconds(), PeakRSS: s.PeakRSS,
	}
	for _, st := range allStatuses {
		f.Counts[st] = s.Counts[st]
	}
	for _, list := range []struct {
		from []Slow
		to   *[]SlowTime
	}{{s.SlowStarts, &f.SlowStarts}, {s.SlowMasks, &f.SlowMasks}} {
		for _, x := range list.from[:min(n, len(list.from))] {
			one := SlowTime{ID: x.ID, Took: inMicros(x.Took)}
			if x.Test >= 0 {
				one.Test, one.Token = &x.Test, &x.Token
			}
			*list.to = append(*list.to, one)
		}
	}
	return f
}

func (s *sample) times() Times {
	t := Times{inMicros(s.avg()), map[string]float64{}, inMicros(s.max)}
	for _, q := range quantiles {
		t.Quantiles[q.name] = inMicros(s.quantile(q.q))
	}
	return t
}

func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
