package goschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// extra holds the keywords that a field's tags add to its schema.
type extra struct {
	typ      reflect.Type
	keywords object
	enum     []string
	examples []string
	required bool
	nullable bool
}

// numbers, texts and flags are the keywords of the tag, by type of value.
const (
	numbers = " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties "
	texts   = " title description format pattern "
	flags   = " uniqueItems deprecated "
)

// readTag reads the tags jsonschema and jsonschema_description.
func readTag(f field, path string) (*extra, error) {
	e := &extra{typ: f.typ}
	fail := func(format string, args ...any) (*extra, error) {
		return nil, &Error{path, f.typ, "tag jsonschema: " + fmt.Sprintf(format, args...)}
	}
	for _, part := range splitTag(f.tag.Get("jsonschema")) {
		key, value, given := strings.Cut(part, "=")
		in := func(list string) bool { return strings.Contains(list, " "+key+" ") }
		switch {
		case part == "-":
		case part == "required":
			e.required = true
		case part == "nullable":
			e.nullable = true
		case in(flags):
			if given && value != "true" && value != "false" {
				return fail("%s needs true or false, not %q", key, value)
			}
			if value != "false" {
				e.keywords = append(e.keywords, pair{key, "true"})
			}
		case !given || value == "":
			return fail("%q is unknown, or needs a value", part)
		case in(numbers):
			if !json.Valid([]byte(value)) || !strings.Contains("-0123456789", value[:1]) {
				return fail("%s needs a number, not %q", key, value)
			}
			e.keywords = append(e.keywords, pair{key, value})
		case in(texts):
			e.keywords = append(e.keywords, pair{key, quote(value)})
		case key == "enum" || key == "example" || key == "default":
			text, err := e.literal(value)
			if err != nil {
				return fail("%s: %v", key, err)
			}
			switch key {
			case "enum":
				e.enum = append(e.enum, text)
			case "example":
				e.examples = append(e.examples, text)
			default:
				e.keywords = append(e.keywords, pair{key, text})
			}
		default:
			return fail("%q is unknown", key)
		}
	}
	if text := f.tag.Get("jsonschema_description"); text != "" {
		e.keywords = append(e.keywords, pair{"description", quote(text)})
	}
	return e, nil
}

// splitTag splits a tag at commas that are not escaped by a backslash.
func splitTag(tag string) []string {
	if tag == "" {
		return nil
	}
	var parts []string
	var part strings.Builder
	for i := 0; i < len(tag); i++ {
		switch {
		case tag[i] == '\\' && i+1 < len(tag) && tag[i+1] == ',':
			part.WriteByte(',')
			i++
		case tag[i] == ',':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(tag[i])
		}
	}
	return append(parts, part.String())
}

// literal converts a value in a tag to JSON of the field's type.
func (e *extra) literal(value string) (string, error) {
	t := e.typ
	for t.Kind() == reflect.Pointer || (t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8) {
		t = t.Elem()
	}
	text := value
	if t.Kind() == reflect.String || implements(t, textType) {
		text = quote(value)
	}
	if err := json.Unmarshal([]byte(text), reflect.New(t).Interface()); err != nil {
		return "", fmt.Errorf("%q is not a value of type %s", value, t)
	}
	return text, nil
}

// apply adds the keywords to a schema. For slices, enum applies to the items.
func (e *extra) apply(s object) (object, error) {
	if len(e.enum) > 0 {
		enum := pair{"enum", "[" + strings.Join(e.enum, ",") + "]"}
		items := -1
		for i, p := range s {
			if p.key == "items" {
				items = i
			}
		}
		if items < 0 {
			s = append(append(object{}, s...), enum)
		} else {
			inner := s[items].value
			if !strings.HasSuffix(inner, "}") || inner == "{}" {
				return nil, errors.New("tag jsonschema: enum needs items of a type")
			}
			s = append(object{}, s...)
			s[items].value = strings.TrimSuffix(inner, "}") + "," + strings.TrimSuffix(strings.TrimPrefix(object{enum}.String(), "{"), "}") + "}"
		}
	}
	if e.nullable {
		s = nullable(s)
	}
	s = append(append(object{}, s...), e.keywords...)
	if len(e.examples) > 0 {
		s = append(s, pair{"examples", "[" + strings.Join(e.examples, ",") + "]"})
	}
	return override(s), nil
}

// override removes repeated keywords: the last value replaces the first one, at its
// position.
func override(s object) object {
	var out object
	places := map[string]int{}
	for _, p := range s {
		if i, ok := places[p.key]; ok {
			out[i].value = p.value
			continue
		}
		places[p.key] = len(out)
		out = append(out, p)
	}
	return out
}
