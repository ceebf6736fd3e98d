package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/stencil-json/stencil/server/wire"
)

// Defaults are the operator's values for fields that requests omit.
type Defaults struct {
	Sampling    map[string]json.RawMessage // sampler options, by their names in SamplingFields
	Variables   map[string]any             // of chat templates
	Thoughts    string                     // reasoning: "on", "off", or "" for the model's default
	ThinkTokens int                        // reasoning budget; 0: no limit
	ThinkOver   string                     // the text that ends reasoning over its budget
	ToolLeast   *float32                   // as in Request; nil: no bound
	CallLeast   *float32                   // as in Request
}

// Fill sets the fields that the request omits. It may be called again.
func (q *Request) Fill(d *Defaults) error {
	o := &wire.Object{Members: map[string]json.RawMessage{}}
	for name, value := range d.Sampling {
		if !slices.Contains(q.given, name) {
			o.Members[name] = value
		}
	}
	if len(o.Members) > 0 {
		seeded, given := q.Seeded, q.given
		if err := q.ReadSampling(o, q.Sampling); err != nil {
			return err
		}
		q.Seeded, q.given = q.Seeded || seeded, given
	}
	if q.MinTokens > 0 && q.Constraint.Kind != "" {
		q.Warnings = append(q.Warnings, "the least number of tokens was ignored: constrained text ends where its constraint has it")
		q.MinTokens = 0
	}
	for name, value := range d.Variables {
		q.Variable(name, value)
	}
	if q.ThinkOver == "" {
		q.ThinkOver = d.ThinkOver
	}
	if q.ToolLeast == nil {
		q.ToolLeast = d.ToolLeast
	}
	if q.CallLeast == nil {
		q.CallLeast = d.CallLeast
	}
	if q.Reasoning || q.NoThoughts {
		return nil
	}
	if _, said := q.Variables["enable_thinking"]; !said && d.Thoughts != "" {
		q.Variable("enable_thinking", d.Thoughts == "on")
		q.NoThoughts = d.Thoughts == "off"
	}
	if q.ThinkTokens == 0 && !q.NoThoughts {
		q.ThinkTokens = d.ThinkTokens
	}
	return nil
}

// MaxThinkOver is the largest Defaults.ThinkOver, in bytes.
const MaxThinkOver = 1000

// Over returns these defaults laid over those of a model's file (backend.Info.Sampling); the operator's take
// precedence. Options of the file that are out of range are dropped.
func (d *Defaults) Over(file map[string]any) *Defaults {
	if len(file) == 0 {
		return d
	}
	out := *d
	out.Sampling = maps.Clone(d.Sampling)
	if out.Sampling == nil {
		out.Sampling = map[string]json.RawMessage{}
	}
	for name, value := range file {
		if _, said := out.Sampling[name]; said {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil {
			continue
		}
		if one := (&Defaults{Sampling: map[string]json.RawMessage{name: raw}}); one.Check() == nil {
			out.Sampling[name] = raw
		}
	}
	return &out
}

// Check returns an error if a sampler option is out of range.
func (d *Defaults) Check() error {
	if len(d.ThinkOver) > MaxThinkOver {
		return fmt.Errorf("the message after a budget of reasoning has %d bytes, at most %d are possible", len(d.ThinkOver), MaxThinkOver)
	}
	if d.ToolLeast != nil && !probability(*d.ToolLeast) {
		return fmt.Errorf("the probability with which tools are called must be between 0 and 1, not %g", *d.ToolLeast)
	}
	if d.CallLeast != nil && !probability(*d.CallLeast) {
		return fmt.Errorf("the confidence that calls need must be between 0 and 1, not %g", *d.CallLeast)
	}
	q := New()
	q.Sampling = LlamaSampling
	if err := q.Fill(d); err != nil {
		return err
	}
	return q.Sampling.Validate(math.MaxInt32) // any token may be biased: which there are is known with the model
}
