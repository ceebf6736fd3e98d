package sets

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// calls judges calls by the rules of the Berkeley Function Calling Leaderboard's AST
// checker (bfcl_eval/eval_checker/ast_eval/ast_checker.py, rules for Python), quirks
// included, so that results are comparable: exactly the expected calls, in any
// order; equal names; every argument among its possible values, where "" means that
// it may be omitted.
type calls struct {
	tools map[string]signature
	want  []wantedCall
}

// A signature is the part of a tool that the check uses.
type signature struct {
	Properties map[string]struct {
		Type  string `json:"type"`
		Items struct {
			Type string `json:"type"`
		} `json:"items"`
	} `json:"properties"`
	Required []string `json:"required"`
}

// A wantedCall is an expected call with the possible values of each argument.
type wantedCall struct {
	name   string
	values map[string][]any
}

func (c calls) judge(a Answer) Score {
	s := Score{Fields: 1, Wanted: min(1, len(c.want)), Given: min(1, len(a.Calls))}
	if s.Cause = c.cause(a); s.Cause == "" {
		s.Right, s.Hits = 1, min(1, len(c.want))
	}
	return s
}

// cause returns why the calls are wrong, "" if they are right.
func (c calls) cause(a Answer) Cause {
	unread := func(call Call) bool {
		_, ok := decode([]byte(call.Arguments)).(map[string]any)
		return !ok || plain([]byte(call.Arguments)) != nil
	}
	called := func(call Call) bool { _, ok := c.tools[call.Name]; return ok }
	switch {
	case len(a.Calls) > 0 && len(c.want) == 0:
		return UnwantedCall
	case len(a.Calls) == 0 && len(c.want) > 0 && slices.ContainsFunc(a.Stray, called):
		return InText
	case slices.ContainsFunc(a.Calls, unread):
		return Unparsed
	case len(a.Calls) == 0 && len(c.want) > 0:
		return NoCall
	case len(a.Calls) != len(c.want):
		return WrongCount
	}
	used := make([]bool, len(a.Calls))
	var open []wantedCall
	for _, want := range c.want {
		found := false
		for i, call := range a.Calls {
			if !used[i] && c.differs(call, want) == "" {
				used[i], found = true, true
				break
			}
		}
		if !found {
			open = append(open, want)
		}
	}
	if len(open) == 0 {
		return ""
	}
	// The cause is that of the call that comes closest to the first one that is missing.
	closest := WrongFunction
	for i, call := range a.Calls {
		if !used[i] {
			if d := c.differs(call, open[0]); slices.Index(byCloseness, d) > slices.Index(byCloseness, closest) {
				closest = d
			}
		}
	}
	return closest
}

// byCloseness are the causes for which a single call can be wrong, the worst first.
var byCloseness = []Cause{WrongFunction, MissingArgument, ExtraArgument, WrongValue}

// differs returns why a call does not match an expected one, "" if it does.
func (c calls) differs(call Call, want wantedCall) Cause {
	if call.Name != want.name {
		return WrongFunction
	}
	arguments, _ := decode([]byte(call.Arguments)).(map[string]any)
	tool := c.tools[want.name]
	for _, name := range tool.Required {
		if _, ok := arguments[name]; !ok {
			return MissingArgument
		}
	}
	for name, possible := range want.values {
		if _, ok := arguments[name]; !ok && !among("", possible) {
			return MissingArgument
		}
	}
	for name := range arguments {
		_, known := tool.Properties[name]
		if _, listed := want.values[name]; !known || !listed {
			return ExtraArgument
		}
	}
	for name, value := range arguments {
		if p := tool.Properties[name]; !argument(value, want.values[name], p.Type, p.Items.Type) {
			return WrongValue
		}
	}
	return ""
}

// decode decodes JSON and keeps numbers as written.
func decode(text []byte) any {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// pythonTypes maps the types of tools to Python's types.
var pythonTypes = map[string]string{
	"string": "str", "any": "str", "integer": "int", "float": "float", "boolean": "bool", "array": "list", "tuple": "list", "dict": "dict",
}

// typeOf returns the Python type of a value.
func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "str"
	case bool:
		return "bool"
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			return "float"
		}
		return "int"
	case []any:
		return "list"
	case map[string]any:
		return "dict"
	}
	return "None"
}

// typeAmong returns the type of the first possible value that isn't "", or "".
func typeAmong(possible []any) string {
	for _, p := range possible {
		if p != "" {
			return typeOf(p)
		}
	}
	return ""
}

// argument checks one argument.
func argument(value any, possible []any, declared, items string) bool {
	want := pythonTypes[declared]
	have := typeOf(value)
	if declared == "float" && have == "int" {
		have = "float" // Python would convert it
	}
	nested := ""
	if declared == "array" || declared == "tuple" {
		nested = pythonTypes[items]
	}
	variable, ok := typed(value, have, possible, want, nested)
	switch {
	case !ok:
		return false
	case variable:
		return among(value, possible)
	case want == "dict":
		return objectAmong(value, possible)
	case want == "list" && nested == "dict":
		return objectsAmong(value, possible)
	case want == "str":
		text, _ := value.(string)
		for _, p := range possible {
			if p, ok := p.(string); ok && standard(p) == standard(text) {
				return true
			}
		}
		return false
	case want == "list":
		return among(standardItems(value), standardLists(possible))
	}
	return among(value, possible)
}

// typed reports whether a value has the declared type or else the type of the
// possible values. variable means that it has to be compared with these directly.
func typed(value any, have string, possible []any, want, nested string) (variable, ok bool) {
	other := typeAmong(possible)
	if have == want {
		variable = other != "" && other != want
		if nested == "" {
			return variable, true
		}
		list, _ := value.([]any)
		for _, p := range possible {
			if itemsTyped(list, p, nested) {
				return variable, true
			}
		}
		return false, false
	}
	return true, other != "" && have == other
}

// itemsTyped reports whether all items have the declared type or that of the items
// of a possible value. A possible value that is not a list accepts everything.
func itemsTyped(list []any, possible any, nested string) bool {
	p, ok := possible.([]any)
	if !ok {
		return true
	}
	for _, v := range list {
		if _, ok := typed(v, typeOf(v), p, nested, ""); !ok {
			return false
		}
	}
	return true
}

// standard removes differences between ways to write the same text.
func standard(text string) string {
	text = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" ,./-_*^", r) {
			return -1
		}
		return r
	}, text)
	return strings.ReplaceAll(strings.ToLower(text), "'", `"`)
}

// standardised returns a text in standard form, and any other value unchanged.
func standardised(v any) any {
	if s, ok := v.(string); ok {
		return standard(s)
	}
	return v
}

func standardItems(v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, x := range list {
		out[i] = standardised(x)
	}
	return out
}

// standardLists returns lists with standardised items. "" becomes the empty list,
// since Python iterates over its characters.
func standardLists(possible []any) []any {
	out := make([]any, len(possible))
	for i, p := range possible {
		if p == "" {
			p = []any{}
		}
		out[i] = standardItems(p)
	}
	return out
}

// objectAmong compares an object with possible objects, whose members are lists of
// possible values.
func objectAmong(value any, possible []any) bool {
	got, ok := value.(map[string]any)
	if !ok {
		return false
	}
next:
	for _, p := range possible {
		want, ok := p.(map[string]any)
		if !ok {
			continue
		}
		for name, v := range got {
			list, _ := want[name].([]any)
			if !among(standardised(v), standardItems(list).([]any)) {
				continue next
			}
		}
		for name, list := range want {
			list, _ := list.([]any)
			if _, ok := got[name]; !ok && !among("", list) {
				continue next
			}
		}
		return true
	}
	return false
}

// objectsAmong compares a list of objects with possible lists.
func objectsAmong(value any, possible []any) bool {
	got, _ := value.([]any)
	for _, p := range possible {
		want, ok := p.([]any)
		if !ok && p != "" || len(want) != len(got) {
			continue
		}
		all := true
		for i := range got {
			all = all && objectAmong(got[i], want[i:i+1])
		}
		if all {
			return true
		}
	}
	return false
}

// among reports whether a value equals an element of a list, like Python's "in".
func among(v any, list []any) bool {
	for _, x := range list {
		if equal(v, x) {
			return true
		}
	}
	return false
}

// equal compares values like Python: numbers by value, True equal to 1.
func equal(a, b any) bool {
	if x, y := rational(a), rational(b); x != nil && y != nil {
		return x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			w, ok := b[name]
			if !ok || !equal(v, w) {
				return false
			}
		}
		return true
	case string:
		b, ok := b.(string)
		return ok && a == b
	case nil:
		return b == nil
	}
	return false
}

// rational returns a number or boolean as a number, nil for other values.
func rational(v any) *big.Rat {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	case json.Number:
		if moderate(string(v)) {
			r, _ := new(big.Rat).SetString(string(v))
			return r
		}
	}
	return nil
}
