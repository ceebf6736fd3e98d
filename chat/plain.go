package chat

import "github.com/stencil-json/stencil/chat/jinja"

// A plainness is how far the tools are simplified for a template that fails on them: many expect parameters with properties, each
// with one type, as the API's documentation shows them. What the model's calls must fulfil stays the same.
type plainness uint8

const (
	plain    plainness = iota // other forms are rewritten: lists of types, true as a schema, no properties
	plainest                  // only types, descriptions and names are left
)

// simplify simplifies tools, which no one else may use.
func simplify(tools *jinja.List, how plainness) {
	for _, tool := range tools.Items {
		d, _ := tool.(*jinja.Dict)
		if d == nil {
			continue
		}
		if f, _ := member(d, "function").(*jinja.Dict); f != nil {
			f.Set("parameters", how.parameters(member(f, "parameters")))
		}
	}
}

// parameters returns the schema of parameters with properties.
func (how plainness) parameters(v any) *jinja.Dict {
	d, _ := v.(*jinja.Dict)
	if d == nil || how == plainest {
		given := d
		d = jinja.NewDict()
		if given != nil {
			d.Set("properties", how.properties(given, 0))
			if required, ok := member(given, "required").(*jinja.List); ok {
				d.Set("required", required)
			}
		}
	}
	if _, ok := member(d, "type").(string); !ok {
		d.Set("type", "object")
	}
	d.Set("properties", how.properties(d, 0))
	return d
}

// maxPlainDepth is the depth to which schemas are simplified.
const maxPlainDepth = 32

// properties returns the properties of a schema and of its alternatives.
func (how plainness) properties(d *jinja.Dict, depth int) *jinja.Dict {
	out := jinja.NewDict()
	if depth > maxPlainDepth {
		return out
	}
	if given, ok := member(d, "properties").(*jinja.Dict); ok {
		for _, name := range given.Keys() {
			v, _ := given.Get(name)
			out.Set(name, how.schema(v, depth+1))
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := member(d, key).(*jinja.List)
		if list == nil {
			continue
		}
		for _, one := range list.Items {
			one, _ := one.(*jinja.Dict)
			if one == nil {
				continue
			}
			inner := how.properties(one, depth+1)
			for _, name := range inner.Keys() {
				if _, ok := out.Get(name); !ok {
					v, _ := inner.Get(name)
					out.Set(name, v)
				}
			}
		}
	}
	return out
}

// schema returns the schema of a property or item with a description and one type.
func (how plainness) schema(v any, depth int) *jinja.Dict {
	d, _ := v.(*jinja.Dict)
	if d == nil || how == plainest || depth > maxPlainDepth {
		out := jinja.NewDict()
		if d != nil {
			if text, ok := member(d, "description").(string); ok {
				out.Set("description", text)
			}
			out.Set("type", typeName(d, depth))
		}
		switch member(out, "type") {
		case "integer", "number", "boolean", "object", "array":
		default:
			out.Set("type", "string")
		}
		d = out
	}
	if _, ok := member(d, "description").(string); !ok {
		d.Set("description", "")
	}
	if _, ok := d.Get("type"); ok {
		d.Set("type", typeName(d, depth))
	}
	if _, ok := member(d, "properties").(*jinja.Dict); ok {
		d.Set("properties", how.properties(d, depth))
	}
	switch items := member(d, "items").(type) {
	case nil:
	case *jinja.List:
		if len(items.Items) > 0 {
			d.Set("items", how.schema(items.Items[0], depth+1))
		} else {
			d.Set("items", jinja.NewDict())
		}
	default:
		d.Set("items", how.schema(items, depth+1))
	}
	return d
}

// typeName returns the name of a type of a schema, the first one other than null.
func typeName(d *jinja.Dict, depth int) string {
	switch t := member(d, "type").(type) {
	case string:
		return t
	case *jinja.List:
		for _, name := range t.Items {
			if name, ok := name.(string); ok && name != "null" {
				return name
			}
		}
		return "null"
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := member(d, key).(*jinja.List); ok && depth < maxPlainDepth {
			for _, one := range list.Items {
				if one, ok := one.(*jinja.Dict); ok {
					if name := typeName(one, depth+1); name != "null" {
						return name
					}
				}
			}
		}
	}
	return "string"
}
