package sampling

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// set is an allowed set in the two parts of a mask.
type set struct {
	base  vocab.Bitset
	extra []int32
}

func (s set) Parts() (vocab.Bitset, []int32) { return s.base, s.extra }

func randomLogits(rng *rand.Rand, n int) []float32 {
	out := make([]float32, n)
	spread := 0.5 + 8*rng.Float64()
	for i := range out {
		out[i] = float32(rng.NormFloat64() * spread)
	}
	if rng.IntN(4) == 0 { // ties
		for i := range out {
			out[i] = float32(math.Round(float64(out[i])))
		}
	}
	return out
}

// randomSet returns a set in one of the shapes of masks, and the same set as a
// map.
func randomSet(rng *rand.Rand, n int) (Set, map[int32]bool) {
	members := make(map[int32]bool)
	shape := rng.IntN(5)
	if shape == 0 {
		for i := range n {
			members[int32(i)] = true
		}
		return nil, members
	}
	var s set
	if shape == 1 { // a list of a few
		for range 1 + rng.IntN(8) {
			if t := int32(rng.IntN(n)); !members[t] {
				members[t] = true
				s.extra = append(s.extra, t)
			}
		}
		return s, members
	}
	s.base = vocab.NewBitset(n)
	keep := []float64{0.05, 0.5, 0.98}[shape-2]
	for i := range n {
		if rng.Float64() < keep || i > n/2 && shape == 4 {
			s.base.Set(int32(i))
			members[int32(i)] = true
		}
	}
	for range rng.IntN(6) {
		t := int32(rng.IntN(n)) // may be in base as well
		s.extra = append(s.extra, t)
		members[t] = true
	}
	return s, members
}

func randomOptions(rng *rand.Rand, n int) Options {
	o := Options{Seed: rng.Uint64()}
	if rng.IntN(5) > 0 {
		o.Temperature = float32(0.2 + 1.8*rng.Float64())
	}
	if rng.IntN(3) == 0 {
		o.TopK = 1 + rng.IntN(60)
	}
	if rng.IntN(3) == 0 {
		o.TopP = float32(0.05 + 0.94*rng.Float64())
	}
	if rng.IntN(4) == 0 {
		o.MinP = float32(0.2 * rng.Float64())
	}
	if rng.IntN(4) == 0 {
		o.TypicalP = float32(0.1 + 0.89*rng.Float64())
	}
	if rng.IntN(3) == 0 {
		o.RepeatPenalty = float32(0.8 + 0.6*rng.Float64())
		o.RepeatLastN = []int{0, -1, 5}[rng.IntN(3)]
	}
	if rng.IntN(4) == 0 {
		o.PresencePenalty = float32(rng.NormFloat64())
		o.FrequencyPenalty = float32(rng.NormFloat64())
	}
	for range rng.IntN(4) {
		b := Bias{int32(rng.IntN(n)), float32(4 * rng.NormFloat64())}
		if rng.IntN(3) == 0 {
			b.Add = float32(math.Inf(-1))
		}
		o.LogitBias = append(o.LogitBias, b)
	}
	return o
}

func TestSampleAgainstNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const cases = 4000
	skipped := 0
	for i := range cases {
		n := []int{5, 64, 100, 1000, 4096}[rng.IntN(5)]
		opt := randomOptions(rng, n)
		s, err := New(opt, n)
		if err != nil {
			t.Fatalf("case %d: %v", i, err)
		}
		oracle := &naive{opt: opt}
		for range rng.IntN(20) {
			tok := int32(rng.IntN(min(n, 30)))
			oracle.prompt = append(oracle.prompt, tok)
		}
		s.Prompt(oracle.prompt)
		for range rng.IntN(20) {
			tok := int32(rng.IntN(min(n, 30)))
			oracle.generated = append(oracle.generated, tok)
			s.Accept(tok)
		}
		logits := randomLogits(rng, n)
		before := slices.Clone(logits)
		allowed, members := randomSet(rng, n)
		oracle.dense = allowed == nil
		if s, ok := allowed.(set); ok {
			oracle.dense = s.base != nil
		}
		var exclude []int32
		for range rng.IntN(3) {
			x := int32(rng.IntN(n))
			exclude = append(exclude, x)
			delete(members, x)
		}
		want := oracle.sample(logits, members, s.uniform(len(exclude)))
		if want.close {
			skipped++
			continue
		}
		got, err := s.Sample(logits, allowed, exclude)
		if (err != nil) != (want.token < 0) || err != nil && !errors.Is(err, ErrEmpty) {
			t.Fatalf("case %d: error %v, oracle chose %d", i, err, want.token)
		}
		if got != want.token {
			t.Fatalf("case %d: n=%d %+v: token %d, oracle %d of %d kept", i, n, opt, got, want.token, len(want.kept))
		}
		if !slices.Equal(before, logits) {
			t.Fatalf("case %d: the logits were written to", i)
		}
	}
	if skipped > cases/8 {
		t.Errorf("%d of %d cases were too close to call", skipped, cases)
	}
}

// The draws must follow the distribution, not only stay within the kept set.
func TestDrawFrequencies(t *testing.T) {
	logits := []float32{2, 1, 0, -1, 0.5}
	for name, s := range map[string]Set{
		"whole vocabulary": nil,
		"list":             set{extra: []int32{4, 0, 2, 1, 3}},
	} {
		sampler, err := New(Options{Temperature: 0.8, Seed: 7}, len(logits))
		if err != nil {
			t.Fatal(err)
		}
		const draws = 200_000
		count := make([]float64, len(logits))
		for range draws {
			tok, err := sampler.Sample(logits, s, nil)
			if err != nil {
				t.Fatal(err)
			}
			count[tok]++
			sampler.Accept(tok)
		}
		var z, chi float64
		for _, l := range logits {
			z += math.Exp(float64(l) / 0.8)
		}
		for i, l := range logits {
			want := draws * math.Exp(float64(l)/0.8) / z
			chi += (count[i] - want) * (count[i] - want) / want
		}
		// 4 degrees of freedom: 23.5 is exceeded once in 10,000 runs, and every
		// run is the same.
		if chi > 23.5 {
			t.Errorf("%s: chi square %.1f, counts %v", name, chi, count)
		}
	}
}

func TestSameSeedSameTokens(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float32, 50)
	for i := range rows {
		rows[i] = randomLogits(rng, 500)
	}
	run := func(seed uint64, skip int) []int32 {
		s, err := New(Options{Temperature: 1, Seed: seed}, 500)
		if err != nil {
			t.Fatal(err)
		}
		var out []int32
		for i, row := range rows {
			if i < skip { // as when these tokens were forced
				s.Accept(0)
				continue
			}
			tok, err := s.Sample(row, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Accept(tok)
			out = append(out, tok)
		}
		return out
	}
	a, b := run(42, 0), run(42, 0)
	if !slices.Equal(a, b) {
		t.Errorf("the same seed gave %v and %v", a, b)
	}
	if forced := run(42, 10); !slices.Equal(a[10:], forced) {
		t.Errorf("forcing the first ten tokens changed the later ones")
	}
	if c := run(43, 0); slices.Equal(a, c) {
		t.Errorf("seeds 42 and 43 gave the same %d tokens", len(a))
	}
}

func TestStrangeLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	every := set{base: vocab.Bitset{0b11111}}
	list := set{extra: []int32{0, 1, 2, 3, 4}}
	tests := []struct {
		name   string
		logits []float32
		want   int32
	}{
		{"one number among NaN", []float32{nan, nan, -3, nan, nan}, 2},
		{"all NaN", []float32{nan, nan, nan, nan, nan}, 0},
		{"all -Inf", []float32{-inf, -inf, -inf, -inf, -inf}, 0},
		{"one +Inf", []float32{1, 2, 3, inf, 4}, 3},
		{"one above -Inf", []float32{-inf, -inf, -inf, -inf, 4}, 4},
	}
	options := []Options{
		{}, {Temperature: 1}, {Temperature: 1, TopK: 3}, {Temperature: 1, TopP: 0.9},
		{Temperature: 1, MinP: 0.1}, {Temperature: 1, TypicalP: 0.5}, {Temperature: 1, TopK: 2, TypicalP: 0.5, TopP: 0.5, MinP: 0.5},
	}
	for _, test := range tests {
		for _, opt := range options {
			for name, s := range map[string]Set{"all": nil, "bitset": every, "list": list} {
				sampler, err := New(opt, 5)
				if err != nil {
					t.Fatal(err)
				}
				got, err := sampler.Sample(test.logits, s, nil)
				if err != nil || got != test.want {
					t.Errorf("%s, %s, %+v: token %d, error %v; want %d", test.name, name, opt, got, err, test.want)
				}
			}
		}
	}
}

func TestEmptySet(t *testing.T) {
	for _, opt := range []Options{{}, {Temperature: 1}, {Temperature: 1, TopK: 4}} {
		s, err := New(opt, 100)
		if err != nil {
			t.Fatal(err)
		}
		logits := make([]float32, 100)
		for name, allowed := range map[string]Set{
			"empty list":   set{},
			"empty bitset": set{base: vocab.NewBitset(100)},
		} {
			if _, err := s.Sample(logits, allowed, nil); !errors.Is(err, ErrEmpty) {
				t.Errorf("%s: error %v, want ErrEmpty", name, err)
			}
		}
		if _, err := s.Sample(logits, set{extra: []int32{5}}, []int32{5}); !errors.Is(err, ErrEmpty) {
			t.Errorf("everything excluded: error %v, want ErrEmpty", err)
		}
	}
}

func TestValidate(t *testing.T) {
	nan := float32(math.NaN())
	tests := []struct {
		opt  Options
		want string
	}{
		{Options{Temperature: -1}, "sampling: temperature must be between 0 and 100, got -1"},
		{Options{Temperature: nan}, "sampling: temperature must be between 0 and 100, got NaN"},
		{Options{TopP: 1.5}, "sampling: top_p must be between 0 and 1, got 1.5"},
		{Options{TopK: -2}, "sampling: top_k must not be negative, got -2"},
		{Options{LogitBias: []Bias{{Token: 100}}}, "sampling: logit_bias names token 100, the vocabulary ends at 99"},
		{Options{LogitBias: []Bias{{Token: 1, Add: nan}}}, "sampling: logit_bias of token 1 must be a finite number or -infinity"},
		{Options{RepeatLastN: -2}, "sampling: repeat_last_n must be -1 or more, got -2"},
	}
	for _, test := range tests {
		_, err := New(test.opt, 100)
		var bad *OptionError
		if !errors.As(err, &bad) || err.Error() != test.want {
			t.Errorf("%+v: error %q, want %q", test.opt, err, test.want)
		}
	}
}

func TestMeasure(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 300 {
		n := []int{5, 64, 1000}[rng.IntN(3)]
		logits := randomLogits(rng, n)
		allowed, members := randomSet(rng, n)
		var all, some float64
		for id, l := range logits {
			e := math.Exp(float64(l))
			all += e
			if members[int32(id)] {
				some += e
			}
		}
		m := NewMeasurer(n).Measure(logits, allowed, 4)
		if math.Abs(m.Allowed-some/all) > 1e-5 {
			t.Fatalf("case %d: allowed share %g, want %g", i, m.Allowed, some/all)
		}
		order := make([]int32, n)
		for id := range order {
			order[id] = int32(id)
			want := math.Log(math.Exp(float64(logits[id])) / all)
			if got := m.Logprob(int32(id)); math.Abs(float64(got)-want) > 1e-4 {
				t.Fatalf("case %d: logprob of %d is %g, want %g", i, id, got, want)
			}
		}
		slices.SortStableFunc(order, func(a, b int32) int {
			switch {
			case logits[a] > logits[b]:
				return -1
			case logits[a] < logits[b]:
				return 1
			}
			return 0
		})
		for j, alt := range m.Top {
			if alt.Token != order[j] || alt.Logprob != m.Logprob(alt.Token) {
				t.Fatalf("case %d: alternative %d is %+v, want token %d", i, j, alt, order[j])
			}
		}
		if len(m.Top) != min(4, n) {
			t.Fatalf("case %d: %d alternatives", i, len(m.Top))
		}
	}
}

func TestWeight(t *testing.T) {
	worst := 0.0
	for d := float32(0); d < farAway; d += 0.00371 {
		want := math.Exp(-float64(d))
		worst = max(worst, math.Abs(float64(weight(d))-want)/want)
	}
	if worst > 5e-6 {
		t.Errorf("relative error %g", worst)
	}
	for _, d := range []float32{farAway, 1000, float32(math.Inf(1)), float32(math.NaN())} {
		if got := weight(d); got != 0 {
			t.Errorf("weight(%g) = %g, want 0", d, got)
		}
	}
	if got := weight(0); got != 1 {
		t.Errorf("weight(0) = %g", got)
	}
}

// stringMask resembles the inside of a JSON string: all but one token in
// thirty.
func stringMask(n int) set {
	s := set{base: vocab.NewBitset(n), extra: []int32{1, 30, 60}}
	for i := range n {
		if i%30 != 0 {
			s.base.Set(int32(i))
		}
	}
	return s
}

var benchOptions = []struct {
	name string
	opt  Options
}{
	{"greedy", Options{}},
	{"temperature", Options{Temperature: 0.8}},
	{"top-k", Options{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05}},
	{"top-p", Options{Temperature: 0.8, TopP: 0.95}},
	{"min-p", Options{Temperature: 0.8, MinP: 0.05}},
	{"typical", Options{Temperature: 0.8, TypicalP: 0.9}},
	{"penalties", Options{Temperature: 0.8, TopK: 40, RepeatPenalty: 1.1, FrequencyPenalty: 0.1}},
}

// TestLargestWindow checks that a window takes the memory of the tokens in it, not that of its length,
// which a request may set to anything.
func TestLargestWindow(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		s, err := New(Options{Temperature: 1, RepeatPenalty: 1.3, RepeatLastN: math.MaxInt32, DRYMultiplier: 1, DRYBase: 1.75, DRYAllowedLength: math.MaxInt32, DRYLastN: math.MaxInt32}, 100)
		if err != nil {
			t.Fatal(err)
		}
		s.Prompt([]int32{1, 2, 3})
	}
	runtime.ReadMemStats(&after)
	if held := after.TotalAlloc - before.TotalAlloc; held > 1<<20 {
		t.Errorf("ten samplers took %d bytes", held)
	}
}

func TestNoAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const n = 32_000
	logits := randomLogits(rng, n)
	masks := map[string]Set{"all": nil, "string": stringMask(n), "few": set{extra: []int32{5, 9, 300}}}
	exclude := []int32{7}
	for _, b := range benchOptions {
		s, err := New(b.opt, n)
		if err != nil {
			t.Fatal(err)
		}
		m := NewMeasurer(n)
		for name, mask := range masks {
			step := func() {
				tok, err := s.Sample(logits, mask, exclude)
				if err != nil {
					t.Fatal(err)
				}
				s.Accept(tok % 50)
				m.Measure(logits, mask, 5)
			}
			for range 200 {
				step()
			}
			if got := testing.AllocsPerRun(50, step); got != 0 {
				t.Errorf("%s, %s: %.1f allocations a step", b.name, name, got)
			}
		}
	}
}

// crowd returns logits shaped like those of a trained model: many unlikely ones
// and a few likely ones.
func crowd(n int) []float32 {
	rng := rand.New(rand.NewPCG(10, 11))
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = float32(2.5 * rng.NormFloat64())
	}
	for range 30 {
		logits[rng.IntN(n)] = 10 + 8*rng.Float32()
	}
	return logits
}

func BenchmarkSample(b *testing.B) {
	for _, n := range []int{32_000, 128_256, 262_144} {
		logits := crowd(n)
		sizes := map[int]string{32_000: "32k", 128_256: "128k", 262_144: "256k"}
		var mask Set = stringMask(n)
		for _, o := range benchOptions {
			s, err := New(o.opt, n)
			if err != nil {
				b.Fatal(err)
			}
			b.Run("string/"+sizes[n]+"/"+o.name, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Sample(logits, mask, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		for _, count := range []int{5, 50, 400, fewTokens, 2 * fewTokens} {
			var some set
			for i := range count {
				some.extra = append(some.extra, int32((i*7919+1)%n))
			}
			s, err := New(Options{Temperature: 0.8, TopP: 0.95}, n)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("few-%d/%s/top-p", count, sizes[n]), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Sample(logits, some, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		m := NewMeasurer(n)
		b.Run("measure/"+sizes[n], func(b *testing.B) {
			for b.Loop() {
				m.Measure(logits, mask, 5)
			}
		})
	}
}
