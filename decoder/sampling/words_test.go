package sampling

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// onPath runs f with one of the code paths of this CPU.
func onPath(p codePath, f func()) {
	was := path
	path = p
	defer func() { path = was }()
	f()
}

// odd holds logits at which vector code may go wrong.
var odd = []float32{
	0, float32(math.Copysign(0, -1)), float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)),
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 1, -1, farAway, -farAway,
}

// wordLogits returns n logits, a few of them odd, and a set.
func wordLogits(rng *rand.Rand, n int) ([]float32, vocab.Bitset) {
	logits := randomLogits(rng, n)
	for range rng.IntN(8) {
		logits[rng.IntN(n)] = odd[rng.IntN(len(odd))]
	}
	set := vocab.NewBitset(n)
	for i := range n {
		set.Set(int32(i))
	}
	for i := range set { // crowded words, sparse ones, empty ones
		switch rng.IntN(4) {
		case 0:
			set[i] &= rng.Uint64()
		case 1:
			set[i] &= rng.Uint64() & rng.Uint64() & rng.Uint64()
		case 2:
			if rng.IntN(3) == 0 {
				set[i] = 0
			}
		}
	}
	return logits, set
}

// Assembly gives the same results as plain Go, and plain Go those of the
// definition.
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for range 3000 {
		n := 1 + rng.IntN(700)
		logits, set := wordLogits(rng, n)
		floor := logits[rng.IntN(n)]
		from := rng.IntN(len(set) + 1)
		wantWord, wantHits := len(set), uint64(0)
		for i := from; i < len(set) && wantHits == 0; i++ {
			for k := range word {
				if t := i*word + k; t < n && set.Has(int32(t)) && logits[t] >= floor {
					wantWord, wantHits = i, wantHits|1<<k
				}
			}
		}
		for _, p := range []codePath{pathGo, bestPath()} {
			onPath(p, func() {
				if i, hits := large(set, logits, from, floor); i != wantWord || hits != wantHits {
					t.Fatalf("path %d: word %d, hits %x, want %d and %x (from %d, floor %g)", p, i, hits, wantWord, wantHits, from, floor)
				}
			})
		}
	}
}

func TestWeighWord(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	for range 20_000 {
		logits, set := wordLogits(rng, word)
		w, top, scale := set[0], maxOf(logits), []float32{1, 1.25, 0.01, 100}[rng.IntN(4)]
		sparse := weighGo(w&0x8001_0040_0200_1001, logits, 0, top, scale) // member by member
		var want float64
		for k, l := range logits {
			if w>>k&1 != 0 {
				want += float64(weight((top - l) * scale))
			}
		}
		got := weighGo(w, logits, 0, top, scale)
		if math.Abs(float64(got)-want) > 1e-6*want {
			t.Fatalf("sum %g, want %g", got, want)
		}
		onPath(bestPath(), func() {
			if fast := weighWord(w, logits, 0, top, scale); math.Float32bits(fast) != math.Float32bits(got) {
				t.Fatalf("%s: sum %b, in Go %b (set %x, top %g, scale %g)", Path(), fast, got, w, top, scale)
			}
			if fast := weighWord(w&0x8001_0040_0200_1001, logits, 0, top, scale); math.Float32bits(fast) != math.Float32bits(sparse) {
				t.Fatalf("%s: sparse sum %b, in Go %b", Path(), fast, sparse)
			}
		})
	}
}

// maxOf returns the largest finite logit, 0 if there is none.
func maxOf(logits []float32) float32 {
	top := float32(math.Inf(-1))
	for _, l := range logits {
		if l > top && l <= math.MaxFloat32 {
			top = l
		}
	}
	if math.IsInf(float64(top), 0) {
		return 0
	}
	return top
}

// The same seed draws the same tokens on every CPU.
func TestPathsDrawTheSame(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	for i := range 300 {
		n := 1 + rng.IntN(3000)
		logits, set := wordLogits(rng, n)
		samePaths(t, logits, set, benchOptions[i%len(benchOptions)].opt, rng.Uint64())
	}
}

func samePaths(t *testing.T, logits []float32, members vocab.Bitset, opt Options, seed uint64) {
	t.Helper()
	opt.Seed = seed
	var drawn [2]int32
	var measured [2]Measurement
	for j, p := range []codePath{pathGo, bestPath()} {
		onPath(p, func() {
			s, err := New(opt, len(logits))
			if err != nil {
				t.Fatal(err)
			}
			if drawn[j], err = s.Sample(logits, set{base: members}, nil); err != nil {
				drawn[j] = -2
			}
			measured[j] = NewMeasurer(len(logits)).Measure(logits, set{base: members}, 0)
		})
	}
	if drawn[0] != drawn[1] {
		t.Fatalf("%+v: drew %d in Go, %d with %s", opt, drawn[0], drawn[1], Path())
	}
	a, b := measured[0], measured[1]
	if math.Float64bits(a.Allowed) != math.Float64bits(b.Allowed) || math.Float64bits(a.logSum) != math.Float64bits(b.logSum) {
		t.Fatalf("measured %g and %g in Go, %g and %g with %s", a.Allowed, a.logSum, b.Allowed, b.logSum, Path())
	}
}

// FuzzPaths draws from arbitrary bits interpreted as logits.
func FuzzPaths(f *testing.F) {
	f.Add([]byte("\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\xc0\x7f\x00\x00\x80\x7f"), uint64(1), uint8(1))
	f.Add(make([]byte, 1024), uint64(0x5555), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, option uint8) {
		n := len(data) / 4
		if n == 0 {
			return
		}
		logits, members := make([]float32, n), vocab.NewBitset(n)
		for i := range logits {
			logits[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
			if mix(seed+uint64(i))%4 != 0 {
				members.Set(int32(i))
			}
		}
		samePaths(t, logits, members, benchOptions[int(option)%len(benchOptions)].opt, seed)
	})
}

// BenchmarkPaths draws a token without a constraint, with the code for this CPU
// and in plain Go.
func BenchmarkPaths(b *testing.B) {
	const n = 128_256
	logits := crowd(n)
	for _, o := range []struct {
		name string
		opt  Options
	}{
		{"greedy", Options{}},
		{"top-k-40,top-p-0.95", Options{Temperature: 0.8, TopK: 40, TopP: 0.95}},
		{"top-p-0.95", Options{Temperature: 0.8, TopP: 0.95}},
		{"temperature", Options{Temperature: 0.8}},
	} {
		for _, p := range []codePath{bestPath(), pathGo} {
			onPath(p, func() {
				b.Run(o.name+"/128k/"+Path(), func(b *testing.B) {
					s, err := New(o.opt, n)
					if err != nil {
						b.Fatal(err)
					}
					for b.Loop() {
						s.position++ // another random number
						if _, err := s.Sample(logits, nil, nil); err != nil {
							b.Fatal(err)
						}
					}
				})
			})
			if p == pathGo {
				break // it is the best path
			}
		}
	}
}
