package signals

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestAdjusted(t *testing.T) {
	for _, c := range []struct {
		s      Signals
		called []string
		want   *float64
	}{
		{Signals{}, nil, nil},
		{Signals{Confidence: number(0.8)}, nil, number(0.8)},
		{Signals{Confidence: number(1.8)}, nil, number(1)},
		{Signals{Confidence: number(-1)}, nil, number(0)},
		{Signals{Confidence: number(math.NaN())}, nil, number(0)},
		{Signals{Confidence: number(0.8), Difficulty: Easy, Escalation: NoEscalation}, nil, number(0.8)},
		{Signals{Confidence: number(0.8), Difficulty: Hard}, nil, number(0.8 * 0.85)},
		{Signals{Confidence: number(0.8), Difficulty: Expert, Escalation: Human}, nil, number(0.8 * 0.75 * 0.6)},
		{Signals{Confidence: number(0.8), Escalation: "police", Difficulty: "fiendish"}, nil, number(0.8)},
		{Signals{Confidence: number(0.8), Tools: map[string]float64{"a": 0.3, "b": 0.9}}, nil, number(0.8)},
		{Signals{Confidence: number(0.8), Tools: map[string]float64{"a": 0.3, "b": 0.9}}, []string{"b", "c"}, number(0.8)},
		{Signals{Confidence: number(0.8), Tools: map[string]float64{"a": 0.3, "b": 0.9}}, []string{"b", "a"}, number(0.3)},
		{Signals{Tools: map[string]float64{"a": 0.3}}, []string{"a"}, number(0.3)},
	} {
		got := c.s.Adjusted(c.called)
		if (got == nil) != (c.want == nil) || got != nil && !near(*got, *c.want) {
			t.Errorf("%s, called %v: %v, want %v", shown(c.s), c.called, got, c.want)
		}
	}
	for _, d := range append(Difficulties(), "") {
		for _, e := range append(Escalations(), "") {
			if f := difficultyFactors[d] * escalationFactors[e]; !(f > 0 && f <= 1) {
				t.Errorf("%s and %s: factor %g", d, e, f)
			}
		}
	}
}

func TestSurprise(t *testing.T) {
	for _, c := range []struct {
		logprobs []float64
		want     float64
	}{
		{[]float64{0, 0}, 0},
		{[]float64{math.Log(0.5), math.Log(0.5)}, 0.5},
		{[]float64{math.Log(0.25), 0}, 0.5},
		{[]float64{math.Inf(-1)}, 1},
		{[]float64{math.NaN()}, 1},
		{[]float64{0.1}, 0},
	} {
		if got := Surprise(c.logprobs); got == nil || !near(*got, c.want) {
			t.Errorf("%v: %v, want %g", c.logprobs, got, c.want)
		}
	}
	if got := Surprise(nil); got != nil {
		t.Errorf("without tokens: %g", *got)
	}
}

// TestRenormalisation checks that the composite is the weighted mean of the
// available components.
func TestRenormalisation(t *testing.T) {
	values := []float64{0.9, 0.4, 0.7, 0.2} // own, population, calibration, 1 - surprise
	weights := []float64{0.30, 0.30, 0.25, 0.15}
	for subset := range 16 {
		var in Inputs
		sum, total := 0.0, 0.0
		for i := range 4 {
			if subset>>i&1 == 0 {
				continue
			}
			sum += values[i] * weights[i]
			total += weights[i]
			switch i {
			case 0:
				in.Own = &Signals{Confidence: number(0.9)}
			case 1:
				in.Agreement = number(0.4)
			case 2:
				in.Calibration = number(0.7)
			case 3:
				in.Surprise = number(0.8)
			}
		}
		want := DefaultConfidence
		if total > 0 {
			want = sum / total
		}
		a := Aggregate(in, DefaultWeights())
		if math.Abs(a.Confidence-want) > 1e-4 {
			t.Errorf("subset %04b: %g, want %g", subset, a.Confidence, want)
		}
		used := 0.0
		for _, c := range a.Components {
			i := slices.Index([]string{"own", "population", "calibration", "surprise"}, c.Name)
			if i < 0 || subset>>i&1 == 0 || !near(c.Value, values[i]) || !near(c.Weight, weights[i]/total) {
				t.Errorf("subset %04b: component %+v", subset, c)
			}
			used += c.Weight
		}
		if len(a.Components) > 0 && !near(used, 1) {
			t.Errorf("subset %04b: the weights add up to %g", subset, used)
		}
		if (a.Agreement != nil) != (subset>>1&1 == 1) || (a.Surprise != nil) != (subset>>3&1 == 1) {
			t.Errorf("subset %04b: %+v", subset, a)
		}
	}
	if sum := DefaultWeights(); !near(sum.Own+sum.Population+sum.Calibration+sum.Surprise, 1) {
		t.Errorf("default weights %+v", sum)
	}
	// A component with weight 0 does not count, even if it is the only one.
	a := Aggregate(Inputs{Own: &Signals{Confidence: number(0.9)}}, Weights{Surprise: 1})
	if a.Confidence != DefaultConfidence || len(a.Components) != 0 {
		t.Errorf("%+v", a)
	}
	a = Aggregate(Inputs{Own: &Signals{Confidence: number(1)}, Agreement: number(0)}, Weights{Own: 3, Population: 1})
	if a.Confidence != 0.75 {
		t.Errorf("weights of 3 and 1: %g", a.Confidence)
	}
}

func TestWeights(t *testing.T) {
	for _, w := range []Weights{{Own: -1, Surprise: 2}, {}, {Own: math.NaN()}, {Calibration: math.Inf(1)}, {Own: math.MaxFloat64, Surprise: math.MaxFloat64}} {
		if err := w.Check(); err == nil || !strings.HasPrefix(err.Error(), "signals: ") {
			t.Errorf("%+v: %v", w, err)
		}
	}
	for _, w := range []Weights{DefaultWeights(), {Own: 1}, {Surprise: 1e-9}, {1, 2, 3, 4}} {
		if err := w.Check(); err != nil {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

func TestUrgency(t *testing.T) {
	for e, floor := range map[Escalation]float64{"": 0, NoEscalation: 0, Verify: 0.4, StrongerModel: 0.7, Human: 0.9} {
		a := Aggregate(Inputs{Own: &Signals{Confidence: number(1), Escalation: e}, Agreement: number(1), Surprise: number(0)}, DefaultWeights())
		if want := max(floor, 1-a.Confidence); !near(a.Urgency, want) {
			t.Errorf("%q: urgency %g, want %g", e, a.Urgency, want)
		}
		a = Aggregate(Inputs{Own: &Signals{Confidence: number(0), Escalation: e}}, DefaultWeights())
		if a.Urgency != 1 {
			t.Errorf("%q: urgency %g without any confidence", e, a.Urgency)
		}
	}
}

// ruleCase makes one rule apply, and none before it.
type ruleCase struct {
	recommendation Recommendation
	in             Inputs
	words          []string // expected in the reason
}

func ownly(c float64, d Difficulty, e Escalation) Inputs {
	return Inputs{Own: &Signals{Confidence: &c, Difficulty: d, Escalation: e, Reason: "the law is new"}}
}

func with(in Inputs, agreement, surprise *float64) Inputs {
	in.Agreement, in.Surprise = agreement, surprise
	return in
}

// TestRules checks that every rule applies in some case, in the order of the table.
func TestRules(t *testing.T) {
	cases := []ruleCase{
		{ToHuman, ownly(1, "", Human), []string{"asks for a human", "the law is new", "0.60"}},
		{ToHuman, ownly(0.19, "", ""), []string{"0.19 is below 0.20"}},
		{System2, with(ownly(0.7, "", ""), number(0.39), nil), []string{"agreement of 0.39 is below 0.40", "is below 0.60"}},
		{System2, ownly(0.6, Hard, ""), []string{"calls the task hard", "0.51 is below 0.60"}},
		{RetryStronger, ownly(1, "", StrongerModel), []string{"asks for a stronger model", "the law is new"}},
		{RetryStronger, ownly(0.39, "", ""), []string{"0.39 is below 0.40"}},
		{VerifyOutput, Inputs{Calibration: number(1)}, []string{"nothing was said or measured"}},
		{VerifyOutput, ownly(1, "", Verify), []string{"asks for verification", "the law is new"}},
		{VerifyOutput, ownly(0.59, "", ""), []string{"0.59 is below 0.60"}},
		{VerifyOutput, with(ownly(1, "", ""), number(0.49), nil), []string{"agreement of 0.49 is below 0.50"}},
		{VerifyOutput, with(ownly(1, "", ""), number(1), number(0.71)), []string{"surprise of 0.71 is above 0.70"}},
		{Proceed, ownly(0.84, "", ""), []string{"0.84 is below 0.85"}},
		{ProceedConfident, ownly(0.85, "", ""), []string{"0.85 is at least 0.85", "own 0.85 (weight 1.00)"}},
	}
	if len(cases) != len(Rules) {
		t.Fatalf("%d cases for %d rules", len(cases), len(Rules))
	}
	for i, c := range cases {
		a := Aggregate(c.in, DefaultWeights())
		said := Signals{}
		own := (*float64)(nil)
		if c.in.Own != nil {
			said, own = *c.in.Own, c.in.Own.Adjusted(nil)
		}
		f := facts{a.Confidence, a.Agreement, a.Surprise, said.Difficulty, said.Escalation, own != nil || a.Agreement != nil || a.Surprise != nil}
		if got := slices.IndexFunc(Rules, f.applies); got != i {
			t.Errorf("rule %d: rule %d decides: %+v", i, got, a)
		}
		if a.Recommendation != c.recommendation {
			t.Errorf("rule %d: %s, want %s: %s", i, a.Recommendation, c.recommendation, a.Reason)
		}
		for _, w := range c.words {
			if !strings.Contains(a.Reason, w) {
				t.Errorf("rule %d: %q is not in the reason %q", i, w, a.Reason)
			}
		}
	}
}

// TestBoundaries checks that values equal to a threshold get the lighter
// recommendation.
func TestBoundaries(t *testing.T) {
	for _, c := range []struct {
		in   Inputs
		want Recommendation
	}{
		{ownly(0.1999, "", ""), ToHuman}, {ownly(0.20, "", ""), RetryStronger},
		{ownly(0.3999, "", ""), RetryStronger}, {ownly(0.40, "", ""), VerifyOutput},
		{ownly(0.5999, "", ""), VerifyOutput}, {ownly(0.60, "", ""), Proceed},
		{ownly(0.8499, "", ""), Proceed}, {ownly(0.85, "", ""), ProceedConfident},
		{ownly(0, "", ""), ToHuman}, {ownly(1, "", ""), ProceedConfident},
		{with(ownly(0.5, "", ""), number(0.3999), nil), System2}, {with(ownly(0.5, "", ""), number(0.40), nil), VerifyOutput},
		{with(ownly(1, "", ""), number(0.4999), nil), VerifyOutput}, {with(ownly(1, "", ""), number(0.50), nil), Proceed},
		{with(ownly(1, "", ""), number(1), number(0.7001)), VerifyOutput}, {with(ownly(1, "", ""), number(1), number(0.70)), ProceedConfident},
		{ownly(0.59/0.85, Hard, ""), System2}, {ownly(0.60/0.85, Hard, ""), Proceed},
		{ownly(0.59/0.75, Expert, ""), System2}, {ownly(0.59/0.95, Moderate, ""), VerifyOutput},
		{Inputs{}, VerifyOutput}, {Inputs{Calibration: number(1)}, VerifyOutput}, {Inputs{Own: &Signals{Difficulty: Easy}}, VerifyOutput},
	} {
		if a := Aggregate(c.in, DefaultWeights()); a.Recommendation != c.want {
			t.Errorf("%s: %s, want %s: %s", shown(*ownOf(c.in)), a.Recommendation, c.want, a.Reason)
		}
	}
}

func ownOf(in Inputs) *Signals {
	if in.Own != nil {
		return in.Own
	}
	return new(Signals)
}

// TestRulesOrder checks that rules are ordered by severity, so that a higher
// composite alone never leads to a more severe recommendation, and that every
// recommendation occurs.
func TestRulesOrder(t *testing.T) {
	last := len(Recommendations())
	seen := map[Recommendation]bool{}
	for i, r := range Rules {
		at := slices.Index(Recommendations(), r.Recommendation)
		if at < 0 || at > last {
			t.Errorf("rule %d, %s, comes after a lighter one", i, r.Recommendation)
		}
		last = at
		seen[r.Recommendation] = true
	}
	if len(seen) != len(Recommendations()) {
		t.Errorf("only %v are recommended", seen)
	}
	if last := Rules[len(Rules)-1]; last != (Rule{Recommendation: ProceedConfident}) {
		t.Errorf("the last rule has conditions: %+v", last)
	}
}

// TestProperties checks, for random inputs, that the composite is between the least
// and the greatest component and grows with each of them, and that the
// recommendation then gets no more severe.
func TestProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	maybe := func() *float64 {
		if r.IntN(3) == 0 {
			return nil
		}
		return number(r.Float64())
	}
	for range 20000 {
		w := Weights{r.Float64(), r.Float64(), r.Float64(), r.Float64()}
		in := Inputs{Surprise: maybe(), Calibration: maybe(), Agreement: maybe()}
		if c := maybe(); c != nil {
			in.Own = &Signals{Confidence: c, Difficulty: append(Difficulties(), "")[r.IntN(6)], Escalation: append(Escalations(), "")[r.IntN(5)]}
		}
		a := Aggregate(in, w)
		least, most := 1.0, 0.0
		for _, c := range a.Components {
			least, most = min(least, c.Value), max(most, c.Value)
		}
		if len(a.Components) > 0 && (a.Confidence < least || a.Confidence > most) {
			t.Fatalf("%g is not between %g and %g", a.Confidence, least, most)
		}
		if !(a.Urgency >= 0 && a.Urgency <= 1) || a.Reason == "" || !slices.Contains(Recommendations(), a.Recommendation) {
			t.Fatalf("%+v", a)
		}
		better := in
		switch r.IntN(4) {
		case 0:
			if in.Own != nil {
				own := *in.Own
				own.Confidence = number(*own.Confidence + (1-*own.Confidence)*r.Float64())
				better.Own = &own
			}
		case 1:
			if in.Agreement != nil {
				better.Agreement = number(*in.Agreement + (1-*in.Agreement)*r.Float64())
			}
		case 2:
			if in.Calibration != nil {
				better.Calibration = number(*in.Calibration + (1-*in.Calibration)*r.Float64())
			}
		case 3:
			if in.Surprise != nil {
				better.Surprise = number(*in.Surprise * r.Float64())
			}
		}
		b := Aggregate(better, w)
		grave := func(x Assessment) int { return slices.Index(Recommendations(), x.Recommendation) }
		if b.Confidence < a.Confidence || b.Urgency > a.Urgency || grave(b) > grave(a) {
			t.Fatalf("what is better makes it worse: %+v, then %+v", a, b)
		}
	}
}

// TestTable checks that the documentation contains the table of rules.
func TestTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "guides", "signals.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), Table()) {
		t.Errorf("docs/guides/signals.md lacks this table:\n%s", Table())
	}
}

func TestAgreement(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  float64
	}{
		{[]string{"a", "a"}, 1},
		{[]string{" The  answer\nis 42. ", "The answer is 42."}, 1},
		{[]string{"The answer is 42", "the ANSWER is: 42!"}, 1},
		{[]string{"the answer is 42", "the answer is 43"}, 3.0 / 5},
		{[]string{"a b", "c d"}, 0},
		{[]string{"!", "?"}, 0},
		{[]string{"!", "!"}, 1},
		{[]string{"a", "a", "b"}, 1.0 / 3},
		{[]string{`{"a":1,"b":2}`, `{"b": 2, "a": 1.0}`}, 1},
		{[]string{`{"a":1,"b":2}`, `{"a":1,"b":3}`}, 1.0 / 2},
		{[]string{`{"a":1,"b":2}`, `{"a":1}`}, 1.0 / 2},
		{[]string{`{"a":1}`, `{"b":1}`}, 0},
		{[]string{`{"a":{"b":[1,2,3]}}`, `{"a":{"b":[1,2,4]}}`}, 2.0 / 3},
		{[]string{`[1,2]`, `[2,1]`}, 0},
		{[]string{`{"a":[]}`, `{"a":{}}`}, 0},
		{[]string{`{"a":[]}`, `{"a": [ ]}`}, 1},
		{[]string{`{"a":"1"}`, `{"a":1}`}, 0},
		{[]string{`{"a":null}`, `{"a":false}`}, 0},
		{[]string{`{"a":null,"b":true}`, `{"a":null,"b":true }`}, 1},
		{[]string{`9007199254740993`, `9007199254740992`}, 0},
		{[]string{`1e2`, `100`}, 1},
		{[]string{`{"a/b":1,"a":{"b":2}}`, `{"a/b":2,"a":{"b":1}}`}, 0},
		{[]string{`{"a":1}`, "not JSON"}, 0},
		{[]string{`"yes"`, `"no"`}, 0},
		{[]string{"", ""}, 1},
	} {
		got := Agreement(c.texts)
		if got == nil || !near(*got, c.want) {
			t.Errorf("%q: %v, want %g", c.texts, got, c.want)
			continue
		}
		turned := slices.Clone(c.texts)
		slices.Reverse(turned)
		if again := Agreement(turned); !near(*again, *got) {
			t.Errorf("%q: %g the other way round", c.texts, *again)
		}
	}
	for n := range 2 {
		if got := Agreement(make([]string, n)); got != nil {
			t.Errorf("%d texts agree to %g", n, *got)
		}
	}
}

func TestWords(t *testing.T) {
	for i, r := range Rules {
		if r.Words() == "" {
			t.Errorf("rule %d has no words", i)
		}
	}
	if got := fmt.Sprint(Rules[0].Words(), "; ", Rules[2].Words()); got != "the model asks for a human; agreement below 0.40 and composite confidence below 0.60" {
		t.Error(got)
	}
}
