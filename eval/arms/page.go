package arms

import (
	"fmt"
	"html/template"
	"io"

	"github.com/stencil-json/stencil/eval/sets"
)

// Sizes of the chart, in pixels.
const (
	chartHeight = 200.0
	chartTop    = 20.0
	barWidth    = 26.0
	barGap      = 10.0
	setGap      = 40.0
)

// bar is a bar of the chart with the bounds of its value.
type bar struct {
	X, Y, Height, Middle, Low, High float64
	Label, Arm                      string
}

// mark is a label or a line of the chart.
type mark struct {
	X, Y  float64
	Label string
}

// page is the data of the template.
type page struct {
	Base          string
	Heads         []string
	Rows, Apart   []line
	Causes        []sets.Cause
	Wrong         []wrong
	Bars          []bar
	Sets, Lines   []mark
	Width, Height float64
}

// line is a row of a table.
type line struct {
	Set, Arm, Model string
	Cases           int
	Cells           []string
	Failures        string
}

// wrong is a row of the table of causes.
type wrong struct {
	Set, Arm, Right string
	Counts          []int
	Totals          Totals
	Forced          string
}

// HTML writes the report as a self-contained page, with a chart of the share of
// right fields and its bounds.
func (r *Report) HTML(w io.Writer) error {
	p := page{Base: r.Base, Causes: sets.Causes, Height: chartTop + chartHeight + 150}
	for _, f := range figures {
		p.Heads = append(p.Heads, f.title())
	}
	level := func(share float64) float64 { return chartTop + chartHeight*(1-share) }
	x, set := 50.0, ""
	for _, row := range r.Rows {
		one, apart := line{Set: row.Set, Arm: row.Arm, Model: row.Model, Cases: row.Cases, Failures: counts(row.Failures)}, line{Set: row.Set, Arm: row.Arm, Cases: row.Paired}
		for _, f := range figures {
			one.Cells = append(one.Cells, f.interval(row.Figures[f.name]))
			apart.Cells = append(apart.Cells, f.difference(row.Differences[f.name]))
		}
		p.Rows = append(p.Rows, one)
		if row.Causes != nil {
			w := wrong{Set: row.Set, Arm: row.Arm, Right: row.rightCalls(), Totals: row.Totals, Forced: row.forced()}
			for _, c := range sets.Causes {
				w.Counts = append(w.Counts, row.Causes[c])
			}
			p.Wrong = append(p.Wrong, w)
		}
		if row.Differences != nil {
			p.Apart = append(p.Apart, apart)
		}
		if row.Set != set {
			if set != "" {
				x += setGap
			}
			set = row.Set
			p.Sets = append(p.Sets, mark{x, chartTop - 6, set})
		}
		if v := row.Figures["fields"]; v != nil {
			bounds := [2]float64{v.Value, v.Value}
			if v.Bounds != nil {
				bounds = *v.Bounds
			}
			p.Bars = append(p.Bars, bar{
				x, level(v.Value), chartHeight * v.Value, x + barWidth/2, level(bounds[0]), level(bounds[1]),
				fmt.Sprintf("%s, %s: %s", row.Set, row.Arm, figures[0].interval(v)), row.Arm,
			})
		}
		x += barWidth + barGap
	}
	p.Width = x + 60
	for i := range 5 {
		p.Lines = append(p.Lines, mark{x, level(float64(i) / 4), fmt.Sprintf("%d%%", 25*i)})
	}
	return pageTemplate.Execute(w, p)
}

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"foot": func() float64 { return chartTop + chartHeight + 12 },
	"wide": func() float64 { return barWidth },
}).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>stencil eval</title>
<style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 100em; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0 } th, td { text-align: right; padding: .3em .8em; border-bottom: 1px solid #ddd; white-space: nowrap }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left }
.wide { overflow-x: auto } text { font-size: 12px; fill: #444 } line { stroke: #ddd } rect { fill: #3b7dd8 } .bounds { stroke: #222; stroke-width: 2 }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } text { fill: #bbb } line { stroke: #444 } .bounds { stroke: #eee } th, td { border-color: #444 } }
</style></head><body>
<h1>stencil eval</h1>
<p>Fields that are right, with intervals of 95%</p>
<div class="wide"><svg width="{{.Width}}" height="{{.Height}}" role="img" aria-label="fields that are right by set and arm">
{{range .Lines}}<line x1="40" x2="{{.X}}" y1="{{.Y}}" y2="{{.Y}}"/><text x="0" y="{{.Y}}" dy="4">{{.Label}}</text>
{{end}}{{range .Bars}}<rect x="{{.X}}" y="{{.Y}}" width="{{wide}}" height="{{.Height}}"><title>{{.Label}}</title></rect><line class="bounds" x1="{{.Middle}}" x2="{{.Middle}}" y1="{{.Low}}" y2="{{.High}}"/>
<text transform="translate({{.Middle}} {{foot}}) rotate(60)">{{.Arm}}</text>
{{end}}{{range .Sets}}<text x="{{.X}}" y="{{.Y}}">{{.Label}}</text>
{{end}}</svg></div>
<div class="wide"><table><tr><th>set</th><th>arm</th><th>model</th><th>cases</th>{{range .Heads}}<th>{{.}}</th>{{end}}<th>failed</th></tr>
{{range .Rows}}<tr><td>{{.Set}}</td><td>{{.Arm}}</td><td>{{.Model}}</td><td>{{.Cases}}</td>{{range .Cells}}<td>{{.}}</td>{{end}}<td>{{.Failures}}</td></tr>
{{end}}</table></div>
{{if .Wrong}}<p>Calls that are wrong, by cause; tokens and seconds in total</p>
<div class="wide"><table><tr><th>set</th><th>arm</th><th>right</th>{{range .Causes}}<th>{{.}}</th>{{end}}<th>prompt</th><th>completion</th><th>median</th><th>forced</th><th>seconds</th></tr>
{{range .Wrong}}<tr><td>{{.Set}}</td><td>{{.Arm}}</td><td>{{.Right}}</td>{{range .Counts}}<td>{{.}}</td>{{end}}<td>{{.Totals.Prompt}}</td><td>{{.Totals.Completion}}</td><td>{{.Totals.Median}}</td><td>{{.Forced}}</td><td>{{printf "%.1f" .Totals.Seconds}}</td></tr>
{{end}}</table></div>{{end}}
{{if .Apart}}<p>Differences to {{.Base}} on the same cases; a star where the interval of 95% is without 0</p>
<div class="wide"><table><tr><th>set</th><th>arm</th><th>cases</th>{{range .Heads}}<th>{{.}}</th>{{end}}</tr>
{{range .Apart}}<tr><td>{{.Set}}</td><td>{{.Arm}}</td><td>{{.Cases}}</td>{{range .Cells}}<td>{{.}}</td>{{end}}</tr>
{{end}}</table></div>{{end}}</body></html>
`))
