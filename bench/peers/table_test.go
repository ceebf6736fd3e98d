package main

import (
	"strings"
	"testing"
)

type named string

func (n named) String() string                      { return string(n) }
func (n named) measure(*task) (*measurement, error) { return nil, nil }
func (n named) close()                              {}

// TestTable checks that only tokens that all contenders accept, and schemas that all
// compile, are compared.
func TestTable(t *testing.T) {
	table := newTable([]contender{named("stencil"), named("a"), named("b")})
	documents := func(times []float64, complete bool) *measurement {
		return &measurement{First: 10 * times[0], Documents: []measured{{Times: times, Complete: complete}}}
	}
	table.add(&task{Tokens: [][]int32{{1, 2, 3}}, valid: []bool{true}, measured: []*measurement{
		documents([]float64{1, 2, 3}, true), documents([]float64{10, 20, 30}, true), documents([]float64{5, 6}, false)}})
	table.add(&task{Tokens: [][]int32{{1}}, valid: []bool{false}, measured: []*measurement{
		documents([]float64{100}, false), {Error: "refused"}, documents([]float64{100}, true)}})
	var b strings.Builder
	table.print(&b)
	for _, want := range []string{
		"2 schemas, of which all compile 1; 2 tokens that all take",
		"| stencil | 2 | 2 | 1.50 | 2.00 | 2.00 | 2.00 | 2.00 | 10.0 | 10.0 | 10.0 | 10.0 |",
		"| a | 1 | 1 | 15.0 | 20.0 | 20.0 | 20.0 | 20.0 | 100 |",
		"| b | 2 | 0 | 5.50 | 6.00 |",
		"| the better of the others / stencil | | | 3.7 | 3.0 |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, b.String())
		}
	}
}
