package sampling

import (
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// drawnWith draws n times, each time with another seed, and returns how often each
// token was drawn.
func drawnWith(t *testing.T, o Options, logits []float32, allowed Set, n int, prompt ...int32) map[int32]int {
	t.Helper()
	out := map[int32]int{}
	for seed := range n {
		o.Seed = uint64(seed)
		s, err := New(o, len(logits))
		if err != nil {
			t.Fatal(err)
		}
		s.Prompt(prompt)
		token, err := s.Sample(logits, allowed, nil)
		if err != nil {
			t.Fatal(err)
		}
		out[token]++
	}
	return out
}

func tokensOf(m map[int32]int) (out []int32) {
	for t := range m {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// TestChainIsTheFastPath compares both paths for options that both support.
func TestChainIsTheFastPath(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		const n = 500
		o := randomOptions(rng, n)
		o.TopK = 1 + rng.IntN(60) // a list, whose order is the same in both
		logits := make([]float32, n)
		for i := range logits {
			logits[i] = float32(3 * rng.NormFloat64())
		}
		plain, err := New(o, n)
		if err != nil {
			t.Fatal(err)
		}
		o.Keep = true
		chained, err := New(o, n)
		if err != nil {
			t.Fatal(err)
		}
		prompt := []int32{1, 2, 3, 2}
		plain.Prompt(prompt)
		chained.Prompt(prompt)
		for range 5 {
			a, errA := plain.Sample(logits, nil, nil)
			b, errB := chained.Sample(logits, nil, nil)
			if errA != nil || errB != nil || a != b {
				t.Fatalf("%+v: %d %v, %d %v", o, a, errA, b, errB)
			}
			plain.Accept(a)
			chained.Accept(b)
		}
	}
}

func TestChainSteps(t *testing.T) {
	logits := []float32{5, 4.5, 4, -3, -3, -3, -3, -3}
	hot := Options{Temperature: 1}
	with := func(set func(o *Options)) Options { o := hot; set(&o); return o }
	for name, c := range map[string]struct {
		o    Options
		want []int32
	}{
		"top-n-sigma":     {with(func(o *Options) { o.TopNSigma = 1 }), []int32{0, 1, 2}},
		"xtc":             {with(func(o *Options) { o.XTCProbability, o.XTCThreshold, o.TopK = 1, 0.1, 3 }), []int32{2}},
		"xtc, two likely": {with(func(o *Options) { o.XTCProbability, o.XTCThreshold, o.TopK = 1, 0.25, 3 }), []int32{1, 2}},
		"xtc, off":        {with(func(o *Options) { o.XTCProbability, o.XTCThreshold, o.TopK = 1, 0.51, 2 }), []int32{0, 1}},
		"order":           {with(func(o *Options) { o.Steps, o.Temperature, o.MinP = []Step{Temperature, MinP}, 0.1, 0.5 }), []int32{0}},
		"other order":     {with(func(o *Options) { o.Steps, o.MinP = []Step{MinP, Temperature}, 0.5 }), []int32{0, 1}},
		"no temperature":  {with(func(o *Options) { o.Steps, o.Temperature, o.TopK = []Step{TopK}, 0, 2 }), []int32{0, 1}},
		"not named":       {with(func(o *Options) { o.Steps, o.TopK, o.MinP = []Step{MinP, Temperature}, 1, 0.3 }), []int32{0, 1, 2}},
		"mirostat 2":      {with(func(o *Options) { o.Mirostat, o.MirostatTau, o.MirostatEta = 2, 0.5, 0.1 }), []int32{0}},
		"greedy":          {Options{XTCProbability: 1, TopNSigma: 1}, []int32{0}},
		"allowed":         {with(func(o *Options) { o.TopNSigma = 0.1 }), []int32{0}},
	} {
		if got := tokensOf(drawnWith(t, c.o, logits, nil, 200)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		// No step ever draws a token that is not allowed.
		base := vocab.NewBitset(len(logits))
		base.Set(2)
		base.Set(6)
		for _, token := range tokensOf(drawnWith(t, c.o, logits, fixed{base, nil}, 50)) {
			if token != 2 && token != 6 {
				t.Errorf("%s: %d is not allowed", name, token)
			}
		}
		if got := tokensOf(drawnWith(t, c.o, logits, fixed{nil, []int32{7}}, 5)); !slices.Equal(got, []int32{7}) {
			t.Errorf("%s: %v of one token", name, got)
		}
	}
}

type fixed struct {
	base  vocab.Bitset
	extra []int32
}

func (f fixed) Parts() (vocab.Bitset, []int32) { return f.base, f.extra }

// TestDRY checks which tokens are penalised for continuing a repetition, and by how
// much.
func TestDRY(t *testing.T) {
	o := Options{Temperature: 1, DRYMultiplier: 1, DRYBase: 2, DRYAllowedLength: 2, DRYLastN: -1, Keep: true}
	logits := make([]float32, 10)
	lost := func(o Options, prompt ...int32) float64 {
		s, err := New(o, len(logits))
		if err != nil {
			t.Fatal(err)
		}
		s.Prompt(prompt)
		if _, err := s.Sample(logits, nil, nil); err != nil {
			t.Fatal(err)
		}
		return float64(s.KeptLogprob(9) - s.KeptLogprob(4))
	}
	for _, c := range []struct {
		prompt []int32
		want   float64
	}{
		{[]int32{1, 2, 3, 4, 5, 1, 2, 3}, 2}, // 3 tokens are repeated: 1·2^(3−2)
		{[]int32{2, 3, 4, 5, 2, 3}, 1},
		{[]int32{3, 4, 5, 3}, 0}, // allowed
		{[]int32{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3}, 32},
		{[]int32{}, 0},
	} {
		if got := lost(o, c.prompt...); math.Abs(got-c.want) > 1e-3 {
			t.Errorf("%v: %g, not %g", c.prompt, got, c.want)
		}
	}
	broken := o
	broken.DRYBreakers = TokenSet{2: true}
	if got := lost(broken, 1, 2, 3, 4, 5, 1, 2, 3); got != 0 {
		t.Errorf("over a breaker: %g", got)
	}
	short := o
	short.DRYLastN = 3
	if got := lost(short, 1, 2, 3, 4, 5, 1, 2, 3); got != 0 {
		t.Errorf("out of the window: %g", got)
	}
}

// TestDynamicTemperature checks that draws are more even where the model is unsure.
func TestDynamicTemperature(t *testing.T) {
	o := Options{Temperature: 1, DynatempRange: 0.999, DynatempExponent: 1}
	sure := drawnWith(t, o, []float32{8, 0, 0, 0}, nil, 300)
	unsure := drawnWith(t, o, []float32{0.4, 0, 0, 0}, nil, 300)
	if sure[0] != 300 || unsure[0] > 150 {
		t.Errorf("%v %v", sure, unsure)
	}
}

// TestMirostat checks that the surprise of a text approaches the target.
func TestMirostat(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	logits := make([]float32, 300)
	for i := range logits {
		logits[i] = float32(2 * rng.NormFloat64())
	}
	for _, version := range []int{1, 2} {
		for _, tau := range []float32{2, 5} {
			s, err := New(Options{Temperature: 1, Mirostat: version, MirostatTau: tau, MirostatEta: 0.1, Seed: 5}, len(logits))
			if err != nil {
				t.Fatal(err)
			}
			total := 0.0
			const n = 500
			for i := range 2 * n {
				token, err := s.Sample(logits, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if i >= n {
					total += s.chain.change/0.1 + float64(tau)
				}
				s.Accept(token)
			}
			if got := total / n; math.Abs(got-float64(tau)) > 0.5 {
				t.Errorf("version %d: %g bits, not %g", version, got, tau)
			}
		}
	}
}

// Every option is either drawn in randomOptions and written the plain way in naive_test.go, or has a test of its step here.
func TestEveryOptionTried(t *testing.T) {
	source := func(name string) string {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	plain, drawn, steps := source("naive_test.go"), source("sampler_test.go"), source("chain_test.go")
	for i := range reflect.TypeFor[Options]().NumField() {
		name := reflect.TypeFor[Options]().Field(i).Name
		if name == "Seed" {
			continue // the plain sampler is given its random numbers
		}
		set := regexp.MustCompile(`\bo\.` + name + `\b`)
		given := regexp.MustCompile(`\.` + name + `\b|\b` + name + `:`)
		read := regexp.MustCompile(`\bopt\.` + name + `\b`)
		if !(set.MatchString(drawn) && read.MatchString(plain)) && !given.MatchString(steps) {
			t.Errorf("no test sets %s and says what comes of it", name)
		}
	}
}

// TestOverflow checks that options with which logits overflow still draw a token.
func TestOverflow(t *testing.T) {
	for _, o := range []Options{
		{Temperature: 0.8, XTCProbability: 1, RepeatPenalty: 1e-38},
		{Temperature: 0.8, RepeatPenalty: 1e-45, TopNSigma: 1e6},
		{Temperature: 0.8, RepeatPenalty: 1e-45, TypicalP: 0.5, MinP: 0.9, TopP: 0.1},
		{Temperature: 0.8, RepeatPenalty: 100, XTCProbability: 1, TopNSigma: 1e-45},
		{Temperature: 0.8, PresencePenalty: 100, FrequencyPenalty: 100, XTCProbability: 1, Mirostat: 2, MirostatTau: 1e-6, MirostatEta: 1},
		{Temperature: 1e-38, DynatempRange: 1e-38, RepeatPenalty: 1e-38, XTCProbability: 1},
	} {
		o.XTCThreshold, o.RepeatLastN = 0.1, 64
		s, err := New(o, 4)
		if err != nil {
			t.Fatal(err)
		}
		logits := []float32{30, -20, 10, 0}
		for range 20 {
			token, err := s.Sample(logits, nil, nil)
			if err != nil || token < 0 || token > 3 {
				t.Fatalf("%+v: token %d, %v", o, token, err)
			}
			s.Accept(token)
		}
	}
}
