package wire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Names lists the top-level fields of a dialect by how they are handled. A field in none of the lists is ignored with a
// warning.
type Names struct {
	Known      []string // read by the dialect
	Constraint []string // read by the dialect; a near miss of one is an error
	Harmless   []string // in the dialect's specification, without effect on the text: ignored silently
	Hints      []string // wishes that have no effect here: ignored with a warning
	Refused    []string // not supported, and would change the text
}

// Check returns warnings for unknown fields and an error for refused ones.
func (n *Names) Check(o *Object) (warnings []string, err error) {
	unknown := 0
	for _, name := range o.Names {
		switch {
		case slices.Contains(n.Known, name), slices.Contains(n.Constraint, name), slices.Contains(n.Harmless, name):
		case slices.Contains(n.Hints, name):
			if o.Given(name) && !Off(name, o.Members[name]) {
				warnings = append(warnings, fmt.Sprintf("%s was ignored: it has no effect here", o.Path+name))
			}
		case slices.Contains(n.Refused, name):
			if o.Given(name) && !Off(name, o.Members[name]) {
				return nil, NotOffered(o.Path+name, o.Path+name)
			}
		case o.Given(name) && !Off(name, o.Members[name]) && slices.Contains(elsewhere, name):
			return nil, NotOffered(o.Path+name, o.Path+name+", which is a field of other paths and dialects,")
		default:
			if near := Nearest(name, n.Constraint); near != "" {
				return nil, UnknownField(o.Path+name, near)
			}
			if unknown++; unknown > maxUnknown {
				continue
			}
			w := fmt.Sprintf("the field %s is not known and was ignored", Shortened(name, 256))
			if near := Nearest(name, n.Known); near != "" {
				w += fmt.Sprintf("; was %s meant?", near)
			}
			warnings = append(warnings, w)
		}
	}
	if more := unknown - maxUnknown; more > 0 {
		warnings = append(warnings, fmt.Sprintf("%d more fields are not known and were ignored", more))
	}
	return warnings, nil
}

// maxUnknown is the number of unknown fields that are named.
const maxUnknown = 32

// elsewhere lists fields of other paths or dialects that constrain or change the text. A dialect that doesn't know one
// refuses it, since its client relies on it.
var elsewhere = []string{
	"schema", "typescript", "grammar", "regex", "choice", "builtin", "json_mode", "strict", "repair", "constrained_decoding", "property_order", "whitespace", "on_unsupported",
	"response_format", "json_schema", "ebnf", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structural_tag",
	"format", "text", "output_config", "output_format", "parameters", "sampling_params", "options",
	"think", "thinking", "reasoning_effort", "enable_thinking", "thinking_budget", "tools", "tool_choice", "functions", "function_call",
	"system", "instructions", "stop", "stop_sequences", "num_ctx", "num_predict", "n_predict", "max_new_tokens", "max_output_tokens", "max_completion_tokens",
	"context_management", "thread", "compaction", "conversation", "previous_response_id",
	"skip_special_tokens", "min_tokens",
	"samplers", "top_n_sigma", "xtc_probability", "dynatemp_range", "mirostat", "dry_multiplier", "ignore_eos", "adaptive_target", "lora", "grammar_lazy", "min_keep",
	"reasoning_budget_tokens", "thinking_budget_tokens", "t_max_predict_ms", "n_indent",
}

// offValues are values of particular fields that have no effect.
var offValues = map[string]string{
	"verbosity": `"medium"`, "best_of": "1", "function_call": `"none"`, "tool_choice": `"none"`, "length_penalty": "1", "tfs_z": "1",
	"reasoning_effort": `"none"`, "skip_special_tokens": "true", "spaces_between_special_tokens": "true", "truncation": `"disabled"`,
	"mirostat": "0", "dry_multiplier": "0", "xtc_probability": "0", "min_tokens": "0", "n_probs": "0", "dynatemp_range": "0", "top_n_sigma": "-1", "adaptive_target": "-1", "min_keep": "0", "n_indent": "0", "t_max_predict_ms": "0", "reasoning_budget_tokens": "-1", "thinking_budget_tokens": "-1",
}

// Off is OffValue for a field of the given name.
func Off(name string, raw []byte) bool {
	var object struct {
		Type    string
		Enabled *bool
	}
	if json.Unmarshal(raw, &object) == nil && (object.Type == "disabled" || object.Enabled != nil && !*object.Enabled) {
		return true
	}
	var x float64
	if name == "adaptive_target" && json.Unmarshal(raw, &x) == nil && x < 0 { // SillyTavern's slider ends at -0.01
		return true
	}
	off, ok := offValues[name]
	if !ok || off != "true" && OffValue(raw) {
		return OffValue(raw)
	}
	var is, nothing any
	return json.Unmarshal(raw, &is) == nil && json.Unmarshal([]byte(off), &nothing) == nil && is == nothing
}

// OffValue reports whether the value of an unsupported field has no effect, as sent by clients that write out every
// default.
func OffValue(raw []byte) bool {
	switch string(raw) {
	case "false", `""`, "[]":
		return true
	}
	return false
}

// Only returns an error for the first member that is not among known. It is for objects within a constraint, a tool or
// a message.
func (o *Object) Only(known ...string) error {
	for _, name := range o.Names {
		if !slices.Contains(known, name) {
			return UnknownField(o.Path+name, Nearest(name, known))
		}
	}
	return nil
}

// Child reads a member that must be an object. It returns nil if the member is not given.
func (o *Object) Child(name string) (*Object, error) {
	if !o.Given(name) {
		return nil, nil
	}
	return ParseObject(o.Members[name], o.Path+name+".")
}

// Raws decodes a member that must be an array.
func (o *Object) Raws(name string) (list []json.RawMessage, err error) {
	err = o.Decode(name, &list, "an array")
	return list, err
}

// List reads a member that must be an array of objects. It returns nil if the member is not given.
func (o *Object) List(name string) ([]*Object, error) {
	if !o.Given(name) {
		return nil, nil
	}
	raws, err := o.Raws(name)
	if err != nil {
		return nil, err
	}
	out := make([]*Object, 0, len(raws))
	for i, raw := range raws {
		one, err := ParseObject(raw, fmt.Sprintf("%s%s[%d].", o.Path, name, i))
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// NotOffered returns the error for a field, or a value, that is not supported and can't be ignored.
func NotOffered(param, what string) *Error {
	return &Error{Param: param, Code: "not_offered", Message: fmt.Sprintf("%s is not offered here, and ignoring it would change the text", what)}
}

// UnknownField returns the error for an unknown field; near is the name that may have been meant, "" if none.
func UnknownField(name, near string) *Error {
	e := &Error{Param: name, Code: "unknown_field", Message: fmt.Sprintf("the field %s is not known", name)}
	if near != "" {
		e.Message += fmt.Sprintf("; was %s meant?", near)
	}
	return e
}

// HarmlessFields are fields in some client's specification that don't change the text.
var HarmlessFields = []string{
	"user", "metadata", "store", "service_tier", "cache_control", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
	"prompt_cache_options", "prediction", "request_id", "rid", "priority",
}
