// Package arguments plans the arguments of tools for call forms that write them one by one, each with its own part of the
// schema.
package arguments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/constraint"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/generation/nested"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// mostSteps limits how many subschemas are visited, since references may form cycles.
const mostSteps = 1000

// maxDepth limits the nesting of schemas, as package schema does.
const maxDepth = 512

// properties holds the members that an object schema names.
type properties struct {
	root     map[string]json.RawMessage // of the whole schema
	whole    *jsondoc.Value             // the same
	names    []string
	schemas  map[string]json.RawMessage
	required []string
	steps    int

	unchecked []string // keywords of the argument being planned that masks don't enforce in the family's own notation
}

// Arguments are those of a tool.
type Arguments struct {
	List    []layout.Argument
	Checked []schema.Issue // keywords that masks don't enforce
	Warned  []schema.Issue // arguments that aren't written as the model's template does
}

// Of returns the arguments of a tool. Its whole schema has been compiled.
func Of(ctx context.Context, m *registry.Model, t request.Tool, opt schema.Options) (a Arguments, err error) {
	opt.Strict = false // the whole schema has been compiled with it
	p := &properties{schemas: map[string]json.RawMessage{}}
	if json.Unmarshal(t.Parameters, &p.root) != nil {
		return a, nil // the schema true names no arguments
	}
	if p.whole, err = jsondoc.Parse(string(t.Parameters), maxDepth); err != nil {
		return a, err // can't happen: it has been compiled
	}
	p.read(t.Parameters, true)
	a.Checked = p.unnamed()
	if m.CallForm.Arguments.Sorted {
		slices.Sort(p.names)
	}
	for _, name := range p.names {
		one := layout.Argument{Name: name, Required: slices.Contains(p.required, name)}
		unchecked := false
		p.unchecked = nil
		if one.Ways, unchecked, err = p.ways(ctx, m, name, opt); err != nil {
			return Arguments{}, fmt.Errorf("%s: %w", name, err)
		}
		if types := p.types(p.schemas[name]); m.CallForm.Arguments.NestedAsJSON() && (types["object"] || types["array"]) && len(types) < len(jsonTypes) {
			a.Warned = append(a.Warned, schema.Issue{Pointer: "/properties/" + name, Keyword: "type", Reason: "objects and arrays in arguments are written as JSON; the model's chat template has a format of its own for them"})
		}
		if unchecked {
			a.Checked = append(a.Checked, schema.Issue{Pointer: "/properties/" + name, Keyword: "type", Reason: "the model writes strings without quotes, which masks only bound"})
		}
		for _, keyword := range p.unchecked {
			a.Checked = append(a.Checked, schema.Issue{Pointer: "/properties/" + name, Keyword: keyword, Reason: "the model writes objects and arrays in a notation of its own, in which masks don't enforce it"})
		}
		a.List = append(a.List, one)
	}
	return a, nil
}

// unnamed adds the required arguments that the schema doesn't name, and returns the keywords about the object as a whole, which
// masks don't enforce where each argument is written by itself.
func (p *properties) unnamed() (checked []schema.Issue) {
	others := p.root["additionalProperties"]
	if string(others) != "false" {
		for _, name := range p.required {
			if p.schemas[name] == nil {
				p.names = append(p.names, name)
				p.schemas[name] = json.RawMessage("{}")
				if others != nil {
					p.schemas[name] = others
				}
			}
		}
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "patternProperties", "propertyNames"} {
		if p.root[keyword] != nil {
			checked = append(checked, schema.Issue{Pointer: "/" + keyword, Keyword: keyword, Reason: "the model writes arguments one by one, each with its own schema"})
		}
	}
	if others != nil && string(others) != "false" {
		checked = append(checked, schema.Issue{Pointer: "/additionalProperties", Keyword: "additionalProperties", Reason: "the model writes arguments one by one, and only those that the schema names"})
	}
	return checked
}

// read collects member names from a schema. Members of alternatives are optional.
func (p *properties) read(src json.RawMessage, always bool) {
	o, err := wire.ParseObject(p.refer(src), "")
	if p.steps++; err != nil || p.steps > mostSteps {
		return
	}
	if list, err := wire.ParseObject(o.Members["properties"], ""); err == nil {
		for _, name := range list.Names {
			if _, ok := p.schemas[name]; !ok {
				p.names = append(p.names, name)
				p.schemas[name] = list.Members[name]
			}
		}
	}
	var required []string
	if json.Unmarshal(o.Members["required"], &required) == nil && always {
		p.required = append(p.required, required...)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		var list []json.RawMessage
		if json.Unmarshal(o.Members[keyword], &list) == nil {
			for _, one := range list {
				p.read(one, always && keyword == "allOf")
			}
		}
	}
}

// refer returns the target of a schema's $ref, or the schema itself.
func (p *properties) refer(src json.RawMessage) json.RawMessage {
	for range 8 {
		var s struct {
			Ref string `json:"$ref"`
		}
		if json.Unmarshal(src, &s) != nil || s.Ref == "" {
			return src
		}
		to := Target(p.root, s.Ref)
		if to == nil {
			return src
		}
		src = to
	}
	return src
}

// jsonTypes are the types with their names; a number includes integers.
var jsonTypes = []struct {
	name string
	of   chat.ValueType
}{
	{"string", chat.StringValue}, {"integer", chat.IntegerValue}, {"number", chat.NumberValue}, {"boolean", chat.BooleanValue},
	{"null", chat.NullValue}, {"object", chat.ObjectValue}, {"array", chat.ArrayValue},
}

// types returns the names of the types that a schema allows.
func (p *properties) types(src json.RawMessage) map[string]bool {
	out := map[string]bool{}
	all := func() map[string]bool {
		for _, t := range jsonTypes {
			out[t.name] = true
		}
		return out
	}
	src = p.refer(src)
	var s struct {
		Type  json.RawMessage
		Enum  []any
		Const *any
		AnyOf []json.RawMessage
		OneOf []json.RawMessage
		AllOf []json.RawMessage
	}
	if p.steps++; json.Unmarshal(src, &s) != nil || p.steps > mostSteps {
		return all()
	}
	var name string
	var names []string
	switch {
	case json.Unmarshal(s.Type, &name) == nil:
		out[name] = true
	case json.Unmarshal(s.Type, &names) == nil:
		for _, n := range names {
			out[n] = true
		}
	case s.Enum != nil || s.Const != nil:
		if s.Const != nil {
			s.Enum = []any{*s.Const}
		}
		for _, x := range s.Enum {
			out[layout.TypeName(x)] = true
		}
	case s.AnyOf != nil || s.OneOf != nil:
		for _, one := range append(s.AnyOf, s.OneOf...) {
			for n := range p.types(one) {
				out[n] = true
			}
		}
	case s.AllOf != nil:
		all()
		for _, one := range s.AllOf {
			inner := p.types(one)
			for n := range out {
				if !inner[n] && !(n == "integer" && inner["number"]) {
					delete(out, n)
				}
			}
		}
	default:
		return all()
	}
	if out["number"] {
		out["integer"] = true
	}
	return out
}

// ways returns the ways in which the value of an argument may be written; unchecked reports whether its
// strings have keywords that masks don't enforce.
func (p *properties) ways(ctx context.Context, m *registry.Model, name string, opt schema.Options) (out []layout.Way, unchecked bool, err error) {
	src := p.schemas[name]
	form := &m.CallForm.Arguments
	types := p.types(src)
	text := form.Values[chat.StringValue]
	own, err := p.nested(ctx, m, src, types, opt)
	if err != nil {
		return nil, false, err
	}
	if own != nil {
		out = append(out, *own)
	}
	if types["string"] && text.Raw {
		list, more, err := p.strings(ctx, m, src, name, types)
		if err != nil {
			return nil, false, err
		}
		out, unchecked = append(out, list...), more
	}
	type group struct{ open, close string }
	groups := map[group][]string{}
	var order []group
	for _, t := range jsonTypes {
		v := form.Values[t.of]
		switch {
		case !types[t.name]:
		case v.Python && (t.of == chat.BooleanValue || t.of == chat.NullValue):
			names := []string{"None"}
			if t.of == chat.BooleanValue {
				names = p.booleans(src)
			}
			out = append(out, layout.Way{Open: v.Open, Close: v.Close, Names: names})
		default:
			g := group{v.Open, v.Close}
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], t.name)
		}
	}
	for _, g := range order {
		d, err := p.document(ctx, m, src, groups[g], opt)
		if err != nil {
			return nil, false, err
		}
		out = append(out, layout.Way{Open: g.open, Close: g.close, JSON: &d})
	}
	return merged(out), unchecked, nil
}

// nested returns the way of writing objects and arrays in the family's own notation, nil if the schema allows none or the family
// writes JSON, and removes the types that it writes. Where strings have no quotes, it writes all types that stand between the same texts.
func (p *properties) nested(ctx context.Context, m *registry.Model, src json.RawMessage, types map[string]bool, opt schema.Options) (*layout.Way, error) {
	form := &m.CallForm.Arguments
	var n *chat.Notation
	var names []string
	var around chat.ValueForm
	for _, t := range jsonTypes {
		if v := form.Values[t.of]; types[t.name] && v.Nested != nil {
			n, around = v.Nested, v
			names = append(names, t.name)
		}
	}
	text := form.Values[chat.StringValue]
	if n == nil || types["string"] && text.Open == around.Open && text.Close == around.Close && n.Marks() == "" {
		return nil, nil // the text tells strings from others only when it is read
	}
	if n.Marks() != "" && types["string"] {
		names = nil
		for _, t := range jsonTypes {
			if v := form.Values[t.of]; types[t.name] && v.Open == around.Open && v.Close == around.Close {
				names = append(names, t.name)
			}
		}
	}
	for _, name := range names {
		delete(types, name)
	}
	of, err := jsondoc.Parse(string(src), maxDepth)
	if err != nil {
		return nil, err
	}
	v, err := nested.Compile(n, p.whole, of, nested.TypesOf(names), opt.Closed)
	if err != nil {
		return nil, wire.Invalid("", "%v", err)
	}
	p.unchecked = v.Unchecked
	g, err := m.Grammars.Grammar(ctx, v.Grammar)
	if err != nil {
		return nil, err
	}
	document := g.Document()
	return &layout.Way{Open: around.Open, Close: around.Close, JSON: &document, Notation: n, Shape: v.Shape}, nil
}

// merged merges ways with the same opening and closing text: the first holds all their
// names.
func merged(list []layout.Way) (out []layout.Way) {
	for _, w := range list {
		i := slices.IndexFunc(out, func(o layout.Way) bool {
			return o.Open == w.Open && o.Close == w.Close && o.Names != nil && w.Names != nil
		})
		if i >= 0 {
			out[i].Names = append(out[i].Names, w.Names...)
		} else {
			out = append(out, w)
		}
	}
	return out
}

// booleans returns the names of the booleans that a schema allows.
func (p *properties) booleans(src json.RawMessage) (names []string) {
	var s struct {
		Enum  []any
		Const any
	}
	if json.Unmarshal(p.refer(src), &s) != nil {
		s.Enum = nil
	}
	if s.Const != nil {
		s.Enum = []any{s.Const}
	}
	for _, b := range []struct {
		value bool
		name  string
	}{{true, "True"}, {false, "False"}} {
		if s.Enum == nil || slices.Contains(s.Enum, any(b.value)) {
			names = append(names, b.name)
		}
	}
	return names
}

// copyWhole adds the whole schema to the definitions of a part, with references to its properties that stay within.
func (p *properties) copyWhole(part map[string]json.RawMessage) error {
	whole, err := json.Marshal(p.root)
	if err != nil {
		return err
	}
	defs := map[string]json.RawMessage{}
	if part["$defs"] != nil {
		if err := json.Unmarshal(part["$defs"], &defs); err != nil {
			return err
		}
	}
	defs["stencil:arguments"] = bytes.ReplaceAll(whole, []byte(`"#/properties/`), []byte(`"#/$defs/stencil:arguments/properties/`))
	part["$defs"], err = json.Marshal(defs)
	return err
}

// document compiles the part of a schema for one argument, restricted to some types.
func (p *properties) document(ctx context.Context, m *registry.Model, src json.RawMessage, types []string, opt schema.Options) (d constraint.Document, err error) {
	inside := p.refer(src)
	part := map[string]json.RawMessage{}
	for _, key := range []string{"$schema", "$defs", "definitions"} {
		if p.root[key] != nil {
			part[key] = p.root[key]
		}
	}
	if bytes.Contains(inside, []byte(`"#/properties/`)) {
		// References to other arguments go to a copy of the whole schema.
		inside = bytes.ReplaceAll(inside, []byte(`"#/properties/`), []byte(`"#/$defs/stencil:arguments/properties/`))
		if err := p.copyWhole(part); err != nil {
			return d, err
		}
	}
	part["allOf"] = append(append([]byte("["), inside...), ']')
	if part["type"], err = json.Marshal(types); err != nil {
		return d, err
	}
	data, err := json.Marshal(part)
	if err != nil {
		return d, err
	}
	compiled, err := m.Schemas.Compile(ctx, data, opt)
	if err != nil {
		return d, err
	}
	return compiled.Document(), nil
}

// Target returns what a reference within a schema points to, as it is written there; nil if there is no such part.
func Target(schema map[string]json.RawMessage, ref string) json.RawMessage {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	var here json.RawMessage
	for step := range strings.SplitSeq(path, "/") {
		if here = schema[jsondoc.UnescapePointer(step)]; here == nil {
			return nil
		}
		schema = nil                      // the caller's would be added to
		_ = json.Unmarshal(here, &schema) // stays nil if that is no object
	}
	return here
}
