package server

import (
	"encoding/json"
	"fmt"
	"slices"
)

// names are the top-level fields that a dialect knows, by what is done about
// them. A field in none of the lists is accepted with a warning.
type names struct {
	known      []string // read by the dialect
	constraint []string // read, and a near miss of one of them is an error
	harmless   []string // of the dialect's specification, without an effect on the text: accepted without a word
	refused    []string // would change the text and are not offered
}

// check applies the rules for fields that are not known.
func (n *names) check(o *object) (warnings []string, err error) {
	for _, name := range o.names {
		switch {
		case slices.Contains(n.known, name), slices.Contains(n.constraint, name), slices.Contains(n.harmless, name):
		case slices.Contains(n.refused, name):
			if o.given(name) && !offValue(o.members[name]) {
				return nil, notOffered(o.path+name, o.path+name)
			}
		default:
			if near := nearest(name, n.constraint); near != "" {
				return nil, unknownField(o.path+name, near)
			}
			w := fmt.Sprintf("the field %s is not known and was ignored", name)
			if near := nearest(name, n.known); near != "" {
				w += fmt.Sprintf("; was %s meant?", near)
			}
			warnings = append(warnings, w)
		}
	}
	return warnings, nil
}

// offValue reports whether a value of a field that is not offered asks for
// nothing, as clients that spell out every default send it.
func offValue(raw []byte) bool {
	switch string(raw) {
	case "false", `""`, "[]":
		return true
	}
	return false
}

// only refuses every member of an object within a constraint, of a tool or of
// a message that is not listed.
func (o *object) only(known ...string) error {
	for _, name := range o.names {
		if !slices.Contains(known, name) {
			return unknownField(o.path+name, nearest(name, known))
		}
	}
	return nil
}

// child reads a member that must be an object; nil when it is not given.
func (o *object) child(name string) (*object, error) {
	if !o.given(name) {
		return nil, nil
	}
	return parseObject(o.members[name], o.path+name+".")
}

// raws decodes a member that must be an array.
func (o *object) raws(name string) (list []json.RawMessage, err error) {
	err = o.decode(name, &list, "an array")
	return list, err
}

// list decodes a member that must be an array; nil when it is not given.
func (o *object) list(name string) ([]*object, error) {
	if !o.given(name) {
		return nil, nil
	}
	raws, err := o.raws(name)
	if err != nil {
		return nil, err
	}
	out := make([]*object, 0, len(raws))
	for i, raw := range raws {
		one, err := parseObject(raw, fmt.Sprintf("%s%s[%d].", o.path, name, i))
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// notOffered refuses a field, or one of its values, that can't be ignored.
func notOffered(param, what string) *requestError {
	return &requestError{Param: param, Code: "not_offered", Message: fmt.Sprintf("%s is not offered here, and ignoring it would change the text", what)}
}

func unknownField(name, near string) *requestError {
	e := &requestError{Param: name, Code: "unknown_field", Message: fmt.Sprintf("the field %s is not known", name)}
	if near != "" {
		e.Message += fmt.Sprintf("; was %s meant?", near)
	}
	return e
}

// harmlessFields are known to some client's specification and don't change the
// text.
var harmlessFields = []string{
	"user", "metadata", "store", "service_tier", "cache_control", "safety_identifier", "prompt_cache_key", "prompt_cache_retention",
	"prompt_cache_options", "prediction", "request_id", "rid", "priority",
}
