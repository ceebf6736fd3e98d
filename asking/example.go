package asking

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
)

// Bounds of examples: of their nesting and size, and of the schemas that are followed for one.
const (
	exampleDepth = 6
	exampleBytes = 2 << 10
	exampleSteps = 400
)

// ExampleQuestion asks for the example, in an exchange of strategy Instructed before the conversation: small models follow what they
// seem to have written before, where they don't follow a schema, nor an example beside it.
const ExampleQuestion = "Show me the form of the answer, with example values."

// Example returns a document that fits the schema; "" if none is found that is short enough. fits has the last word.
func (f *Format) Example(fits func(document []byte) bool) string {
	if !f.JSON || len(f.Shown) > 0 {
		if len(f.Shown) > 0 && fits(f.Shown) {
			return string(f.Shown)
		}
		return ""
	}
	root, err := jsondoc.Parse(string(f.Schema), 200)
	if err != nil || root.Kind != jsondoc.Object || len(root.Members) == 0 {
		return ""
	}
	for _, all := range []bool{true, false} { // with all members, or else with those that are required
		m := maker{root: root, all: all}
		if text, ok := m.value([]*jsondoc.Value{root}, "", 0, 0); ok && len(text) <= exampleBytes && fits([]byte(text)) {
			return text
		}
	}
	return ""
}

// A maker makes an example.
type maker struct {
	root  *jsondoc.Value
	all   bool // optional members too
	steps int
}

// views returns the schemas that a value of these must fit, those behind references and the first of alternatives included.
func (m *maker) views(list []*jsondoc.Value, depth int) (out []*jsondoc.Value, ok bool) {
	for _, s := range list {
		if m.steps++; m.steps > exampleSteps || depth > exampleDepth || s.Kind == jsondoc.False {
			return nil, false
		}
		if s.Kind != jsondoc.Object {
			continue
		}
		out = append(out, s)
		var more []*jsondoc.Value
		if ref := s.Get("$ref"); ref != nil {
			target := m.target(ref.Text)
			if target == nil {
				return nil, false
			}
			more = append(more, target)
		}
		if both := s.Get("allOf"); both != nil {
			more = append(more, both.Items...)
		}
		for _, name := range []string{"anyOf", "oneOf"} {
			if either := s.Get(name); either != nil {
				for _, one := range either.Items {
					if kind := one.Get("type"); kind == nil || kind.Text != "null" {
						more = append(more, one)
						break
					}
				}
			}
		}
		if len(more) > 0 {
			below, ok := m.views(more, depth+1)
			if !ok {
				return nil, false
			}
			out = append(out, below...)
		}
	}
	return out, true
}

// target returns the schema that a reference within the document names; nil if there is none.
func (m *maker) target(ref string) *jsondoc.Value {
	path, local := strings.CutPrefix(ref, "#")
	if !local || path != "" && path[0] != '/' {
		return nil
	}
	at := m.root
	for _, token := range strings.Split(path, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if at.Kind == jsondoc.Array {
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at.Items) {
				return nil
			}
			at = at.Items[i]
			continue
		}
		if at = at.Get(token); at == nil {
			return nil
		}
	}
	return at
}

// value returns a value that fits all of the schemas, probably. name is that of the member, i the place in an array.
func (m *maker) value(schemas []*jsondoc.Value, name string, i, depth int) (string, bool) {
	views, ok := m.views(schemas, 0)
	if !ok || depth > exampleDepth {
		return "", false
	}
	get := func(keyword string) *jsondoc.Value {
		for _, s := range views {
			if v := s.Get(keyword); v != nil {
				return v
			}
		}
		return nil
	}
	if v := get("const"); v != nil {
		return written(v), true
	}
	if v := get("enum"); v != nil && len(v.Items) > 0 {
		return written(v.Items[i%len(v.Items)]), true
	}
	if v := get("examples"); v != nil && len(v.Items) > 0 {
		return written(v.Items[i%len(v.Items)]), true
	}
	kind := ""
	if v := get("type"); v != nil {
		kind = v.Text
		for _, one := range v.Items {
			if kind == "" || kind == "null" {
				kind = one.Text
			}
		}
	}
	switch {
	case kind == "object", kind == "" && get("properties") != nil:
		return m.object(views, depth)
	case kind == "array", kind == "" && (get("items") != nil || get("prefixItems") != nil):
		return m.array(get, name, depth)
	case kind == "integer", kind == "number":
		return numberWithin(get, kind == "integer", i), true
	case kind == "boolean":
		return "true", true
	case kind == "null":
		return "null", true
	}
	return text(get, name, i)
}

func (m *maker) object(views []*jsondoc.Value, depth int) (string, bool) {
	var order []string
	properties, required := map[string][]*jsondoc.Value{}, map[string]bool{}
	for _, s := range views {
		if list := s.Get("properties"); list != nil {
			for _, p := range list.Members {
				if properties[p.Key] == nil {
					order = append(order, p.Key)
				}
				properties[p.Key] = append(properties[p.Key], p.Value)
			}
		}
	}
	for _, s := range views {
		if list := s.Get("required"); list != nil {
			for _, r := range list.Items {
				if required[r.Text] = true; properties[r.Text] == nil {
					properties[r.Text] = []*jsondoc.Value{{Kind: jsondoc.True}}
					order = append(order, r.Text)
				}
			}
		}
	}
	var b strings.Builder
	for _, key := range order {
		if !m.all && !required[key] {
			continue
		}
		value, ok := m.value(properties[key], key, 0, depth+1)
		if !ok && required[key] {
			return "", false
		}
		if !ok {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoted(key) + ": " + value)
	}
	return "{" + b.String() + "}", true
}

func (m *maker) array(get func(string) *jsondoc.Value, name string, depth int) (string, bool) {
	least, most := 1, math.MaxInt
	if v := get("minItems"); v != nil {
		least = max(least, int(numberOf(v)))
	}
	if v := get("maxItems"); v != nil {
		most = int(numberOf(v))
	}
	var first []*jsondoc.Value
	if v := get("prefixItems"); v != nil {
		first = v.Items
		least = max(least, len(first))
	}
	item := get("items")
	var items []string
	for i := range min(least, most, 8) {
		of := item
		if i < len(first) {
			of = first[i]
		}
		if of == nil {
			of = &jsondoc.Value{Kind: jsondoc.True}
		}
		value, ok := m.value([]*jsondoc.Value{of}, name, i, depth+1)
		if !ok {
			break // fewer items may do
		}
		items = append(items, value)
	}
	return "[" + strings.Join(items, ", ") + "]", true
}

// numberWithin returns a number between the bounds.
func numberWithin(get func(string) *jsondoc.Value, whole bool, i int) string {
	least, most, step := math.Inf(-1), math.Inf(1), 0.0
	if v := get("multipleOf"); v != nil {
		step = numberOf(v)
	}
	if whole && step == 0 {
		step = 1
	}
	apart := step
	if apart == 0 {
		apart = 0.5
	}
	for name, f := range map[string]func(float64){
		"minimum": func(x float64) { least = max(least, x) }, "exclusiveMinimum": func(x float64) { least = max(least, x+apart) },
		"maximum": func(x float64) { most = min(most, x) }, "exclusiveMaximum": func(x float64) { most = min(most, x-apart) },
	} {
		if v := get(name); v != nil && v.Kind == jsondoc.Number {
			f(numberOf(v))
		}
	}
	x := 12.5
	switch {
	case least > x || most < x && !math.IsInf(least, -1) && !math.IsInf(most, 1):
		x = least
		if !math.IsInf(most, 1) {
			x = (least + most) / 2
		}
	case most < x:
		x = most
	}
	if step > 0 {
		if x = math.Floor(x/step) * step; x < least {
			x += step
		}
	}
	return strconv.FormatFloat(x+float64(i)*apart, 'f', -1, 64)
}

func numberOf(v *jsondoc.Value) float64 {
	x, err := strconv.ParseFloat(v.Text, 64)
	if err != nil {
		return 0
	}
	return x
}

// formats are texts for the formats of strings that are used most.
var formats = map[string]string{
	"date": "2025-03-14", "date-time": "2025-03-14T09:30:00Z", "time": "09:30:00Z", "duration": "P3D", "email": "someone@example.com",
	"uri": "https://example.com/a", "hostname": "example.com", "ipv4": "192.0.2.1", "uuid": "0b54f3a8-3f0c-4b6a-9b2e-2f6c1d0e9a77",
}

// text returns a text of the length, pattern and format.
func text(get func(string) *jsondoc.Value, name string, i int) (string, bool) {
	least, most := 0, math.MaxInt32
	if v := get("minLength"); v != nil {
		least = int(numberOf(v))
	}
	if v := get("maxLength"); v != nil {
		most = int(numberOf(v))
	}
	usual := "some text"
	if name != "" {
		usual = "some " + strings.NewReplacer("_", " ", "-", " ").Replace(name)
	}
	if i > 0 {
		usual += " " + strconv.Itoa(i+1)
	}
	pattern, format := get("pattern"), get("format")
	if format != nil && formats[format.Text] != "" {
		usual = formats[format.Text]
	}
	if n := len([]rune(usual)); pattern == nil && n >= least && n <= most && (format == nil || formats[format.Text] != "") {
		return quoted(usual), true
	}
	store := regular.NewStore(regular.Limits{Work: 1 << 20})
	store.Report(regular.NewUser(nil, func(*regular.LimitError) {}))
	language := store.Length(least, most)
	if pattern != nil {
		e, err := store.Pattern(pattern.Text)
		if err != nil {
			return "", false
		}
		language = store.And(language, e)
	}
	if format != nil {
		if e, ok := store.Format(format.Text); ok {
			language = store.And(language, e)
		}
	}
	if m, err := store.Compile(store.And(language, store.Literal(usual))); err == nil && m.Start() != regular.Dead {
		return quoted(usual), true
	}
	for { // the i-th shortest, so that items differ
		machine, err := store.Compile(language)
		if err != nil || machine.Start() == regular.Dead {
			return "", false
		}
		shortest := machine.Shortest(machine.Start())
		if i--; i < 0 {
			return quoted(shortest), true
		}
		language = store.And(language, store.Not(store.Literal(shortest)))
	}
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(out)
}

// written writes a value as JSON.
func written(v *jsondoc.Value) string {
	var parts []string
	switch v.Kind {
	case jsondoc.Null:
		return "null"
	case jsondoc.False:
		return "false"
	case jsondoc.True:
		return "true"
	case jsondoc.Number:
		return v.Text
	case jsondoc.String:
		return quoted(v.Text)
	case jsondoc.Array:
		for _, item := range v.Items {
			parts = append(parts, written(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	for _, m := range v.Members {
		parts = append(parts, quoted(m.Key)+": "+written(m.Value))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
