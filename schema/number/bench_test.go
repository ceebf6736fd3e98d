package number

import (
	"testing"
)

// benchSpecs are typical of schemas.
var benchSpecs = []struct {
	name string
	spec Spec
}{
	{"number", Spec{}},
	{"integer", Spec{Integer: true}},
	{"min-0", Spec{Min: pointerTo("0")}},
	{"exclusive-min-0", Spec{Min: pointerTo("0"), MinExclusive: true}},
	{"integer-min-1", Spec{Min: pointerTo("1"), Integer: true}},
	{"0-100", Spec{Min: pointerTo("0"), Max: pointerTo("100")}},
	{"0-1", Spec{Min: pointerTo("0"), Max: pointerTo("1")}},
	{"latitude", Spec{Min: pointerTo("-90"), Max: pointerTo("90")}},
	{"port", Spec{Min: pointerTo("1"), Max: pointerTo("65535"), Integer: true}},
	{"0-1e9", Spec{Min: pointerTo("0"), Max: pointerTo("1e9")}},
	{"int64", Spec{Min: pointerTo("-9223372036854775808"), Max: pointerTo("9223372036854775807"), Integer: true}},
	{"cents", Spec{MultipleOf: decimals("0.01"), Min: pointerTo("0")}},
	{"sevens", Spec{MultipleOf: decimals("7"), Integer: true, Min: pointerTo("0"), Max: pointerTo("10000")}},
	{"not-0", Spec{NotIn: decimals("0")}},
	{"enum", Spec{HasIn: true, In: decimals("1", "2", "3", "5", "8", "13", "21", "0.5")}},
}

func BenchmarkCompile(b *testing.B) {
	for _, bs := range benchSpecs {
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			b.Run(bs.name+"/"+sp.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Compile(bs.spec, sp, Limits{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkStep reads numbers whose states are known.
func BenchmarkStep(b *testing.B) {
	for _, text := range []string{"-12345.678901", "31415", "0.00001", "6.02214e23"} {
		b.Run(text, func(b *testing.B) {
			a, err := Compile(Spec{}, Canonical, Limits{})
			if err != nil {
				b.Fatal(err)
			}
			var q State
			for b.Loop() {
				q = a.Start()
				for i := range len(text) {
					q = a.Step(q, text[i])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(text)), "ns/byte")
			if !a.Accepting(q) {
				b.Fatal("not accepted")
			}
		})
	}
}

// explore visits all states within the given number of bytes of the start.
func explore(a *Automaton, depth int) (states int) {
	seen := map[State]bool{a.Start(): true}
	level := []State{a.Start()}
	for ; depth > 0; depth-- {
		var next []State
		for _, q := range level {
			for i := range byteOf {
				if to := a.Step(q, byteOf[i]); to != Dead && !seen[to] {
					seen[to] = true
					next = append(next, to)
				}
			}
		}
		level = next
	}
	return len(seen)
}

// BenchmarkExplore builds the states within four bytes of the start. It reports
// the time per state, without compilation.
func BenchmarkExplore(b *testing.B) {
	for _, bs := range benchSpecs {
		for _, sp := range []Spelling{AnySpelling, Canonical} {
			b.Run(bs.name+"/"+sp.String(), func(b *testing.B) {
				states := 0
				for b.Loop() {
					spec := bs.spec
					a, err := compile(&spec, sp, Limits{}.orDefault())
					if err != nil {
						b.Fatal(err)
					}
					states = explore(a, 4)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*states), "ns/state")
				b.ReportMetric(float64(states), "states")
			})
		}
	}
}
