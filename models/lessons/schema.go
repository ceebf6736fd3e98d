package lessons

import "strings"

// A property is a property of an object: its name, its schema and its value.
type property struct {
	key    string
	schema string
	value  string
	// parts are the keys within value, as in Lesson.Keys.
	parts [][2]int
}

// object is the schema and value of an object.
type object struct {
	schema, value string
	keys          [][2]int
}

// complete reports whether all properties are required.
func (o object) complete() bool {
	return strings.Count(o.schema, `{"type":"object"`) == strings.Count(o.schema, `"required":[`)
}

// object builds an object. Some schemas don't require all properties, and
// some allow others.
func (g *gen) object(list []property) object {
	var s, required, v strings.Builder
	var keys [][2]int
	s.WriteString(`{"type":"object","properties":{`)
	required.WriteString(`,"required":[`)
	v.WriteByte('{')
	for i, p := range list {
		if i > 0 {
			s.WriteByte(',')
			required.WriteByte(',')
			v.WriteByte(',')
		}
		s.WriteString(quote(p.key) + ":" + p.schema)
		required.WriteString(quote(p.key))
		from := v.Len()
		v.WriteString(quote(p.key) + ":")
		keys = append(keys, [2]int{from, v.Len()})
		for _, k := range p.parts {
			keys = append(keys, [2]int{k[0] + v.Len(), k[1] + v.Len()})
		}
		v.WriteString(p.value)
	}
	s.WriteByte('}')
	required.WriteByte(']')
	v.WriteByte('}')
	if g.chance(0.9) {
		s.WriteString(required.String())
	}
	if g.chance(0.5) {
		s.WriteString(`,"additionalProperties":false`)
	}
	s.WriteByte('}')
	return object{s.String(), v.String(), keys}
}

// array builds an array of objects with one schema.
func array(schema string, items []object) object {
	out := object{schema: `{"type":"array","items":` + schema + `}`}
	var v strings.Builder
	v.WriteByte('[')
	for i, it := range items {
		if i > 0 {
			v.WriteByte(',')
		}
		for _, k := range it.keys {
			out.keys = append(out.keys, [2]int{k[0] + v.Len(), k[1] + v.Len()})
		}
		v.WriteString(it.value)
	}
	v.WriteByte(']')
	out.value = v.String()
	return out
}

// list returns strings as a JSON array.
func list(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// plain returns the schema of a type.
func plain(typ string) string { return `{"type":` + quote(typ) + `}` }

// enum returns the schema of a choice.
func (g *gen) enum(values []string) string {
	if g.chance(0.6) {
		return `{"type":"string","enum":` + list(values) + `}`
	}
	return `{"enum":` + list(values) + `}`
}

// within adds a keyword to a schema that is an object.
func within(schema, keyword, value string) string {
	return schema[:len(schema)-1] + `,` + quote(keyword) + `:` + value + `}`
}
