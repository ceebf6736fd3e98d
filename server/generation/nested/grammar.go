package nested

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
)

// A Value is a schema's values in a notation.
type Value struct {
	Grammar   string   // in GBNF
	Shape     *Shape   // to read them
	Unchecked []string // keywords that the grammar doesn't enforce, sorted
}

// A Shape says which values may stand where, as far as it takes to read them.
type Shape struct {
	types   Types
	members map[string]*Shape
	other   *Shape // of members that aren't named
	first   []*Shape
	item    *Shape
}

// Limits of a grammar.
const (
	maxRules  = 50_000
	maxBytes  = 8 << 20
	maxDepth  = 512
	maxStates = 12_000 // of an automaton of strings or numbers
)

// Compile returns the values of the schema part, in a document root that it may refer to, that are of some types. In a closed
// object, members must be named where the schema names some and doesn't mention others. An error says why there is no grammar.
func Compile(n *chat.Notation, root, of *jsondoc.Value, types Types, closed bool) (v Value, err error) {
	c := &compiler{n: n, root: root, closed: closed, rules: map[string]string{}, shapes: map[string]*Shape{}, unchecked: map[string]bool{},
		store: regular.NewStore(regular.Limits{}), texts: map[regular.Expr]string{}, numbers: map[string]string{}, sets: map[string]string{}}
	ways := []string{c.value([]part{{schema: of}}, types&c.member())}
	if types&Null != 0 && n.OmitsNull && c.shape([]part{{schema: of}}, types).types&Null != 0 {
		ways = append(ways, literal(nullWord)) // an argument is not left out
	}
	if c.failed != nil {
		return Value{}, c.failed
	}
	v.Grammar = "root ::= " + strings.Join(ways, " | ") + "\n" + c.out.String()
	v.Shape = c.shape([]part{{schema: of}}, types)
	for key := range c.unchecked {
		v.Unchecked = append(v.Unchecked, key)
	}
	slices.Sort(v.Unchecked)
	return v, nil
}

// nullWord is an argument that is null, where the notation leaves members out that are.
const nullWord = "null"

type compiler struct {
	n      *chat.Notation
	root   *jsondoc.Value
	closed bool

	out       strings.Builder
	rules     map[string]string // names of rules, by what they describe
	made      int               // names
	shapes    map[string]*Shape
	unchecked map[string]bool
	failed    error

	store   *regular.Store
	texts   map[regular.Expr]string
	numbers map[string]string // by key of the automaton
	sets    map[string]string // of characters with escapes
	escapes string            // the rule of characters that Python escapes
}

// never is a rule without texts.
const never = "never"

// rule writes a rule of some alternatives under a name.
func (c *compiler) rule(name string, alternatives []string) {
	if c.out.Len() > maxBytes && c.failed == nil {
		c.failed = fmt.Errorf("the grammar of its values in the model's notation is larger than %d bytes", maxBytes)
	}
	if c.failed == nil {
		c.out.WriteString(name + " ::= " + strings.Join(alternatives, " | ") + "\n")
	}
}

// name returns a new name.
func (c *compiler) name(kind string) string {
	if c.made++; c.made > maxRules && c.failed == nil {
		c.failed = fmt.Errorf("the grammar of its values in the model's notation has more than %d rules", maxRules)
	}
	return fmt.Sprintf("%s%d", kind, c.made)
}

// joined writes alternatives as a rule and returns what refers to it: never if there are none.
func (c *compiler) joined(kind string, alternatives []string) string {
	alternatives = slices.DeleteFunc(alternatives, func(s string) bool { return s == never })
	switch len(alternatives) {
	case 0:
		return never
	case 1:
		if !strings.Contains(alternatives[0], " ") {
			return alternatives[0]
		}
	}
	name := c.name(kind)
	c.rule(name, alternatives)
	return name
}

// sequence returns one text after another, without empty ones; never if one of them is.
func sequence(parts ...string) string {
	if slices.Contains(parts, never) {
		return never
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == `""` })
	if len(parts) == 0 {
		return `""`
	}
	return strings.Join(parts, " ")
}

// literal returns a text as an element of a grammar.
func literal(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\x%02X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// keyOf identifies parts and types.
func keyOf(parts []part, types Types) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%p%t%t ", p.schema, p.anyOf, p.oneOf)
	}
	return fmt.Sprint(b.String(), types)
}

// value returns the rule of the values that fulfil all parts and are of some types.
func (c *compiler) value(parts []part, types Types) string {
	parts = c.flatten(parts)
	key := keyOf(parts, types)
	if name, ok := c.rules[key]; ok || c.failed != nil {
		return name
	}
	name := c.name("value")
	c.rules[key] = name
	alternatives := c.alternatives(parts, types)
	alternatives = slices.DeleteFunc(alternatives, func(s string) bool { return s == never })
	if len(alternatives) == 0 {
		alternatives = []string{`"x" ` + name} // has no text
	}
	c.rule(name, alternatives)
	return name
}

func (c *compiler) alternatives(parts []part, types Types) (out []string) {
	if ways := c.choose(parts); ways != nil {
		for _, w := range ways {
			out = append(out, c.value(w, types))
		}
		return out
	}
	d := c.demand(parts)
	types &= d.types
	if d.isListed {
		for _, v := range d.listed {
			if typeOf(v)&types != 0 {
				out = append(out, c.listed(v))
			}
		}
		return out
	}
	if types&String != 0 {
		out = append(out, c.strings(d))
	}
	if types&(Integer|Number) != 0 {
		d.numbers.Integer = types&Number == 0
		out = append(out, c.number(d))
	}
	if types&Boolean != 0 {
		out = append(out, literal(c.n.True), literal(c.n.False))
	}
	if types&Null != 0 {
		out = append(out, literal(c.n.Null))
	}
	if types&Object != 0 {
		out = append(out, c.object(d))
	}
	if types&Array != 0 {
		out = append(out, c.array(d))
	}
	return out
}

// listed returns the text of a value that a schema lists.
func (c *compiler) listed(v *jsondoc.Value) string {
	if v.Kind == jsondoc.String && strings.Contains(v.Text, c.end()) && c.end() != "" {
		return never // it would end within
	}
	text, err := c.n.Write(appendJSON(nil, v))
	if err != nil {
		return never
	}
	return literal(text)
}

// appendJSON appends a value as it was written.
func appendJSON(b []byte, v *jsondoc.Value) []byte {
	switch v.Kind {
	case jsondoc.Null:
		return append(b, "null"...)
	case jsondoc.False:
		return append(b, "false"...)
	case jsondoc.True:
		return append(b, "true"...)
	case jsondoc.Number:
		return append(b, v.Text...)
	case jsondoc.String:
		return jsondoc.AppendQuoted(b, v.Text)
	case jsondoc.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	}
	b = append(b, '{')
	for i, m := range v.Members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(jsondoc.AppendQuoted(b, m.Key), ':')
		b = appendJSON(b, m.Value)
	}
	return append(b, '}')
}

// end returns the text that ends a string without escapes.
func (c *compiler) end() string {
	if c.n.Python {
		return ""
	}
	if c.n.Quote != "" {
		return c.n.Quote
	}
	return c.n.Marks()
}

// member returns the types that the value of a member may have.
func (c *compiler) member() Types {
	if c.n.OmitsNull {
		return All &^ Null
	}
	return All
}

// object returns objects: the named members in the notation's order, then others.
func (c *compiler) object(d *demand) string {
	names := slices.Clone(d.names)
	for _, name := range d.required {
		if d.members[name] == nil && d.open {
			names = append(names, name)
			d.members[name] = d.others
		}
	}
	c.n.Sort(names)
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = sequence(literal(c.n.KeyOpen+c.n.Key(name)+c.n.KeyClose), c.value(plain(d.members[name]), c.member()), literal(c.n.End(name)))
	}
	more := c.others(d, names)
	comma := literal(c.n.Comma)
	// rest describes what follows when the members before i are done; begun: some have been written.
	after := make([][2]string, len(names)+1)
	for i := len(names); i >= 0; i-- {
		for b, begun := range []bool{false, true} {
			var ways []string
			required := false
			for k := i; k < len(names) && !required; k++ {
				lead := `""`
				if begun {
					lead = comma
				}
				ways = append(ways, sequence(lead, values[k], after[k+1][1]))
				required = slices.Contains(d.required, names[k])
			}
			if !required {
				ways = append(ways, `""`)
				switch {
				case more == never:
				case begun:
					ways = append(ways, "( "+sequence(comma, more)+" )+")
				default:
					ways = append(ways, more+" ( "+sequence(comma, more)+" )*")
				}
			}
			if after[i][b] = c.joined("rest", ways); c.n.Comma == "" {
				after[i][1] = after[i][0]
				break
			}
		}
	}
	return sequence(literal(c.n.Open), after[0][0], literal(c.n.Close))
}

// others returns a member that isn't named, never if there is none. If its key is repeated after the value, only named members can
// be written.
func (c *compiler) others(d *demand, names []string) string {
	if !d.open && len(d.patterns) == 0 {
		return never
	}
	if strings.Contains(c.n.MemberEnd, chat.SlotKey) {
		if len(d.patterns) > 0 || len(d.others) > 0 || len(names) == 0 {
			c.unchecked["additionalProperties"] = true
		}
		return never
	}
	free := []regular.Expr{c.store.Not(c.store.Strings(names))}
	var ways []string
	way := func(keys regular.Expr, values []*jsondoc.Value) {
		ways = append(ways, sequence(literal(c.n.KeyOpen), c.keys(keys), literal(c.n.KeyClose), c.value(plain(values), c.member()), literal(c.n.MemberEnd)))
	}
	for _, m := range d.patterns {
		e, err := c.store.Pattern(m.Key)
		if err != nil {
			c.unchecked["patternProperties"] = true
			continue
		}
		way(c.store.And(append(slices.Clone(free), e)...), []*jsondoc.Value{m.Value})
		free = append(free, c.store.Not(e)) // a key of several patterns is of the first one
		if len(d.patterns) > 1 {
			c.unchecked["patternProperties"] = true
		}
	}
	if d.open {
		way(c.store.And(free...), d.others)
	}
	return c.joined("member", ways)
}

// array returns arrays.
func (c *compiler) array(d *demand) string {
	open, closing, comma := literal(c.n.ListOpen), literal(c.n.ListClose), literal(c.n.ItemComma)
	item := func(list []*jsondoc.Value) string {
		return sequence(literal(c.n.ItemOpen), c.value(plain(list), All), literal(c.n.ItemClose))
	}
	most := d.maxItems
	if slices.ContainsFunc(d.items, func(v *jsondoc.Value) bool { return v.Kind == jsondoc.False }) {
		most = least(most, len(d.first))
	}
	if most >= 0 && most < d.minItems {
		return never
	}
	// From the last to the first: what follows i items.
	rest := `""`
	n := len(d.first)
	if most >= 0 {
		n = min(n, most)
	}
	if most < 0 || most > n {
		other := item(d.items)
		bounds := fmt.Sprintf("{%d,%s}", max(0, d.minItems-n), bound(most-n, most < 0))
		switch {
		case other == never && d.minItems > n:
			return never
		case other == never:
		case n == 0:
			bounds = fmt.Sprintf("{%d,%s}", max(0, d.minItems-1), bound(most-1, most < 0))
			rest = sequence(other, "( "+sequence(comma, other)+" )"+bounds)
			if d.minItems == 0 {
				rest = c.joined("items", []string{`""`, rest})
			}
		default:
			rest = "( " + sequence(comma, other) + " )" + bounds
		}
	}
	for i := n - 1; i >= 0; i-- {
		lead := comma
		if i == 0 {
			lead = `""`
		}
		ways := []string{sequence(lead, item(d.first[i]), rest)}
		if i >= d.minItems {
			ways = append(ways, `""`)
		}
		rest = c.joined("items", ways)
	}
	return sequence(open, rest, closing)
}

// bound writes the upper bound of a repetition.
func bound(n int, none bool) string {
	if none {
		return ""
	}
	return fmt.Sprint(n)
}

// shape returns the shape of the values of parts.
func (c *compiler) shape(parts []part, types Types) *Shape {
	parts = c.flatten(parts)
	key := keyOf(parts, types)
	if s := c.shapes[key]; s != nil {
		return s
	}
	s := &Shape{members: map[string]*Shape{}}
	c.shapes[key] = s
	all := [][]part{parts}
	// The alternatives of all alternatives, as far as they are few.
	for i := 0; i < len(all) && len(all) < maxParts; i++ {
		for _, way := range c.choose(all[i]) {
			all = append(all, c.flatten(way))
		}
	}
	members, items := map[string][]part{}, []part{}
	var others []part
	first := [][]part{}
	for _, way := range all {
		if c.choose(way) != nil {
			continue
		}
		d := c.demand(way)
		listed := Types(0)
		for _, v := range d.listed {
			listed |= typeOf(v)
		}
		if d.isListed {
			d.types &= listed
		}
		s.types |= d.types & types
		for _, name := range d.names {
			members[name] = append(members[name], either(d.members[name]))
		}
		for _, m := range d.patterns {
			others = append(others, part{schema: m.Value})
		}
		others = append(others, either(d.others))
		items = append(items, either(d.items))
		for i, list := range d.first {
			if i == len(first) {
				first = append(first, nil)
			}
			first[i] = append(first[i], either(list))
		}
	}
	if s.types&Number != 0 {
		s.types |= Integer
	}
	for name, list := range members {
		s.members[name] = c.shape(anyOf(list), c.member())
	}
	for _, list := range first {
		s.first = append(s.first, c.shape(anyOf(list), All))
	}
	s.other, s.item = c.shape(anyOf(others), c.member()), c.shape(anyOf(items), All)
	return s
}

// either returns several schemas of one value as one part.
func either(list []*jsondoc.Value) part {
	switch len(list) {
	case 0:
		return part{schema: anything}
	case 1:
		return part{schema: list[0]}
	}
	return part{schema: &jsondoc.Value{Kind: jsondoc.Object, Members: []jsondoc.Member{{Key: "allOf", Value: &jsondoc.Value{Kind: jsondoc.Array, Items: list}}}}}
}

// anything is the schema of all values.
var anything = &jsondoc.Value{Kind: jsondoc.True}

// anyOf returns alternatives as the parts of a value.
func anyOf(list []part) []part {
	if len(list) <= 1 {
		return list
	}
	var schemas []*jsondoc.Value
	for _, p := range list {
		if !slices.Contains(schemas, p.schema) {
			schemas = append(schemas, p.schema)
		}
	}
	if len(schemas) == 1 {
		return []part{{schema: schemas[0]}}
	}
	return []part{{schema: &jsondoc.Value{Kind: jsondoc.Object, Members: []jsondoc.Member{{Key: "anyOf", Value: &jsondoc.Value{Kind: jsondoc.Array, Items: schemas}}}}}}
}
