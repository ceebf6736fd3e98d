package gbnf

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
)

// BenchmarkCompile measures the time from a grammar's text to its first
// matcher.
func BenchmarkCompile(b *testing.B) {
	v := byteVocab(b)
	for _, s := range samples(b) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				bind(b, s.src, v).NewMatcher()
			}
		})
	}
}

// documents generates random texts of a grammar, as tokens.
func documents(b *testing.B, g *decoder.Grammar, n int) (list [][]int32) {
	tokens := walk.NewTokens(g.Vocab())
	for i := range n {
		w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(9, uint64(i))), Budget: 60}
		r := &recorder{Matcher: walk.Of(g.NewMatcher())}
		if _, err := w.Document(r); err != nil {
			b.Fatal(err)
		}
		list = append(list, r.tokens)
	}
	return list
}

// recorder records the tokens of a walk. The shortest completion at the end is
// not part of the walk and is left out.
type recorder struct {
	walk.Matcher
	tokens []int32
}

// Accept records the token.
func (r *recorder) Accept(tok int32) error {
	r.tokens = append(r.tokens, tok)
	return r.Matcher.Accept(tok)
}

// BenchmarkWarm measures a mask and its token, both computed before.
func BenchmarkWarm(b *testing.B) {
	v := realVocab(b, "llama3.gguf")
	for _, s := range samples(b) {
		b.Run(s.name+"/128k", func(b *testing.B) {
			g := bind(b, s.src, v)
			all := documents(b, g, 20)
			m := g.NewMatcher()
			steps := 0
			for b.Loop() {
				tokens := all[steps%len(all)]
				for _, tok := range tokens {
					mask, err := m.Mask()
					if err != nil || !mask.Has(tok) {
						b.Fatal(err)
					}
					if err := m.Accept(tok); err != nil {
						b.Fatal(err)
					}
				}
				if err := m.Rollback(len(tokens)); err != nil {
					b.Fatal(err)
				}
				steps++
			}
			total := 0
			for i := range steps {
				total += len(all[i%len(all)])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(total, 1)), "ns/token")
		})
	}
}

// BenchmarkCold measures the first mask of each position: every document is
// read with a new grammar. Masks computed earlier in the document don't count.
// Documents are read several times, and the fastest time of each position
// counts, to exclude other load on the machine.
func BenchmarkCold(b *testing.B) {
	v := realVocab(b, "llama3.gguf")
	for _, s := range samples(b) {
		b.Run(s.name+"/128k", func(b *testing.B) {
			all := documents(b, bind(b, s.src, v), 40)
			type place struct{ document, token int }
			best := map[place]time.Duration{}
			for i := 0; b.Loop(); i++ {
				g := bind(b, s.src, v)
				m := g.NewMatcher()
				masks := 0
				for k, tok := range all[i%len(all)] {
					start := time.Now()
					_, err := m.Mask()
					took := time.Since(start)
					if err != nil {
						b.Fatal(err)
					}
					if n := g.Stats().Masks; n > masks {
						masks = n
						at := place{i % len(all), k}
						if old, ok := best[at]; !ok || took < old {
							best[at] = took
						}
					}
					if err := m.Accept(tok); err != nil {
						b.Fatal(err)
					}
				}
			}
			times := slices.Sorted(maps.Values(best))
			for _, p := range []struct {
				name string
				at   float64
			}{{"p50-µs", 0.5}, {"p99-µs", 0.99}, {"max-µs", 1}} {
				if len(times) > 0 {
					at := min(int(p.at*float64(len(times))), len(times)-1)
					b.ReportMetric(float64(times[at].Nanoseconds())/1e3, p.name)
				}
			}
		})
	}
}

// BenchmarkHard measures the time and memory of grammars designed to need much
// of both.
func BenchmarkHard(b *testing.B) {
	v := byteVocab(b)
	for name, make := range hard() {
		b.Run(name, func(b *testing.B) {
			src := make()
			var all cost
			for b.Loop() {
				c := measure(func() { tryHard(b, src, v.Len(), func(g *Grammar) *decoder.Grammar { return bound(b, g, v) }) })
				all = cost{all.took + c.took, max(all.peak, c.peak)}
			}
			b.ReportMetric(all.ms()/float64(b.N), "ms")
			b.ReportMetric(all.mb(), "peak-MB")
			b.ReportMetric(0, "ns/op")
		})
	}
}
