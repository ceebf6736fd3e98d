package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// table collects the measurements.
type table struct {
	contenders []contender
	blocks     int
	schemas    int
	rows       []row
}

// row is the row of one contender.
type row struct {
	compiled, pass int
	tokens, first  []float64 // for what all contenders accept
}

func newTable(contenders []contender) *table {
	return &table{contenders: contenders, rows: make([]row, len(contenders))}
}

// add adds a task that has been measured for all contenders.
func (t *table) add(x *task) {
	t.schemas++
	all := true
	for i, m := range x.measured {
		if m.Error != "" {
			all = false
			continue
		}
		t.rows[i].compiled++
		pass := true
		for k, d := range m.Documents {
			pass = pass && d.Complete == x.valid[k]
		}
		if pass {
			t.rows[i].pass++
		}
	}
	if !all {
		return
	}
	for i, m := range x.measured {
		t.rows[i].first = append(t.rows[i].first, m.First)
	}
	for k := range x.Tokens {
		common := len(x.Tokens[k])
		for _, m := range x.measured {
			common = min(common, len(m.Documents[k].Times))
		}
		for i, m := range x.measured {
			t.rows[i].tokens = append(t.rows[i].tokens, m.Documents[k].Times[:common]...)
		}
	}
}

// stats are the mean, quantiles and maximum of a list.
type stats struct{ avg, p50, p99, p999, max float64 }

func statsOf(list []float64) stats {
	if len(list) == 0 {
		return stats{}
	}
	list = slices.Sorted(slices.Values(list))
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	at := func(q float64) float64 { return list[min(len(list)-1, int(q*float64(len(list))))] }
	return stats{sum / float64(len(list)), at(0.5), at(0.99), at(0.999), list[len(list)-1]}
}

func (s stats) list() []float64 { return []float64{s.avg, s.p50, s.p99, s.p999, s.max} }

// print writes the table.
func (t *table) print(w io.Writer) {
	fmt.Fprintf(w, "%d schemas, of which all compile %d; %d tokens that all take; times in µs.\n\n", t.schemas, len(t.rows[0].first), len(t.rows[0].tokens))
	fmt.Fprintln(w, "| | compile | pass | token: avg | p50 | p99 | p99.9 | max | first mask: avg | p50 | p99 | max |")
	fmt.Fprintln(w, "|"+strings.Repeat(" --- |", 12))
	var tokens, first []stats
	for i := range t.rows {
		r := &t.rows[i]
		tokens, first = append(tokens, statsOf(r.tokens)), append(first, statsOf(r.first))
		a, b := tokens[i], first[i]
		fmt.Fprintf(w, "| %s | %d | %d |", t.contenders[i], r.compiled, r.pass)
		for _, x := range append(a.list(), b.avg, b.p50, b.p99, b.max) {
			fmt.Fprintf(w, " %s |", figure(x))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "| the better of the others / stencil | | |")
	ratio := func(all []stats, of func(stats) float64) {
		best := of(all[1])
		for _, s := range all[2:] {
			best = min(best, of(s))
		}
		if own := of(all[0]); own > 0 {
			fmt.Fprintf(w, " %.1f |", best/own)
		} else {
			fmt.Fprint(w, " |")
		}
	}
	for k := range 5 {
		ratio(tokens, func(s stats) float64 { return s.list()[k] })
	}
	for _, k := range []int{0, 1, 2, 4} {
		ratio(first, func(s stats) float64 { return s.list()[k] })
	}
	fmt.Fprintln(w)
}

// figure formats a number with about three significant digits.
func figure(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
