package signals

import (
	"fmt"
	"math"
	"strings"
)

// Weights are the weights of the components in the composite confidence. Those of the
// available components are normalised to a sum of 1.
type Weights struct {
	Own         float64 `json:"own"`
	Population  float64 `json:"population"`
	Calibration float64 `json:"calibration"`
	Surprise    float64 `json:"surprise"`
}

// DefaultWeights returns the default weights.
func DefaultWeights() Weights {
	return Weights{Own: 0.30, Population: 0.30, Calibration: 0.25, Surprise: 0.15}
}

// Check validates weights: none may be negative or NaN, and at least one must be
// positive.
func (w Weights) Check() error {
	total := 0.0
	for _, one := range []struct {
		name   string
		weight float64
	}{{"own", w.Own}, {"population", w.Population}, {"calibration", w.Calibration}, {"surprise", w.Surprise}} {
		if !(one.weight >= 0) || math.IsInf(one.weight, 0) {
			return fmt.Errorf("signals: the weight %s must be a number that is not negative, not %g", one.name, one.weight)
		}
		total += one.weight
	}
	if total == 0 || math.IsInf(total, 0) {
		return fmt.Errorf("signals: the weights must add up to more than 0, not to %g", total)
	}
	return nil
}

// Inputs are the signals and measurements of an answer. A nil field is unknown.
type Inputs struct {
	Own         *Signals // the signals that the model gave, not those of Default
	Called      []string // the tools that the answer calls
	Surprise    *float64 // as Surprise returns it
	Calibration *float64 // 1 - the expected calibration error of the model so far
	Agreement   *float64 // among samples, as Agreement returns it
}

// An Assessment is the composite confidence in an answer, and a recommendation.
type Assessment struct {
	Confidence     float64        `json:"confidence"`          // the composite
	Agreement      *float64       `json:"agreement,omitempty"` // among samples
	Surprise       *float64       `json:"surprise,omitempty"`
	Urgency        float64        `json:"urgency"` // of an escalation, 0 to 1; see Aggregate
	Recommendation Recommendation `json:"recommendation"`
	Reason         string         `json:"reason"`
	Components     []Component    `json:"components"` // the available ones
}

// A Component is one term of the weighted mean that is the composite confidence.
type Component struct {
	Name   string  `json:"name"`   // own, population, calibration, surprise
	Value  float64 `json:"value"`  // higher is better; for surprise, 1 - surprise
	Weight float64 `json:"weight"` // normalised to a sum of 1
}

// Adjustment of a model's own confidence: it is multiplied by the factors of the
// difficulty and of the escalation that the model gave. Models are known to be
// overconfident above all on hard tasks, for which the factors compensate a little.
// They are a choice, not a measurement.
var (
	difficultyFactors = map[Difficulty]float64{"": 1, Trivial: 1, Easy: 1, Moderate: 0.95, Hard: 0.85, Expert: 0.75}
	escalationFactors = map[Escalation]float64{"": 1, NoEscalation: 1, Verify: 0.9, StrongerModel: 0.75, Human: 0.6}
	// escalationUrgency is the minimum urgency of an escalation that the model
	// requests.
	escalationUrgency = map[Escalation]float64{Verify: 0.4, StrongerModel: 0.7, Human: 0.9}
)

// Adjusted returns the adjusted confidence of a model: its confidence times the factors
// of its difficulty and escalation; if it called tools, at most the lowest confidence
// that it gave for one of them. It is nil if the model gave neither.
func (s Signals) Adjusted(called []string) *float64 {
	s = s.clamped()
	var out *float64
	if s.Confidence != nil {
		c := *s.Confidence * difficultyFactors[s.Difficulty] * escalationFactors[s.Escalation]
		out = &c
	}
	for _, name := range called {
		if c, ok := s.Tools[name]; ok && (out == nil || c < *out) {
			out = &c
		}
	}
	return out
}

// Surprise returns 1 - the geometric mean probability of the sampled tokens, given their
// log probabilities. It is nil if there are none.
func Surprise(logprobs []float64) *float64 {
	if len(logprobs) == 0 {
		return nil
	}
	const least = -9999 // stands for a log probability of -∞
	sum := 0.0
	for _, p := range logprobs {
		if math.IsNaN(p) {
			p = least
		}
		sum += max(least, min(0, p))
	}
	s := clamp(1 - math.Exp(sum/float64(len(logprobs))))
	return &s
}

// Aggregate returns the assessment of an answer. The weights must pass [Weights.Check].
//
// The composite confidence is the weighted mean of the available components: the
// model's own adjusted confidence, the agreement of samples, the model's calibration,
// and 1 - surprise. Without any it is [DefaultConfidence]. The urgency of an
// escalation is 1 - the composite, but at least 0.4, 0.7 or 0.9 if the model asks for
// verification, a stronger model or a human. The first of [Rules] that applies gives
// the recommendation.
func Aggregate(in Inputs, w Weights) Assessment {
	out := Assessment{Confidence: DefaultConfidence, Components: []Component{}}
	var own *float64
	var said Signals
	if in.Own != nil {
		said = in.Own.clamped()
		own = said.Adjusted(in.Called)
	}
	var calm *float64
	if in.Surprise != nil {
		s := clamp(*in.Surprise)
		rest := 1 - s
		out.Surprise, calm = &s, &rest
	}
	if in.Agreement != nil {
		a := clamp(*in.Agreement)
		out.Agreement = &a
	}
	total, sum := 0.0, 0.0
	add := func(name string, value *float64, weight float64) {
		if value == nil || weight == 0 {
			return
		}
		out.Components = append(out.Components, Component{name, clamp(*value), weight})
		total += weight
	}
	add("own", own, w.Own)
	add("population", out.Agreement, w.Population)
	add("calibration", in.Calibration, w.Calibration)
	add("surprise", calm, w.Surprise)
	if total > 0 {
		least, most := 1.0, 0.0
		for i := range out.Components {
			c := &out.Components[i]
			c.Weight /= total
			sum += c.Value * c.Weight
			least, most = min(least, c.Value), max(most, c.Value)
		}
		out.Confidence = max(least, min(most, math.Round(sum*1e4)/1e4)) // the rules apply to the rounded value, which is the one shown
	}
	out.Urgency = max(1-out.Confidence, escalationUrgency[said.Escalation])
	f := facts{
		composite: out.Confidence, agreement: out.Agreement, surprise: out.Surprise, difficulty: said.Difficulty, escalation: said.Escalation,
		evidence: own != nil || out.Agreement != nil || out.Surprise != nil,
	}
	rule := f.decide()
	out.Recommendation = rule.Recommendation
	out.Reason = f.reason(rule, said.Reason, out.Components)
	return out
}

// reason returns the explanation of a recommendation, with the numbers.
func (f *facts) reason(r *Rule, said string, components []Component) string {
	var b strings.Builder
	b.WriteString(f.words(r))
	if said = strings.TrimSpace(said); said != "" && r.Escalation != "" {
		fmt.Fprintf(&b, " (%q)", said)
	}
	for i, c := range components {
		if i == 0 {
			fmt.Fprintf(&b, "; composite confidence %.2f from", f.composite)
		} else {
			b.WriteByte(',')
		}
		name := c.Name
		if name == "surprise" {
			name = "1 - surprise"
		}
		fmt.Fprintf(&b, " %s %.2f (weight %.2f)", name, c.Value, c.Weight)
	}
	return b.String()
}
