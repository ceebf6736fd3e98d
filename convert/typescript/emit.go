package typescript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Convert parses declarations and returns the JSON Schema (draft 2020-12) of the
// type called root. If root is empty, it uses the last exported type without type
// parameters, or the last such type if none is exported. Other named types that the
// schema needs are defined under $defs. Errors are *Error, also for a source over 1 MiB,
// a schema over 8 MiB, and types that take too many steps to resolve.
func Convert(src []byte, root string) ([]byte, error) {
	if len(src) > maxSource {
		return nil, place{1, 1}.errorf("the source has more than %d bytes", maxSource)
	}
	p := &parser{lex: lexer{src: string(src), line: 1, column: 1}}
	all, err := p.file()
	if err != nil {
		return nil, err
	}
	r, err := newResolver(all)
	if err != nil {
		return nil, err
	}
	d, err := chooseRoot(all, root)
	if err != nil {
		return nil, err
	}
	e := &emitter{resolver: r, root: d.name, byType: map[string]string{}, taken: map[string]int{}}
	out := schema{{"$schema", `"https://json-schema.org/draft/2020-12/schema"`}, {"title", quote(d.name)}}
	body, err := e.define(&reference{place: d.place, name: d.name})
	if err != nil {
		return nil, err
	}
	if err := e.keep(d.place, body); err != nil {
		return nil, err
	}
	for _, f := range body {
		out.set(f.key, f.value)
	}
	if len(e.defs) > 0 {
		out = append(out, field{"$defs", e.defs.String()})
	}
	return []byte(out.String()), nil
}

func chooseRoot(all []*declaration, name string) (*declaration, error) {
	var chosen *declaration
	for _, d := range all {
		switch {
		case name != "" && d.name != name:
		case len(d.params) > 0:
			if d.name == name {
				return nil, d.errorf("type %s has type parameters and can't be the root", name)
			}
		case chosen == nil || d.export || !chosen.export:
			chosen = d
		}
	}
	if chosen == nil {
		if name == "" {
			return nil, place{1, 1}.errorf("no type is declared")
		}
		return nil, place{1, 1}.errorf("type %s is not declared", name)
	}
	return chosen, nil
}

// schema is a JSON object under construction; each value is JSON text.
type schema []field

type field struct{ key, value string }

// String returns the JSON text.
func (s schema) String() string {
	var b strings.Builder
	b.WriteByte('{')
	for i, f := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(f.key))
		b.WriteByte(':')
		b.WriteString(f.value)
	}
	b.WriteByte('}')
	return b.String()
}

// size returns about the length of the JSON text.
func (s schema) size() (n int) {
	for _, f := range s {
		n += len(f.key) + len(f.value) + len(`"":,`)
	}
	return n
}

// set sets the value of a key, at its position if the key exists.
func (s *schema) set(key, value string) {
	for i := range *s {
		if (*s)[i].key == key {
			(*s)[i].value = value
			return
		}
	}
	*s = append(*s, field{key, value})
}

func quote(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		return strconv.Quote(text) // strings always encode
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func list(texts []string) string { return "[" + strings.Join(texts, ",") + "]" }

// emitter converts types to schemas.
type emitter struct {
	*resolver
	root   string
	defs   schema
	byType map[string]string // printed type → name under $defs
	taken  map[string]int    // name under $defs → the last number tried after it
	nested int
	output int // bytes of the definitions so far
}

// enter counts a schema or pattern that is inside another one; leave ends it.
func (e *emitter) enter(at place) error {
	if e.nested++; e.nested > maxNested {
		e.fail(at, "the type has no end")
	}
	return e.spend(at, 1)
}

func (e *emitter) leave() { e.nested-- }

// keep counts a part of the result.
func (e *emitter) keep(at place, s schema) error {
	if e.output += s.size(); e.output > maxOutput {
		e.fail(at, "the schema has more than %d bytes", maxOutput)
	}
	return e.err
}

// define returns the schema of a named type.
func (e *emitter) define(t *reference) (schema, error) {
	var doc *comment
	var body typ
	if _, builtin := utilities[t.name]; builtin {
		shape, err := e.expand(t)
		if err != nil {
			return nil, err
		}
		body = shape
	} else {
		instance, d, err := e.instance(t)
		if err != nil {
			return nil, err
		}
		if body = instance; len(d.extends) > 0 {
			if body, err = e.expand(t); err != nil {
				return nil, err
			}
		}
		doc = d.doc
		if _, alias := body.(*reference); alias {
			if _, err := e.expand(body); err != nil { // it may refer to itself
				return nil, err
			}
		}
	}
	s, err := e.emit(body)
	if err != nil {
		return nil, err
	}
	return e.describe(s, doc)
}

// refer returns {"$ref": …} to a named type, and defines the type if necessary.
func (e *emitter) refer(t *reference) (schema, error) {
	key, err := typeName(t)
	if err == nil {
		err = e.spend(t.place, searched(len(key)))
	}
	if err != nil {
		return nil, err
	}
	if key == e.root {
		return schema{{"$ref", `"#"`}}, nil
	}
	name, known := e.byType[key]
	if !known {
		if len(e.byType) == maxDefinitions {
			return nil, t.errorf("more than %d types are needed", maxDefinitions)
		}
		name = e.freeName(key)
		e.byType[key] = name
		i := len(e.defs)
		e.defs = append(e.defs, field{key: name})
		body, err := e.define(t)
		if err == nil {
			err = e.keep(t.place, body)
		}
		if err != nil {
			return nil, err
		}
		e.defs[i].value = body.String()
	}
	return schema{{"$ref", quote("#/$defs/" + name)}}, nil
}

// freeName converts a printed type to an unused name that needs no escaping in a
// JSON pointer.
func (e *emitter) freeName(key string) string {
	base := strings.Join(strings.FieldsFunc(key, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}), "_")
	if len(base) > 80 {
		base = base[:80]
	}
	name := base
	for n := max(2, e.taken[base]+1); e.taken[name] > 0 || name == ""; n++ {
		e.taken[base] = n
		name = fmt.Sprintf("%s_%d", base, n)
	}
	e.taken[name] = max(1, e.taken[name])
	return name
}

// typeName prints a type, so that equal instances of a generic type share one
// definition.
func typeName(t typ) (string, error) {
	var b strings.Builder
	printType(&b, t)
	if b.Len() > maxTypeName {
		return "", t.at().errorf("the type's arguments are too long")
	}
	return b.String(), nil
}

// printType writes something before it writes the parts of a type, so that the length
// limits its recursion.
func printType(b *strings.Builder, t typ) {
	if b.Len() > maxTypeName {
		return
	}
	join := func(of []typ, sep string) {
		for i, x := range of {
			if i > 0 {
				b.WriteString(sep)
			}
			printType(b, x)
		}
	}
	switch t := t.(type) {
	case *reference:
		b.WriteString(t.name)
		if len(t.args) > 0 {
			b.WriteByte('<')
			join(t.args, ",")
			b.WriteByte('>')
		}
	case *keyword:
		b.WriteString(t.name)
	case *literal:
		b.WriteString(t.json)
	case *array:
		if b.WriteString("[]"); t.unique {
			b.WriteByte('!')
		}
		printType(b, t.elem)
	case *union:
		b.WriteByte('(')
		join(t.of, "|")
		b.WriteByte(')')
	case *intersection:
		b.WriteByte('(')
		join(t.of, "&")
		b.WriteByte(')')
	default:
		// The position in the source identifies a type that has no name, unless type
		// parameters were replaced in it.
		fmt.Fprintf(b, "at_%d_%d", t.at().line, t.at().column)
		if from, ok := t.(interface{ from() origin }); ok && len(from.from().with) > 0 {
			b.WriteByte('<')
			join(from.from().with, ",")
			b.WriteByte('>')
		}
	}
}

// emit returns the schema of a type.
func (e *emitter) emit(t typ) (schema, error) {
	if err := e.enter(t.at()); err != nil {
		return nil, err
	}
	defer e.leave()
	s, err := e.emitShape(t)
	if err != nil {
		return nil, err
	}
	return s, e.spend(t.at(), copied(s.size()))
}

func (e *emitter) emitShape(t typ) (schema, error) {
	switch t := t.(type) {
	case *keyword:
		return emitKeyword(t)
	case *literal:
		return schema{{"const", t.json}}, nil
	case *template:
		pattern, err := e.pattern(t)
		if err != nil {
			return nil, err
		}
		return schema{{"type", `"string"`}, {"pattern", quote("^" + pattern + "$")}}, nil
	case *array:
		items, err := e.emit(t.elem)
		if err != nil {
			return nil, err
		}
		s := schema{{"type", `"array"`}, {"items", items.String()}}
		if t.unique {
			s = append(s, field{"uniqueItems", "true"})
		}
		return s, nil
	case *tuple:
		return e.emitTuple(t)
	case *object:
		return e.emitObject(t)
	case *union:
		return e.emitUnion(t)
	case *reference:
		if e.isNamed(t) {
			return e.refer(t)
		}
	}
	shape, err := e.expand(t)
	if err != nil {
		return nil, err
	}
	return e.emit(shape)
}

// isNamed reports whether a reference gets its own definition because the type could
// contain itself.
func (e *emitter) isNamed(t *reference) bool {
	switch t.name {
	case "Partial", "Required", "Pick", "Omit":
		return true
	}
	_, builtin := utilities[t.name]
	return !builtin && !strings.Contains(t.name, ".")
}

func emitKeyword(t *keyword) (schema, error) {
	switch t.name {
	case "any", "unknown":
		return schema{}, nil
	case "never":
		return schema{{"not", "{}"}}, nil
	case "bigint":
		return schema{{"type", `"integer"`}}, nil
	case "Date":
		return schema{{"type", `"string"`}, {"format", `"date-time"`}}, nil
	case "undefined", "void", "symbol":
		return nil, t.errorf("%s has no JSON form", t.name)
	default:
		return schema{{"type", quote(t.name)}}, nil
	}
}

func (e *emitter) emitTuple(t *tuple) (schema, error) {
	var prefix []string
	least := 0
	rest := "false"
	for _, x := range t.elems {
		if x.rest {
			shape, err := e.expand(x.typ)
			if err != nil {
				return nil, err
			}
			a, ok := shape.(*array)
			if !ok {
				return nil, x.typ.at().errorf("a rest element needs an array type")
			}
			s, err := e.emit(a.elem)
			if err != nil {
				return nil, err
			}
			rest = s.String()
			continue
		}
		s, err := e.emit(x.typ)
		if err != nil {
			return nil, err
		}
		prefix = append(prefix, s.String())
		if !x.optional {
			least = len(prefix)
		}
	}
	s := schema{{"type", `"array"`}}
	if len(prefix) > 0 {
		s = append(s, field{"prefixItems", list(prefix)})
	}
	s = append(s, field{"items", rest})
	if least > 0 {
		s = append(s, field{"minItems", strconv.Itoa(least)})
	}
	return s, nil
}

func (e *emitter) emitObject(t *object) (schema, error) {
	var properties, patterns schema
	var required []string
	byPattern := map[string]int{} // index in patterns
	for _, m := range t.members {
		of, optional, err := e.withoutUndefined(m.typ)
		if err != nil {
			return nil, err
		}
		if of == nil { // the property can only be absent
			continue
		}
		s, err := e.emit(of)
		if err != nil {
			return nil, err
		}
		if s, err = e.describe(s, m.doc); err != nil {
			return nil, err
		}
		properties = append(properties, field{m.name, s.String()})
		if !m.optional && !optional {
			required = append(required, quote(m.name))
		}
	}
	more := "false"
	for _, x := range t.indexes {
		s, err := e.emit(x.value)
		if err != nil {
			return nil, err
		}
		if s, err = e.describe(s, x.doc); err != nil {
			return nil, err
		}
		keys, err := e.alternatives(x.key)
		if err != nil {
			return nil, err
		}
		text := s.String()
		for _, key := range keys {
			if k, ok := key.(*keyword); ok && (k.name == "string" || k.name == "any") {
				more = text
				continue
			}
			pattern, err := e.pattern(key)
			if err != nil {
				return nil, err
			}
			if err := e.spend(key.at(), copied(len(text))); err != nil {
				return nil, err
			}
			i, known := byPattern[pattern]
			if !known {
				i = len(patterns)
				byPattern[pattern] = i
				patterns = append(patterns, field{key: "^" + pattern + "$"})
			}
			patterns[i].value = text
		}
	}
	out := schema{{"type", `"object"`}}
	if len(properties) > 0 {
		out = append(out, field{"properties", properties.String()})
	}
	if len(patterns) > 0 {
		out = append(out, field{"patternProperties", patterns.String()})
	}
	if len(required) > 0 {
		out = append(out, field{"required", list(required)})
	}
	return append(out, field{"additionalProperties", more}), nil
}

// withoutUndefined removes undefined from a property's type and reports whether it
// was there. left is nil if nothing remains.
func (e *emitter) withoutUndefined(t typ) (left typ, had bool, err error) {
	isUndefined := func(x typ) bool {
		k, ok := x.(*keyword)
		return ok && (k.name == "undefined" || k.name == "void")
	}
	if isUndefined(t) {
		return nil, true, nil
	}
	u, ok := t.(*union)
	if r, isReference := t.(*reference); isReference {
		if !e.isNamed(r) {
			return t, false, nil
		}
		// A named union keeps its name unless it contains undefined.
		body, _, err := e.instance(r)
		if err != nil || body == nil {
			return t, false, nil // reported when the type is emitted
		}
		u, ok = body.(*union)
	}
	if !ok {
		return t, false, nil
	}
	if err := e.spend(t.at(), len(u.of)); err != nil {
		return nil, false, err
	}
	out := &union{place: u.place}
	for _, x := range u.of {
		if isUndefined(x) {
			had = true
		} else {
			out.of = append(out.of, x)
		}
	}
	switch {
	case !had:
		return t, false, nil
	case len(out.of) == 0:
		return nil, true, nil
	}
	return out, true, nil
}

// emitUnion writes plain types as a list, literals as an enum, and all other types
// with them under anyOf.
func (e *emitter) emitUnion(t *union) (schema, error) {
	var types, values []string
	var others []schema
	seen := map[string]bool{} // texts of values and schemas
	isNew := func(text string) bool {
		was := seen[text]
		seen[text] = true
		return !was
	}
	var flat func(t *union) error
	flat = func(t *union) error {
		if err := e.enter(t.place); err != nil {
			return err
		}
		defer e.leave()
		for _, x := range t.of {
			switch x := x.(type) {
			case *union:
				if err := flat(x); err != nil {
					return err
				}
			case *literal:
				if err := e.spend(x.place, copied(len(x.json))); err != nil {
					return err
				}
				if isNew(x.json) {
					values = append(values, x.json)
				}
			default:
				s, err := e.emit(x)
				if err != nil {
					return err
				}
				switch text := s.String(); {
				case text == `{"not":{}}`: // never adds nothing
				case len(s) == 1 && s[0].key == "type":
					if isNew(text) {
						types = append(types, s[0].value)
					}
				case isNew(text):
					others = append(others, s)
				}
			}
		}
		return nil
	}
	if err := flat(t); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(others, func(o schema) bool { return len(o) == 0 }) {
		return schema{}, nil
	}
	if slices.Contains(values, "true") && slices.Contains(values, "false") {
		values = slices.DeleteFunc(values, func(v string) bool { return v == "true" || v == "false" })
		types = append(types, `"boolean"`)
	}
	if i := slices.Index(types, `"null"`); i >= 0 && len(values) > 0 && len(types) == 1 {
		types, values = nil, append(values, "null")
	}
	var parts []schema
	switch len(types) {
	case 0:
	case 1:
		parts = append(parts, schema{{"type", types[0]}})
	default:
		parts = append(parts, schema{{"type", list(types)}})
	}
	switch len(values) {
	case 0:
	case 1:
		parts = append(parts, schema{{"const", values[0]}})
	default:
		parts = append(parts, schema{{"enum", list(values)}})
	}
	parts = append(parts, others...)
	switch len(parts) {
	case 0:
		return schema{{"not", "{}"}}, nil
	case 1:
		return parts[0], nil
	}
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.String()
	}
	return schema{{"anyOf", list(texts)}}, nil
}

// pattern returns a regular expression for a type that is part of a string.
func (e *emitter) pattern(t typ) (string, error) {
	if err := e.enter(t.at()); err != nil {
		return "", err
	}
	defer e.leave()
	shape, err := e.expand(t)
	if err != nil {
		return "", err
	}
	text, err := e.patternOf(shape)
	if err != nil {
		return "", err
	}
	return text, e.spend(t.at(), copied(len(text)))
}

func (e *emitter) patternOf(shape typ) (string, error) {
	switch t := shape.(type) {
	case *literal:
		return escapePattern(t.text), e.spend(t.place, searched(len(t.text)))
	case *template:
		var b strings.Builder
		for i, text := range t.texts {
			if err := e.spend(t.place, searched(len(text))); err != nil {
				return "", err
			}
			b.WriteString(escapePattern(text))
			if i < len(t.holes) {
				hole, err := e.pattern(t.holes[i])
				if err != nil {
					return "", err
				}
				b.WriteString("(?:" + hole + ")")
			}
		}
		return b.String(), nil
	case *union:
		var parts []string
		for _, x := range t.of {
			part, err := e.pattern(x)
			if err != nil {
				return "", err
			}
			parts = append(parts, part)
		}
		return "(?:" + strings.Join(parts, "|") + ")", nil
	case *keyword:
		switch t.name {
		case "string", "any":
			return `[\s\S]*`, nil
		case "number":
			return `-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?`, nil
		case "bigint":
			return `-?(?:0|[1-9][0-9]*)`, nil
		case "boolean":
			return `true|false`, nil
		case "null", "undefined":
			return t.name, nil
		}
	}
	return "", shape.at().errorf("the type can't be part of a string")
}

func escapePattern(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(`\^$.|?*+()[]{}/`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
