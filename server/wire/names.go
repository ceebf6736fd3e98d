package wire

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Names are the top-level fields that a dialect knows, by what is done about
// them. A field in none of the lists is accepted with a warning.
type Names struct {
	Known      []string // read by the dialect
	Constraint []string // read, and a near miss of one of them is an error
	Harmless   []string // of the dialect's specification, without an effect on the text: accepted without a word
	Refused    []string // would change the text and are not offered
}

// Check applies the rules for fields that are not known.
func (n *Names) Check(o *Object) (warnings []string, err error) {
	for _, name := range o.Names {
		switch {
		case slices.Contains(n.Known, name), slices.Contains(n.Constraint, name), slices.Contains(n.Harmless, name):
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
			w := fmt.Sprintf("the field %s is not known and was ignored", name)
			if near := Nearest(name, n.Known); near != "" {
				w += fmt.Sprintf("; was %s meant?", near)
			}
			warnings = append(warnings, w)
		}
	}
	return warnings, nil
}

// elsewhere are fields of some path or dialect that say what a text must be like. Where one is not known it is refused:
// who sends it relies on it.
var elsewhere = []string{
	"schema", "typescript", "grammar", "regex", "choice", "json_mode", "strict", "repair", "constrained_decoding", "property_order", "whitespace", "on_unsupported",
	"response_format", "json_schema", "ebnf", "structured_outputs", "guided_json", "guided_regex", "guided_choice", "guided_grammar", "structural_tag",
	"format", "text", "output_config", "output_format", "parameters", "sampling_params", "options",
	"think", "thinking", "reasoning_effort", "enable_thinking", "thinking_budget", "tools", "tool_choice", "functions", "function_call",
	"system", "instructions", "stop", "stop_sequences", "num_ctx", "num_predict", "n_predict", "max_new_tokens", "max_output_tokens", "max_completion_tokens",
	"context_management", "thread", "compaction", "conversation", "previous_response_id",
	"skip_special_tokens",
	"samplers", "top_n_sigma", "xtc_probability", "dynatemp_range", "mirostat", "dry_multiplier", "ignore_eos", "adaptive_target", "lora", "grammar_lazy", "min_keep",
	"reasoning_budget_tokens", "thinking_budget_tokens", "t_max_predict_ms", "n_indent",
}

// offValues are values of single fields that ask for nothing.
var offValues = map[string]string{
	"verbosity": `"medium"`, "best_of": "1", "function_call": `"none"`, "tool_choice": `"none"`, "length_penalty": "1", "tfs_z": "1",
	"reasoning_effort": `"none"`, "skip_special_tokens": "true", "spaces_between_special_tokens": "true", "truncation": `"disabled"`,
	"mirostat": "0", "dry_multiplier": "0", "xtc_probability": "0", "min_tokens": "0", "n_probs": "0", "dynatemp_range": "0", "top_n_sigma": "-1", "adaptive_target": "-1", "min_keep": "0", "n_indent": "0", "t_max_predict_ms": "0", "reasoning_budget_tokens": "-1", "thinking_budget_tokens": "-1",
}

// Off is OffValue for a field of that name.
func Off(name string, raw []byte) bool {
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

// OffValue reports whether a value of a field that is not offered asks for
// nothing, as clients that spell out every default send it.
func OffValue(raw []byte) bool {
	switch string(raw) {
	case "false", `""`, "[]":
		return true
	}
	return false
}

// Only refuses every member of an object within a constraint, of a tool or of
// a message that is not listed.
func (o *Object) Only(known ...string) error {
	for _, name := range o.Names {
		if !slices.Contains(known, name) {
			return UnknownField(o.Path+name, Nearest(name, known))
		}
	}
	return nil
}

// Child reads a member that must be an object; nil when it is not given.
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

// List decodes a member that must be an array; nil when it is not given.
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

// NotOffered refuses a field, or one of its values, that can't be ignored.
func NotOffered(param, what string) *Error {
	return &Error{Param: param, Code: "not_offered", Message: fmt.Sprintf("%s is not offered here, and ignoring it would change the text", what)}
}

// UnknownField refuses a field that is not known; near is the name that may have been meant, "" if none.
func UnknownField(name, near string) *Error {
	e := &Error{Param: name, Code: "unknown_field", Message: fmt.Sprintf("the field %s is not known", name)}
	if near != "" {
		e.Message += fmt.Sprintf("; was %s meant?", near)
	}
	return e
}

// HarmlessFields are known to some client's specification and don't change the
// text.
var HarmlessFields = []string{
	"user", "metadata", "store", "service_tier", "cache_control", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
	"prompt_cache_options", "prediction", "request_id", "rid", "priority",
}
