package eval

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Report summarises results.
type Report struct {
	Rows []Row `json:"rows"` // by task and mode; at the end a row for all tasks of each mode
}

// A Row summarises one task in one mode.
type Row struct {
	Task       string         `json:"task"` // AllTasks for the row over all tasks
	Mode       string         `json:"mode"`
	Cases      int            `json:"cases"`
	Valid      int            `json:"valid"`
	Scored     int            `json:"scored"`
	Exact      int            `json:"exact"`
	Right      int            `json:"fields_right"`
	Fields     int            `json:"fields"`
	Edited     int            `json:"edited"`
	Failures   map[string]int `json:"failures,omitempty"` // by category
	Stages     map[string]int `json:"stages,omitempty"`   // by stage
	Prompt     int            `json:"prompt_tokens"`
	Completion int            `json:"completion_tokens"`
	Cost       float64        `json:"cost,omitempty"`
	Millis     float64        `json:"ms"` // sum over all cases
}

// AllTasks is the task of the rows over all tasks.
const AllTasks = "all"

// Summarize returns the report of results.
func Summarize(results []Result) *Report {
	rows := map[[2]string]*Row{}
	for i := range results {
		r := &results[i]
		for _, task := range []string{cmp.Or(r.Task, "-"), AllTasks} {
			at := [2]string{task, r.Mode}
			if rows[at] == nil {
				rows[at] = &Row{Task: task, Mode: r.Mode, Failures: map[string]int{}, Stages: map[string]int{}}
			}
			rows[at].add(r)
		}
	}
	out := &Report{}
	for _, row := range rows {
		out.Rows = append(out.Rows, *row)
	}
	slices.SortFunc(out.Rows, func(a, b Row) int {
		last := func(r Row) int {
			if r.Task == AllTasks {
				return 1
			}
			return 0
		}
		return cmp.Or(last(a)-last(b), strings.Compare(a.Task, b.Task), slices.Index(Modes, a.Mode)-slices.Index(Modes, b.Mode))
	})
	return out
}

func (row *Row) add(r *Result) {
	row.Cases++
	if r.Valid {
		row.Valid++
	}
	if r.Scored {
		row.Scored++
		row.Right += r.Right
		row.Fields += r.Total
	}
	if r.Exact {
		row.Exact++
	}
	if r.Edits > 0 {
		row.Edited++
	}
	if r.Category != "" {
		row.Failures[r.Category]++
		row.Stages[r.Stage]++
	}
	row.Prompt += r.Prompt
	row.Completion += r.Completion
	row.Cost += r.Cost
	row.Millis += r.Millis
}

// percent formats a share, "-" if the total is 0.
func percent(part, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(of))
}

// counts formats counts by name, the largest first.
func counts(m map[string]int) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(m[b]-m[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, m[name])
	}
	return strings.Join(names, ", ")
}

// Table writes the report for a terminal.
func (r *Report) Table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "task\tmode\tcases\tvalid\texact\tfields\tedited\ttokens\tms/case\tfailures\tby stage")
	for _, row := range r.Rows {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%.0f\t%s\t%s\n", row.Task, row.Mode, row.Cases, percent(row.Valid, row.Cases), percent(row.Exact, row.Scored),
			percent(row.Right, row.Fields), row.Edited, row.Completion, row.Millis/float64(max(1, row.Cases)), counts(row.Failures), counts(row.Stages))
	}
	return t.Flush()
}

// bar is a bar of the chart.
type bar struct {
	X, Y, Width, Height float64
	Label, Class        string
}

// chartHeight is the height of a full bar in pixels; the others are distances.
const (
	chartHeight = 200.0
	barWidth    = 22.0
	barGap      = 4.0
	groupGap    = 26.0
	chartTop    = 20.0
)

// page is the data of the HTML template.
type page struct {
	Rows          []Row
	Bars          []bar
	Groups        []bar // the names of tasks and modes under their bars
	Lines         []bar // at every quarter
	Width, Height float64
}

// HTML writes the report as a self-contained page, with a chart of the shares of valid
// answers, exact answers and correct fields.
func (r *Report) HTML(w io.Writer) error {
	p := page{Rows: r.Rows, Height: chartTop + chartHeight + 60}
	x := 40.0
	for _, row := range r.Rows {
		begin := x
		for _, share := range []struct {
			part, of    int
			name, class string
		}{{row.Valid, row.Cases, "valid", "valid"}, {row.Exact, row.Scored, "exact", "exact"}, {row.Right, row.Fields, "fields", "fields"}} {
			if share.of > 0 {
				h := chartHeight * float64(share.part) / float64(share.of)
				p.Bars = append(p.Bars, bar{x, chartTop + chartHeight - h, barWidth, h, fmt.Sprintf("%s, %s: %s %s", row.Task, row.Mode, share.name, percent(share.part, share.of)), share.class})
			}
			x += barWidth + barGap
		}
		p.Groups = append(p.Groups, bar{X: (begin + x) / 2, Y: chartTop + chartHeight + 16, Label: row.Task}, bar{X: (begin + x) / 2, Y: chartTop + chartHeight + 32, Label: row.Mode})
		x += groupGap + 30
	}
	p.Width = x
	for i := range 5 {
		p.Lines = append(p.Lines, bar{X: 36, Y: chartTop + chartHeight*float64(4-i)/4, Width: x - 36, Label: fmt.Sprintf("%d%%", 25*i)})
	}
	return pageTemplate.Execute(w, p)
}

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"percent": percent, "counts": counts,
	"add": func(a, b float64) float64 { return a + b },
	"each": func(total float64, n int) string {
		return fmt.Sprintf("%.0f", total/float64(max(1, n)))
	},
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>stencil eval</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin-top: 2em } th, td { text-align: right; padding: .3em .8em; border-bottom: 1px solid #ddd }
th:nth-child(-n+2), td:nth-child(-n+2), th:nth-last-child(-n+2), td:nth-last-child(-n+2) { text-align: left }
.chart { overflow-x: auto } text { font-size: 12px; fill: #444 } line { stroke: #ddd }
.valid { fill: #3b7dd8; background: #3b7dd8 } .exact { fill: #2f9e63; background: #2f9e63 } .fields { fill: #e0a020; background: #e0a020 }
.key span { display: inline-block; width: .9em; height: .9em; margin: 0 .3em 0 1em }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } text { fill: #bbb } line { stroke: #444 } th, td { border-color: #444 } }
</style></head><body>
<h1>stencil eval</h1>
<p class="key"><span class="valid"></span>valid<span class="exact"></span>exact<span class="fields"></span>right fields</p>
<div class="chart"><svg width="{{.Width}}" height="{{.Height}}" role="img" aria-label="shares by task and mode">
{{range .Lines}}<line x1="{{.X}}" x2="{{add .X .Width}}" y1="{{.Y}}" y2="{{.Y}}"/><text x="0" y="{{add .Y 4}}">{{.Label}}</text>
{{end}}{{range .Bars}}<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.Width}}" height="{{.Height}}"><title>{{.Label}}</title></rect>
{{end}}{{range .Groups}}<text x="{{.X}}" y="{{.Y}}" text-anchor="middle">{{.Label}}</text>
{{end}}</svg></div>
<table><tr><th>task</th><th>mode</th><th>cases</th><th>valid</th><th>exact</th><th>fields</th><th>edited</th><th>tokens</th><th>ms/case</th><th>failures</th><th>by stage</th></tr>
{{range .Rows}}<tr><td>{{.Task}}</td><td>{{.Mode}}</td><td>{{.Cases}}</td><td>{{percent .Valid .Cases}}</td><td>{{percent .Exact .Scored}}</td><td>{{percent .Right .Fields}}</td><td>{{.Edited}}</td><td>{{.Completion}}</td><td>{{each .Millis .Cases}}</td><td>{{counts .Failures}}</td><td>{{counts .Stages}}</td></tr>
{{end}}</table></body></html>
`))
