package signals

import (
	"encoding/json"
	"math"
	"slices"
)

// Signals are a model's report about its own answer.
type Signals struct {
	Confidence *float64           `json:"confidence,omitempty"` // probability that the answer is right, 0 to 1; nil: not given
	Difficulty Difficulty         `json:"difficulty,omitempty"`
	Escalation Escalation         `json:"escalation,omitempty"`
	Reason     string             `json:"reason,omitempty"` // short reason for the escalation
	Tools      map[string]float64 `json:"tools,omitempty"`  // by tool name: probability that the call is right
}

// Difficulty is how hard a model found a task; empty if not given.
type Difficulty string

// The difficulties, from the least.
const (
	Trivial  Difficulty = "trivial"
	Easy     Difficulty = "easy"
	Moderate Difficulty = "moderate"
	Hard     Difficulty = "hard"
	Expert   Difficulty = "expert"
)

// Difficulties lists them, from the least.
func Difficulties() []Difficulty { return []Difficulty{Trivial, Easy, Moderate, Hard, Expert} }

// Escalation is what a model requests for its answer; empty if not given.
type Escalation string

// The escalations, from the least.
const (
	NoEscalation  Escalation = "none"           // the answer can be used
	Verify        Escalation = "verify"         // the answer should be checked
	StrongerModel Escalation = "stronger_model" // a stronger model should answer
	Human         Escalation = "human"          // a human should answer
)

// Escalations lists them, from the least.
func Escalations() []Escalation {
	return []Escalation{NoEscalation, Verify, StrongerModel, Human}
}

// Source is where signals were found.
type Source string

// The sources.
const (
	FromConstrained Source = "constrained" // a document that was constrained to fit [Schema]
	FromBlock       Source = "block"
	FromObject      Source = "object"
	FromKeywords    Source = "keywords"
	FromDefaults    Source = "defaults" // nothing was said
)

// DefaultConfidence is the confidence in an answer for which there are neither signals
// nor measurements.
const DefaultConfidence = 0.5

// Default returns the signals assumed if a model gives none. They are not evidence and
// must not be passed to [Aggregate] as Inputs.Own.
func Default() Signals {
	c := DefaultConfidence
	return Signals{Confidence: &c, Difficulty: Moderate, Escalation: NoEscalation}
}

// clamped returns the signals with all numbers clamped to 0 to 1, without unknown
// words, and with the reason cut to longestReason.
func (s Signals) clamped() Signals {
	if s.Confidence != nil {
		c := clamp(*s.Confidence)
		s.Confidence = &c
	}
	if !slices.Contains(Difficulties(), s.Difficulty) {
		s.Difficulty = ""
	}
	if !slices.Contains(Escalations(), s.Escalation) {
		s.Escalation = ""
	}
	if r := []rune(s.Reason); len(r) > longestReason {
		s.Reason = string(r[:longestReason]) + "…"
	}
	var tools map[string]float64
	for name, c := range s.Tools {
		if tools == nil {
			tools = map[string]float64{}
		}
		tools[name] = clamp(c)
	}
	s.Tools = tools
	return s
}

// clamp clamps p to 0 to 1; NaN becomes 0.
func clamp(p float64) float64 {
	if math.IsNaN(p) {
		return 0
	}
	return max(0, min(1, p))
}

// Maximum lengths of reasons in characters: maxReason in the schema, longestReason for
// reasons that no mask limited.
const (
	maxReason     = 120
	longestReason = 400
)

// Schema returns the JSON Schema of signals, with a confidence for each of the tools.
// Numbers have at most two decimals: more would be noise and cost tokens. In compact
// form, its documents contain no line break.
func Schema(tools []string) json.RawMessage {
	type m = map[string]any
	share := m{"type": "number", "minimum": 0, "maximum": 1, "multipleOf": 0.01}
	properties := []member{
		{"confidence", share},
		{"difficulty", m{"enum": Difficulties()}},
		{"escalation", m{"enum": Escalations()}},
	}
	required := []string{"confidence", "difficulty", "escalation"}
	if len(tools) > 0 {
		var each []member
		for _, name := range tools {
			each = append(each, member{name, share})
		}
		properties = append(properties, member{"tools", m{
			"type": "object", "properties": ordered(each), "required": tools, "additionalProperties": false,
		}})
		required = append(required, "tools")
	}
	properties = append(properties, member{"reason", m{"type": "string", "maxLength": maxReason}})
	out, err := json.Marshal(m{"type": "object", "properties": ordered(properties), "required": required, "additionalProperties": false})
	if err != nil {
		panic(err) // none of these values can fail
	}
	return out
}

// Plain returns a JSON Schema of signals without keywords that other engines are known
// not to enforce. Since this excludes a maximum length, it has no reason.
func Plain() json.RawMessage {
	type m = map[string]any
	names := []string{"confidence", "difficulty", "escalation"}
	out, err := json.Marshal(m{"type": "object", "properties": ordered{
		{names[0], m{"type": "number"}}, {names[1], m{"type": "string", "enum": Difficulties()}},
		{names[2], m{"type": "string", "enum": Escalations()}},
	}, "required": names, "additionalProperties": false})
	if err != nil {
		panic(err) // none of these values can fail
	}
	return out
}

// ordered is a JSON object whose members keep their order, the order in which the model
// writes them.
type ordered []member

type member struct {
	name  string
	value any
}

func (o ordered) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}
