package nested

import (
	"slices"
	"strings"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/number"
)

// A Types is a set of the types of JSON values.
type Types uint8

// The types. A number may be an integer.
const (
	String Types = 1 << iota
	Integer
	Number
	Boolean
	Null
	Object
	Array
	All = 1<<iota - 1
)

var typeNames = map[string]Types{
	"string": String, "integer": Integer, "number": Number | Integer, "boolean": Boolean, "null": Null, "object": Object, "array": Array,
}

// TypesOf returns the set of the named types.
func TypesOf(names []string) (t Types) {
	for _, name := range names {
		t |= typeNames[name]
	}
	return t
}

// typeOf returns the type of a value.
func typeOf(v *jsondoc.Value) Types {
	switch v.Kind {
	case jsondoc.String:
		return String
	case jsondoc.Null:
		return Null
	case jsondoc.Number:
		if d, err := number.Parse(v.Text); err == nil && (&number.Spec{Integer: true}).Contains(d) {
			return Integer
		}
		return Number
	case jsondoc.Object:
		return Object
	case jsondoc.Array:
		return Array
	}
	return Boolean
}

// A part is a schema that a value must fulfil, without its references and conjunctions, and without the alternatives that have
// been chosen.
type part struct {
	schema       *jsondoc.Value
	anyOf, oneOf bool // has been chosen
}

// A demand is what several schemas demand of a value together.
type demand struct {
	types    Types
	listed   []*jsondoc.Value // the only values, if isListed
	isListed bool

	names    []string
	members  map[string][]*jsondoc.Value
	required []string
	patterns []jsondoc.Member // patternProperties
	others   []*jsondoc.Value // additionalProperties
	open     bool             // others are allowed

	first              [][]*jsondoc.Value // of the first items
	items              []*jsondoc.Value   // of the others
	minItems, maxItems int                // most -1: no limit

	keywords  map[string]bool // that it has
	numbers   number.Spec
	texts     []regular.Expr
	minLength int
	maxLength int
}

// maxParts limits the schemas that describe one value.
const maxParts = 1000

// flatten collects the schemas for one value: those given, and those that they refer to or join.
func (c *compiler) flatten(list []part) (out []part) {
	seen := map[part]bool{}
	var add func(p part)
	add = func(p part) {
		if seen[p] || len(out) > maxParts {
			return
		}
		seen[p] = true
		out = append(out, p)
		if ref := p.schema.Get("$ref"); ref != nil {
			if to := c.resolve(ref.Text); to != nil {
				add(part{schema: to})
			} else {
				c.unchecked["$ref"] = true
			}
		}
		if all := p.schema.Get("allOf"); all != nil {
			for _, s := range all.Items {
				add(part{schema: s})
			}
		}
	}
	for _, p := range list {
		add(p)
	}
	return out
}

// resolve returns the target of a reference within the document, or nil.
func (c *compiler) resolve(ref string) *jsondoc.Value {
	if ref == "#" {
		return c.root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := c.root
	for step := range strings.SplitSeq(path, "/") {
		if at == nil {
			return nil
		}
		step = jsondoc.UnescapePointer(step)
		if at.Kind == jsondoc.Array {
			i := 0
			for _, digit := range step {
				i = i*10 + int(digit-'0')
			}
			if i < 0 || i >= len(at.Items) {
				return nil
			}
			at = at.Items[i]
			continue
		}
		at = at.Get(step)
	}
	return at
}

// choose returns the alternatives of the first part that has some, each together with the other parts; nil if none has. The
// alternatives of oneOf must exclude each other, which is not enforced.
func (c *compiler) choose(parts []part) (ways [][]part) {
	for i, p := range parts {
		list := p.schema.Get("anyOf")
		rest := slices.Clone(parts)
		if list == nil || p.anyOf {
			if list = p.schema.Get("oneOf"); list == nil || p.oneOf {
				continue
			}
			rest[i].oneOf = true
			if !c.disjoint(list.Items) {
				c.unchecked["oneOf"] = true
			}
		} else {
			rest[i].anyOf = true
		}
		ways = [][]part{}
		for _, one := range list.Items {
			ways = append(ways, append(slices.Clone(rest), part{schema: one}))
		}
		return ways
	}
	return nil
}

// disjoint reports whether schemas obviously exclude each other: by their types or by their only values, or those of a required
// member.
func (c *compiler) disjoint(list []*jsondoc.Value) bool {
	ds := make([]*demand, len(list))
	for i, s := range list {
		parts := c.flatten([]part{{schema: s}})
		if ds[i] = c.demand(parts); c.choose(parts) != nil {
			return false
		}
	}
	apart := func(a, b *demand) bool {
		if a.types&b.types == 0 {
			return true
		}
		differ := func(a, b *demand) bool {
			return a.isListed && b.isListed && !slices.ContainsFunc(a.listed, func(x *jsondoc.Value) bool { return contains(b.listed, x) })
		}
		if differ(a, b) {
			return true
		}
		if a.types != Object || b.types != Object {
			return false
		}
		for _, name := range a.required {
			if slices.Contains(b.required, name) && a.members[name] != nil && b.members[name] != nil {
				x, y := c.demand(c.flatten(plain(a.members[name]))), c.demand(c.flatten(plain(b.members[name])))
				if x.types&y.types == 0 || differ(x, y) {
					return true
				}
			}
		}
		return false
	}
	for i, a := range ds {
		for _, b := range ds[:i] {
			if !apart(a, b) {
				return false
			}
		}
	}
	return true
}

// plain returns schemas as parts.
func plain(list []*jsondoc.Value) (parts []part) {
	for _, s := range list {
		parts = append(parts, part{schema: s})
	}
	return parts
}

func contains(list []*jsondoc.Value, v *jsondoc.Value) bool {
	text := string(v.AppendCanonical(nil))
	return slices.ContainsFunc(list, func(x *jsondoc.Value) bool { return string(x.AppendCanonical(nil)) == text })
}

// demand returns what parts demand together, apart from their alternatives.
func (c *compiler) demand(parts []part) *demand {
	d := &demand{types: All, members: map[string][]*jsondoc.Value{}, keywords: map[string]bool{}, open: true, maxItems: -1, maxLength: -1}
	mentioned, named := false, false
	for _, p := range parts {
		switch p.schema.Kind {
		case jsondoc.False:
			d.types = 0
		case jsondoc.Object:
			others := p.schema.Get("additionalProperties")
			mentioned = mentioned || others != nil || p.schema.Get("unevaluatedProperties") != nil || p.schema.Get("patternProperties") != nil
			for _, m := range p.schema.Members {
				c.keyword(d, m.Key, m.Value, p.schema)
			}
			named = named || len(d.names) > 0
		}
	}
	if c.closed && named && !mentioned {
		d.open = false
	}
	return d
}

// keyword adds what a keyword demands.
func (c *compiler) keyword(d *demand, key string, v, schema *jsondoc.Value) {
	d.keywords[key] = true
	switch key {
	case "type":
		var t Types
		for _, x := range append(slices.Clone(v.Items), v) {
			t |= typeNames[x.Text]
		}
		d.types &= t
	case "enum":
		c.list(d, v.Items)
	case "const":
		c.list(d, []*jsondoc.Value{v})
	case "properties":
		for _, m := range v.Members {
			if d.members[m.Key] == nil {
				d.names = append(d.names, m.Key)
			}
			d.members[m.Key] = append(d.members[m.Key], m.Value)
		}
	case "required":
		for _, x := range v.Items {
			d.required = append(d.required, x.Text)
		}
	case "patternProperties":
		d.patterns = append(d.patterns, v.Members...)
	case "additionalProperties", "unevaluatedProperties":
		d.others = append(d.others, v)
		d.open = d.open && v.Kind != jsondoc.False
	case "items":
		if v.Kind == jsondoc.Array {
			c.firstItems(d, v.Items)
		} else {
			d.items = append(d.items, v)
		}
	case "prefixItems":
		c.firstItems(d, v.Items)
	case "additionalItems":
		if items := schema.Get("items"); items != nil && items.Kind == jsondoc.Array {
			d.items = append(d.items, v)
		}
	case "minItems":
		d.minItems = max(d.minItems, c.count(v))
	case "maxItems":
		d.maxItems = least(d.maxItems, c.count(v))
	case "minLength":
		d.minLength = max(d.minLength, c.count(v))
	case "maxLength":
		d.maxLength = least(d.maxLength, c.count(v))
	case "pattern":
		c.text(d, key, func() (regular.Expr, bool) {
			e, err := c.store.Pattern(v.Text)
			return e, err == nil
		})
	case "format":
		if pattern := looseFormats[v.Text]; pattern != "" {
			c.unchecked[key] = true
			if e, err := c.store.Pattern(pattern); err == nil {
				d.texts = append(d.texts, e)
			}
		} else if e, ok := c.store.Format(v.Text); ok {
			d.texts = append(d.texts, e)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		c.bound(d, key, v)
	case "uniqueItems":
		if v.Kind == jsondoc.True {
			c.unchecked[key] = true
		}
	case "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "contains", "minContains", "maxContains",
		"minProperties", "maxProperties", "propertyNames", "unevaluatedItems", "$dynamicRef", "$recursiveRef":
		c.unchecked[key] = true
	}
}

// looseFormats are patterns in place of formats that take too many states. They allow a few more texts, such as 30 February.
var looseFormats = map[string]string{
	"date-time": `^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`,
}

// least returns the smaller of two limits, where a negative one is none.
func least(a, b int) int {
	if a < 0 {
		return b
	}
	return min(a, b)
}

// count returns a count that a schema demands.
func (c *compiler) count(v *jsondoc.Value) int {
	const most = 1 << 20
	d, err := number.Parse(v.Text)
	if err != nil {
		return 0
	}
	if d.Cmp(number.FromInt(most)) > 0 {
		return most
	}
	n := 0
	for _, digit := range d.String() {
		if digit < '0' || digit > '9' {
			break
		}
		n = n*10 + int(digit-'0')
	}
	return n
}

func (c *compiler) list(d *demand, values []*jsondoc.Value) {
	if d.isListed {
		values = slices.DeleteFunc(slices.Clone(values), func(v *jsondoc.Value) bool { return !contains(d.listed, v) })
	}
	d.listed, d.isListed = values, true
}

func (c *compiler) firstItems(d *demand, list []*jsondoc.Value) {
	for i, s := range list {
		if i == len(d.first) {
			d.first = append(d.first, nil)
		}
		d.first[i] = append(d.first[i], s)
	}
}

// text adds a language of strings, or reports the keyword if there is none.
func (c *compiler) text(d *demand, key string, of func() (regular.Expr, bool)) {
	if e, ok := of(); ok {
		d.texts = append(d.texts, e)
	} else {
		c.unchecked[key] = true
	}
}

// bound adds a bound of numbers.
func (c *compiler) bound(d *demand, key string, v *jsondoc.Value) {
	s := &d.numbers
	switch v.Kind {
	case jsondoc.True: // draft 4
		s.MinExclusive = s.MinExclusive || key == "exclusiveMinimum"
		s.MaxExclusive = s.MaxExclusive || key == "exclusiveMaximum"
	case jsondoc.Number:
		x, err := number.Parse(v.Text)
		if err != nil {
			c.unchecked[key] = true
			return
		}
		exclusive := strings.HasPrefix(key, "exclusive")
		switch key {
		case "multipleOf":
			s.MultipleOf = append(s.MultipleOf, x)
		case "minimum", "exclusiveMinimum":
			if s.Min == nil || x.Cmp(*s.Min) > 0 || x.Cmp(*s.Min) == 0 && exclusive {
				s.Min, s.MinExclusive = &x, exclusive || s.Min == nil && s.MinExclusive
			}
		default:
			if s.Max == nil || x.Cmp(*s.Max) < 0 || x.Cmp(*s.Max) == 0 && exclusive {
				s.Max, s.MaxExclusive = &x, exclusive || s.Max == nil && s.MaxExclusive
			}
		}
	}
}
