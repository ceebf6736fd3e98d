package overhead

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// plotted are the modes that a plot shows. The times of llama.cpp's grammar sampler
// would be far off its scale.
var plotted = []struct {
	mode  Mode
	color color.Color
}{
	{ModeMask, color.RGBA{0x1f, 0x5f, 0xa8, 0xff}},
	{ModeForced, color.RGBA{0xd9, 0x6a, 0x00, 0xff}},
}

// WritePlot plots the overhead of each schema in percent, with its bounds, in one
// panel for each number of sequences and temperature. The format is "png" or "svg".
func WritePlot(w io.Writer, format string, results []*Result) error {
	var rows []int
	var columns []float32
	for _, r := range results {
		if !slices.Contains(rows, r.Parallel) {
			rows = append(rows, r.Parallel)
		}
		if !slices.Contains(columns, r.Temperature) {
			columns = append(columns, r.Temperature)
		}
	}
	panels := make([][]*plot.Plot, len(rows))
	for i, parallel := range rows {
		panels[i] = make([]*plot.Plot, len(columns))
		for j, temperature := range columns {
			var list []*Result
			for _, r := range results {
				if r.Parallel == parallel && r.Temperature == temperature {
					list = append(list, r)
				}
			}
			p, err := panel(list)
			if err != nil {
				return err
			}
			p.Title.Text = fmt.Sprintf("%d at once, temperature %g", parallel, temperature)
			panels[i][j] = p
		}
	}
	if len(rows) == 0 {
		return fmt.Errorf("overhead: nothing to plot")
	}
	canvas, err := draw.NewFormattedCanvas(vg.Length(len(columns))*16*vg.Centimeter, vg.Length(len(rows))*9*vg.Centimeter, strings.TrimPrefix(format, "."))
	if err != nil {
		return err
	}
	tiles := draw.Tiles{Rows: len(rows), Cols: len(columns), PadX: vg.Centimeter / 2, PadY: vg.Centimeter / 2, PadTop: vg.Centimeter / 4, PadRight: vg.Centimeter / 4}
	for i, row := range plot.Align(panels, tiles, draw.New(canvas)) {
		for j, c := range row {
			panels[i][j].Draw(c)
		}
	}
	_, err = canvas.WriteTo(w)
	return err
}

// bounded are points with error bars.
type bounded struct {
	plotter.XYs
	plotter.YErrors
}

func panel(results []*Result) (*plot.Plot, error) {
	p := plot.New()
	p.Y.Label.Text = "time a token against no constraint, %"
	p.Add(plotter.NewGrid())
	zero := plotter.NewFunction(func(float64) float64 { return 0 })
	p.Add(zero)
	var names []string
	for _, r := range results {
		if !slices.Contains(names, r.Case) {
			names = append(names, r.Case)
		}
	}
	for i, m := range plotted {
		var points bounded
		for _, r := range results {
			if r.Mode != m.mode || r.Overhead.Median != r.Overhead.Median {
				continue
			}
			o := r.Overhead
			points.XYs = append(points.XYs, plotter.XY{X: float64(slices.Index(names, r.Case)) + 0.2*(float64(i)-0.5), Y: 100 * o.Median})
			points.YErrors = append(points.YErrors, struct{ Low, High float64 }{100 * (o.Median - o.Low), 100 * (o.High - o.Median)})
		}
		if len(points.XYs) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(points.XYs)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: m.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		bars, err := plotter.NewYErrorBars(points)
		if err != nil {
			return nil, err
		}
		bars.Color = m.color
		p.Add(dots, bars)
		p.Legend.Add(string(m.mode), dots)
	}
	p.Legend.Top = true
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	return p, nil
}
