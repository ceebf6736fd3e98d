package goschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Describer is implemented by types that provide their own schema.
type Describer interface {
	// JSONSchema returns a schema as JSON text. It is called on the zero value.
	JSONSchema() []byte
}

// Error is the error for a part of a type that has no schema.
type Error struct {
	Path   string // such as "Order.Lines[].Price"
	Type   reflect.Type
	Reason string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("goschema: %s: type %s: %s", e.Path, e.Type, e.Reason)
}

// For returns the schema (draft 2020-12) of T. Errors are *Error.
func For[T any]() ([]byte, error) { return Of(reflect.TypeFor[T]()) }

// Of returns the schema (draft 2020-12) of t. Errors are *Error.
func Of(t reflect.Type) ([]byte, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	m := &maker{root: t, names: map[reflect.Type]string{}, taken: map[string]bool{}}
	body, err := m.body(t, typeTitle(t))
	if err != nil {
		return nil, err
	}
	out := object{{"$schema", `"https://json-schema.org/draft/2020-12/schema"`}}
	out = append(out, body...)
	if len(m.defs) > 0 {
		out = append(out, pair{"$defs", m.defs.String()})
	}
	return []byte(out.String()), nil
}

// typeTitle returns the name of a type for paths.
func typeTitle(t reflect.Type) string {
	if t.Name() != "" {
		return t.Name()
	}
	return t.String()
}

// object is a JSON object under construction; each value is JSON text.
type object []pair

type pair struct{ key, value string }

// String returns the JSON text.
func (o object) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, p := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(p.key))
		b.WriteByte(':')
		b.WriteString(p.value)
	}
	b.WriteByte('}')
	return b.String()
}

// quote writes a JSON string.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return strconv.Quote(s) // strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// maker holds the state of one conversion.
type maker struct {
	root  reflect.Type
	defs  object
	names map[reflect.Type]string
	taken map[string]bool
}

var (
	describerType = reflect.TypeFor[Describer]()
	marshalerType = reflect.TypeFor[json.Marshaler]()
	textType      = reflect.TypeFor[encoding.TextMarshaler]()
)

// Patterns for strings that encoding/json writes.
const (
	base64Pattern = `^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`
	intPattern    = `^(?:0|-?[1-9][0-9]*)$`
	uintPattern   = `^(?:0|[1-9][0-9]*)$`
	// Go does not parse leap seconds, and accepts T and Z only in upper case.
	timePattern  = `^(?!.*:60)[^tz]*$`
	floatPattern = `^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$`
)

// known are types with a predefined schema.
var known = map[reflect.Type]object{
	reflect.TypeFor[time.Time]():       {{"type", `"string"`}, {"format", `"date-time"`}, {"pattern", quote(timePattern)}},
	reflect.TypeFor[json.Number]():     {{"type", `"number"`}},
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[big.Int]():         {{"type", `"integer"`}},
}

// schema returns the schema of t, or a reference if t has a definition.
func (m *maker) schema(t reflect.Type, path string) (object, error) {
	if t.Kind() != reflect.Struct || t.Name() == "" || m.opaque(t) {
		return m.body(t, path)
	}
	if t == m.root {
		return object{{"$ref", `"#"`}}, nil
	}
	name, done := m.names[t]
	if !done {
		name = m.freeName(t)
		m.names[t] = name
		i := len(m.defs)
		m.defs = append(m.defs, pair{key: name})
		body, err := m.body(t, path)
		if err != nil {
			return nil, err
		}
		m.defs[i].value = body.String()
	}
	return object{{"$ref", quote("#/$defs/" + name)}}, nil
}

// opaque reports whether the schema of a type does not depend on its fields.
func (m *maker) opaque(t reflect.Type) bool {
	_, isKnown := known[t]
	return isKnown || implements(t, describerType) || implements(t, marshalerType) || implements(t, textType)
}

func implements(t, what reflect.Type) bool {
	return t.Implements(what) || t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(what)
}

// folders matches the folders of a package path in the name of a type argument.
var folders = regexp.MustCompile(`[^\[\],*\s]*/`)

// freeName returns an unused name for t that needs no escaping in a JSON pointer.
func (m *maker) freeName(t reflect.Type) string {
	base := strings.Join(strings.FieldsFunc(folders.ReplaceAllString(t.Name(), ""), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}), "_")
	name := base
	for n := 2; m.taken[name] || name == ""; n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	m.taken[name] = true
	return name
}

// body returns the schema of t itself, without a reference.
func (m *maker) body(t reflect.Type, path string) (object, error) {
	if s, ok := known[t]; ok {
		return s, nil
	}
	if implements(t, describerType) {
		return describe(t, path)
	}
	if t.Kind() == reflect.Pointer {
		s, err := m.schema(t.Elem(), path)
		return nullable(s), err
	}
	switch {
	case implements(t, marshalerType):
		return object{}, nil
	case implements(t, textType):
		return object{{"type", `"string"`}}, nil
	}
	switch k := t.Kind(); k {
	case reflect.Bool:
		return object{{"type", `"boolean"`}}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		lo, hi := bounds(t)
		return object{{"type", `"integer"`}, {"minimum", lo}, {"maximum", hi}}, nil
	case reflect.Float32, reflect.Float64:
		return object{{"type", `"number"`}}, nil
	case reflect.String:
		return object{{"type", `"string"`}}, nil
	case reflect.Interface:
		return object{}, nil
	case reflect.Slice, reflect.Array:
		return m.array(t, path)
	case reflect.Map:
		return m.mapping(t, path)
	case reflect.Struct:
		return m.structure(t, path)
	default:
		return nil, &Error{path, t, "has no JSON form"}
	}
}

// describe returns the schema that a Describer provides.
func describe(t reflect.Type, path string) (object, error) {
	zero := reflect.New(t)
	d, ok := zero.Interface().(Describer)
	if !ok {
		d, ok = zero.Elem().Interface().(Describer)
	}
	if !ok { // a nil interface
		return object{}, nil
	}
	if t.Kind() == reflect.Pointer {
		d = reflect.New(t.Elem()).Interface().(Describer)
	}
	text := d.JSONSchema()
	if !json.Valid(text) {
		return nil, &Error{path, t, "its JSONSchema method returns no JSON"}
	}
	// Keep the text, because the order of its keys matters.
	return object{{"allOf", "[" + string(text) + "]"}}, nil
}

// nullable returns a schema that also allows null.
func nullable(s object) object {
	if len(s) == 0 { // it allows null already
		return s
	}
	if s[0].key == "type" && strings.HasPrefix(s[0].value, `"`) {
		out := append(object{{"type", "[" + s[0].value + `,"null"]`}}, s[1:]...)
		for _, p := range s[1:] {
			if p.key == "enum" || p.key == "const" {
				return object{{"anyOf", "[" + s.String() + `,{"type":"null"}]`}}
			}
		}
		return out
	}
	return object{{"anyOf", "[" + s.String() + `,{"type":"null"}]`}}
}

// bounds returns the smallest and largest value of an integer type.
func bounds(t reflect.Type) (lo, hi string) {
	bits := t.Bits()
	one := big.NewInt(1)
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uintptr {
		return "0", new(big.Int).Sub(new(big.Int).Lsh(one, uint(bits)), one).String()
	}
	half := new(big.Int).Lsh(one, uint(bits-1))
	return new(big.Int).Neg(half).String(), new(big.Int).Sub(half, one).String()
}

func (m *maker) array(t reflect.Type, path string) (object, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && !m.opaque(t.Elem()) {
		return object{{"type", `"string"`}, {"contentEncoding", `"base64"`}, {"pattern", quote(base64Pattern)}}, nil
	}
	items, err := m.schema(t.Elem(), path+"[]")
	if err != nil {
		return nil, err
	}
	s := object{{"type", `"array"`}, {"items", items.String()}}
	if t.Kind() == reflect.Array {
		n := strconv.Itoa(t.Len())
		s = append(s, pair{"minItems", n}, pair{"maxItems", n})
	}
	return s, nil
}

func (m *maker) mapping(t reflect.Type, path string) (object, error) {
	values, err := m.schema(t.Elem(), path+"{}")
	if err != nil {
		return nil, err
	}
	s := object{{"type", `"object"`}}
	switch k := t.Key(); {
	case k.Kind() == reflect.String || implements(k, textType):
	case k.Kind() >= reflect.Int && k.Kind() <= reflect.Int64:
		s = append(s, pair{"propertyNames", `{"pattern":` + quote(intPattern) + `}`})
	case k.Kind() >= reflect.Uint && k.Kind() <= reflect.Uintptr:
		s = append(s, pair{"propertyNames", `{"pattern":` + quote(uintPattern) + `}`})
	default:
		return nil, &Error{path, t, "keys of this kind have no JSON form"}
	}
	return append(s, pair{"additionalProperties", values.String()}), nil
}

func (m *maker) structure(t reflect.Type, path string) (object, error) {
	var properties object
	var required []string
	for _, f := range fields(t) {
		at := path + "." + f.goName
		s, err := m.field(f, at)
		if err != nil {
			return nil, err
		}
		extra, err := readTag(f, at)
		if err != nil {
			return nil, err
		}
		if s, err = extra.apply(s); err != nil {
			return nil, &Error{at, f.typ, err.Error()}
		}
		properties = append(properties, pair{f.name, s.String()})
		if !f.optional || extra.required {
			required = append(required, quote(f.name))
		}
	}
	s := object{{"type", `"object"`}}
	if len(properties) > 0 {
		s = append(s, pair{"properties", properties.String()})
	}
	if len(required) > 0 {
		s = append(s, pair{"required", "[" + strings.Join(required, ",") + "]"})
	}
	return append(s, pair{"additionalProperties", "false"}), nil
}

// field returns the schema of a field's value.
func (m *maker) field(f field, path string) (object, error) {
	t := f.typ
	if f.quoted {
		return quotedSchema(t, path)
	}
	if t.Kind() == reflect.Pointer && f.optional { // nil is omitted
		t = t.Elem()
	}
	return m.schema(t, path)
}

// quotedSchema returns the schema of a field with the option string.
func quotedSchema(t reflect.Type, path string) (object, error) {
	null := t.Kind() == reflect.Pointer
	if null {
		t = t.Elem()
	}
	s := object{{"type", `"string"`}}
	switch k := t.Kind(); {
	case k == reflect.Bool:
		s = append(s, pair{"enum", `["true","false"]`})
	case k >= reflect.Int && k <= reflect.Int64:
		s = append(s, pair{"pattern", quote(intPattern)})
	case k >= reflect.Uint && k <= reflect.Uintptr:
		s = append(s, pair{"pattern", quote(uintPattern)})
	case k == reflect.Float32 || k == reflect.Float64:
		s = append(s, pair{"pattern", quote(floatPattern)})
	case k == reflect.String:
		return nil, &Error{path, t, "the option string quotes a string twice; leave it out"}
	default: // encoding/json ignores the option silently
		return nil, &Error{path, t, "the option string is for numbers and booleans"}
	}
	if null {
		return nullable(s), nil
	}
	return s, nil
}
