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
			if o.Given(name) && !OffValue(o.Members[name]) {
				return nil, NotOffered(o.Path+name, o.Path+name)
			}
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
