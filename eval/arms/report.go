package arms

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/stencil-json/stencil/eval/sets"
)

// A Report summarises results.
type Report struct {
	Base string `json:"base"` // the arm that the others are compared with
	Rows []Row  `json:"rows"` // by set and arm
}

// A Row summarises one set in one arm.
type Row struct {
	Set      string         `json:"set"`
	Arm      string         `json:"arm"`
	Model    string         `json:"model"`
	Cases    int            `json:"cases"`
	Failures map[string]int `json:"failures,omitempty"` // requests that failed, by kind
	// Causes counts why calls are wrong, nil for a set without calls.
	Causes map[sets.Cause]int `json:"causes,omitzero"`
	// Totals are sums over the answered cases.
	Totals Totals `json:"totals"`
	// Figures are keyed by name: fields, f1, standing, exact, valid and forced are shares;
	// prompt_tokens, completion_tokens and seconds are means over the answered
	// cases. Figures that don't apply to a set are missing.
	Figures map[string]*Interval `json:"figures"`
	// Differences are the differences of figures to the base arm, over the cases
	// that both arms have. The base arm has none.
	Differences map[string]*Interval `json:"differences,omitempty"`
	// Paired is the number of these cases.
	Paired int `json:"paired,omitempty"`
}

// Totals are sums over answered cases.
type Totals struct {
	Prompt     int     `json:"prompt_tokens"`
	Completion int     `json:"completion_tokens"`
	Median     float64 `json:"completion_tokens_median"`
	Seconds    float64 `json:"seconds"`
}

// Summarize returns the report of results, in the given order of sets and arms. The
// same results and seed give the same report.
func Summarize(results []Result, setNames []string, list []Arm, base string, seed uint64) *Report {
	by := map[[2]string]map[string]*Result{}
	for i := range results {
		r := &results[i]
		at := [2]string{r.Set, r.Arm}
		if by[at] == nil {
			by[at] = map[string]*Result{}
		}
		by[at][r.ID] = r
	}
	out := &Report{Base: base}
	for _, set := range setNames {
		for _, arm := range list {
			if mine := by[[2]string{set, arm.Name}]; mine != nil {
				out.Rows = append(out.Rows, newRow(set, arm.Name, mine, by[[2]string{set, base}], base, seed))
			}
		}
	}
	return out
}

func newRow(set, arm string, mine, basis map[string]*Result, base string, seed uint64) Row {
	row := Row{Set: set, Arm: arm, Cases: len(mine), Failures: map[string]int{}, Figures: map[string]*Interval{}}
	var all, ours, theirs []*Result
	var lengths []float64
	ids := make([]string, 0, len(mine))
	for id := range mine {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		r := mine[id]
		row.Model = r.Model
		if r.Failure != "" {
			row.Failures[r.Failure]++
		} else {
			row.Totals.Prompt += r.Prompt
			row.Totals.Completion += r.Completion
			row.Totals.Seconds += r.Seconds
			lengths = append(lengths, float64(r.Completion))
		}
		if r.calling && row.Causes == nil {
			row.Causes = map[sets.Cause]int{}
		}
		if r.Cause != "" {
			row.Causes[r.Cause]++
		}
		all = append(all, r)
		if basis[id] != nil && arm != base {
			ours, theirs = append(ours, r), append(theirs, basis[id])
		}
	}
	if slices.Sort(lengths); len(lengths) > 0 {
		row.Totals.Median = quantile(lengths, 0.5)
	}
	for _, f := range figures {
		v := ratios(f, all)
		if f.once {
			row.Figures[f.name] = wilson(v)
		} else if i := bootstrap(v, nil, Resamples, seed); i != nil {
			row.Figures[f.name] = i
		}
	}
	if row.Paired = len(ours); row.Paired == 0 {
		return row
	}
	row.Differences = map[string]*Interval{}
	for _, f := range figures {
		if i := bootstrap(ratios(f, ours), ratios(f, theirs), Resamples, seed); i != nil {
			row.Differences[f.name] = i
		}
	}
	return row
}

func ratios(f figure, list []*Result) []ratio {
	out := make([]ratio, len(list))
	for i, r := range list {
		out[i].part, out[i].of = f.parts(r)
	}
	return out
}

// number formats a value of a figure.
func (f figure) number(v float64) string {
	switch {
	case f.share:
		return fmt.Sprintf("%.1f", 100*v)
	case f.name == "seconds":
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// interval formats a figure with its bounds, "-" if there is none.
func (f figure) interval(i *Interval) string {
	if i == nil {
		return "-"
	}
	if i.Bounds == nil {
		return f.number(i.Value)
	}
	return fmt.Sprintf("%s (%s–%s)", f.number(i.Value), f.number(i.Bounds[0]), f.number(i.Bounds[1]))
}

// difference formats a difference with its bounds, with a star if the interval
// excludes 0.
func (f figure) difference(i *Interval) string {
	if i == nil {
		return "-"
	}
	signed := func(v float64) string {
		text := f.number(v)
		if v > 0 {
			return "+" + text
		}
		return text
	}
	if i.Bounds == nil {
		return signed(i.Value)
	}
	star := ""
	if i.Bounds[0] > 0 || i.Bounds[1] < 0 {
		star = "*"
	}
	return fmt.Sprintf("%s (%s … %s)%s", signed(i.Value), signed(i.Bounds[0]), signed(i.Bounds[1]), star)
}

// counts formats counts by name, the largest first.
func counts(m map[string]int) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s: %d", name, m[name])
	}
	return strings.Join(names, ", ")
}

// Table writes the report for a terminal: figures, then differences.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := "set\tarm\tcases\t"
	for _, f := range figures {
		head += f.title() + "\t"
	}
	fmt.Fprintln(t, head+"failed")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t", row.Set, row.Arm, row.Cases)
		for _, f := range figures {
			fmt.Fprintf(t, "%s\t", f.interval(row.Figures[f.name]))
		}
		fmt.Fprintln(t, counts(row.Failures))
	}
	if err := errors.Join(t.Flush(), r.causes(w)); err != nil || !r.compared() {
		return err
	}
	fmt.Fprintf(w, "\nDifferences to %s on the same cases; a star where the interval of 95%% is without 0:\n\n", r.Base)
	fmt.Fprintln(t, strings.TrimSuffix(head, "\t"))
	for _, row := range r.Rows {
		if row.Differences == nil {
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%d", row.Set, row.Arm, row.Paired)
		for _, f := range figures {
			fmt.Fprintf(t, "\t%s", f.difference(row.Differences[f.name]))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// causes writes why calls are wrong, for the sets of calls.
func (r *Report) causes(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	begun := false
	for _, row := range r.Rows {
		if row.Causes == nil {
			continue
		}
		if !begun {
			begun = true
			fmt.Fprint(w, "\nCalls that are wrong, by cause; tokens and seconds in total:\n\n")
			fmt.Fprint(t, "set\tarm\tright")
			for _, c := range sets.Causes {
				fmt.Fprintf(t, "\t%s", strings.ReplaceAll(string(c), "_", " "))
			}
			fmt.Fprintln(t, "\tprompt\tcompletion\tmedian\tforced\tseconds")
		}
		fmt.Fprintf(t, "%s\t%s\t%s", row.Set, row.Arm, row.rightCalls())
		for _, c := range sets.Causes {
			fmt.Fprintf(t, "\t%d", row.Causes[c])
		}
		fmt.Fprintf(t, "\t%d\t%d\t%g\t%s\t%.1f\n", row.Totals.Prompt, row.Totals.Completion, row.Totals.Median, row.forced(), row.Totals.Seconds)
	}
	return t.Flush()
}

// rightCalls formats how many cases have exactly the right calls.
func (r *Row) rightCalls() string {
	wrong := 0
	for _, n := range r.Causes {
		wrong += n
	}
	return fmt.Sprintf("%d/%d", r.Cases-wrong, r.Cases)
}

// forced formats the share of forced tokens, "-" if the server doesn't say.
func (r *Row) forced() string {
	if i := r.Figures["forced"]; i != nil {
		return fmt.Sprintf("%.1f%%", 100*i.Value)
	}
	return "-"
}

// title returns the label of a figure with its unit.
func (f figure) title() string {
	if f.share {
		return f.label + " %"
	}
	return f.label
}

// compared reports whether there are differences to show.
func (r *Report) compared() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Differences != nil })
}
