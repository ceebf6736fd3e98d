package bench

import (
	"math/rand/v2"
	"slices"
	"strconv"
)

// dice makes choices from bytes that a fuzzer may change one by one and, when they
// run out, from a generator that is seeded with them.
type dice struct {
	data []byte
	rng  *rand.Rand
}

func newDice(data []byte) *dice {
	var seed uint64 = 14695981039346656037
	for _, b := range data {
		seed = (seed ^ uint64(b)) * 1099511628211
	}
	return &dice{data, rand.New(rand.NewPCG(seed, uint64(len(data))))}
}

func (d *dice) n(n int) int {
	if n <= 1 {
		return 0
	}
	if len(d.data) == 0 || n > 256 {
		return d.rng.IntN(n)
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// chance returns true with a probability of p percent.
func (d *dice) chance(p int) bool { return d.n(100) < p }

func pick[T any](d *dice, of []T) T { return of[d.n(len(of))] }

// Pools of parts, small so that schemas and instances have parts in common.
var (
	poolNames   = []string{"a", "b", "ab", "abc", "c", "é", "", "a b"}
	poolStrings = []string{
		"", "a", "b", "ab", "abc", "aab", "foo", "bar", "x1", "é", "日本語", "😀", "a\nb", `q"q`, `b\s`, "a b", "0", "12", "\u0001", "A",
		"2024-02-29", "2023-02-29", "12:30:00Z", "2024-02-29T12:30:00Z", "1.2.3.4", "01.2.3.4", "::1", "a@b.cd", "http://a.b/c", "P1D",
		"550e8400-e29b-41d4-a716-446655440000", "/a/b", "aaaaaaaaaaaaaaaaaaaaaaaa",
	}
	poolNumbers = []string{
		"0", "1", "-1", "2", "3", "4", "5", "7", "10", "12", "100", "-3", "-10", "0.5", "1.5", "2.5", "-0.5", "0.1", "0.3", "3.25", "1.0", "2.50",
		"1e2", "5e-1", "-0", "0.0", "1E+1", "99", "101", "1000000", "12345678901234567890", "0.001", "1e-3",
	}
	poolBounds   = []string{"0", "1", "-1", "2", "5", "10", "1.5", "0.3", "-2.5", "100", "1e1", "99.9"}
	poolDivisors = []string{"1", "2", "3", "0.5", "0.1", "2.5", "7", "10", "1.5", "0.3", "12"}
	poolPatterns = []string{
		"^a", "b$", "a", "^[a-c]+$", "^.{2,3}$", "^(foo|bar)$", "^\\d+$", "[^a]", "^a*$", "^(?!a)", "^(?=.*b)a", "é", "^\\S+$", "^[A-Z]", "^ab?c?$",
		"^.*$", "", "^$", "\\n", "^(a|b){1,2}$", "x|y", "\\w$", "^[^b]*$", "(?<=a)b", "\\bab\\b",
	}
	poolFormats = []string{"date", "ipv4", "uuid", "json-pointer", "unheard-of"} // those that the validator checks as strictly as the engine
	poolTypes   = []string{"null", "boolean", "object", "array", "number", "string", "integer"}
)

// schemaMaker generates random schemas of one draft.
type schemaMaker struct {
	*dice
	draft string // as in suiteDrafts
	defs  []string
	small bool // prefer few keywords
}

func obj(pairs ...any) *value {
	v := &value{kind: kindObject}
	for i := 0; i < len(pairs); i += 2 {
		v.keys = append(v.keys, pairs[i].(string))
		v.items = append(v.items, pairs[i+1].(*value))
	}
	return v
}

func (v *value) put(key string, item *value) {
	if i := slices.Index(v.keys, key); i >= 0 {
		v.items[i] = item
		return
	}
	v.keys = append(v.keys, key)
	v.items = append(v.items, item)
}

func list(items ...*value) *value { return &value{kind: kindArray, items: items} }
func str(s string) *value         { return &value{kind: kindString, text: s} }
func num(s string) *value         { return &value{kind: kindNumber, text: s} }
func integer(n int) *value        { return num(strconv.Itoa(n)) }
func boolean(b bool) *value {
	if b {
		return &value{kind: kindTrue}
	}
	return &value{kind: kindFalse}
}

// document returns a complete schema with $schema and definitions.
func (g *schemaMaker) document() *value {
	d := suiteDrafts[len(suiteDrafts)-1]
	if g.chance(35) {
		d = pick(g.dice, suiteDrafts)
	}
	g.draft = d.folder
	g.small = g.chance(60)
	keyword := "$defs"
	if g.old() {
		keyword = "definitions"
	}
	defs := obj()
	for i := range g.n(3) {
		g.defs = append(g.defs, "#/"+keyword+"/"+string(rune('A'+i)))
	}
	root := g.schema(3)
	if root.kind != kindObject {
		return root
	}
	for i := range g.defs {
		defs.put(string(rune('A'+i)), g.schema(2))
	}
	if len(g.defs) > 0 {
		root.put(keyword, defs)
	}
	root.put("$schema", str(d.metaschema))
	return root
}

// old reports whether the draft is one of the first three.
func (g *schemaMaker) old() bool {
	return g.draft == "draft4" || g.draft == "draft6" || g.draft == "draft7"
}

// schema returns a schema with at most depth levels of applicators.
func (g *schemaMaker) schema(depth int) *value {
	if g.chance(6) && g.draft != "draft4" {
		return boolean(g.chance(70))
	}
	s := obj()
	if len(g.defs) > 0 && g.chance(12) {
		s.put("$ref", str(pick(g.dice, g.defs)))
		if g.old() || g.chance(60) {
			return s
		}
	} else if depth < 3 && g.chance(3) {
		s.put("$ref", str("#"))
		return s
	}
	if g.chance(65) {
		s.put("type", g.types())
	}
	for range 1 + g.n(3) {
		g.keyword(s, depth)
		if g.small && g.chance(50) {
			break
		}
	}
	return s
}

func (g *schemaMaker) types() *value {
	if g.chance(75) {
		return str(pick(g.dice, poolTypes))
	}
	l := list()
	for range 1 + g.n(3) {
		t := pick(g.dice, poolTypes)
		if !slices.ContainsFunc(l.items, func(v *value) bool { return v.text == t }) {
			l.items = append(l.items, str(t))
		}
	}
	return l
}

func (g *schemaMaker) schemas(depth, most int) *value {
	l := list()
	for range 1 + g.n(most) {
		l.items = append(l.items, g.schema(depth))
	}
	return l
}

// keyword adds one random keyword, or several that belong together.
func (g *schemaMaker) keyword(s *value, depth int) {
	leaf := []func(*value){g.bound, g.length, g.pattern, g.format, g.count, g.constant, g.constant, g.required, g.properties0}
	if depth <= 0 {
		pick(g.dice, leaf)(s)
		return
	}
	deep := []func(*value, int){
		g.properties, g.properties, g.properties, g.patternProperties, g.additional, g.names, g.dependent,
		g.items, g.items, g.prefix, g.contains, g.combine, g.combine, g.combine, g.negate, g.conditional, g.unevaluated,
	}
	if g.chance(40) {
		pick(g.dice, leaf)(s)
	} else {
		pick(g.dice, deep)(s, depth-1)
	}
}

func (g *schemaMaker) bound(s *value) {
	if g.chance(25) {
		s.put("multipleOf", num(pick(g.dice, poolDivisors)))
		return
	}
	key := pick(g.dice, []string{"minimum", "maximum"})
	if g.chance(30) {
		if g.draft == "draft4" {
			s.put("exclusiveM"+key[1:], boolean(true))
		} else {
			key = "exclusiveM" + key[1:]
		}
	}
	s.put(key, num(pick(g.dice, poolBounds)))
}

func (g *schemaMaker) length(s *value) {
	s.put(pick(g.dice, []string{"minLength", "maxLength"}), integer(g.n(5)))
}

func (g *schemaMaker) pattern(s *value) { s.put("pattern", str(pick(g.dice, poolPatterns))) }
func (g *schemaMaker) format(s *value)  { s.put("format", str(pick(g.dice, poolFormats))) }

func (g *schemaMaker) count(s *value) {
	switch g.n(5) {
	case 0, 1:
		s.put(pick(g.dice, []string{"minItems", "maxItems"}), integer(g.n(4)))
	case 2, 3:
		s.put(pick(g.dice, []string{"minProperties", "maxProperties"}), integer(g.n(4)))
	default:
		s.put("uniqueItems", boolean(g.chance(90)))
	}
}

func (g *schemaMaker) constant(s *value) {
	if g.chance(40) && g.draft != "draft4" {
		s.put("const", g.instance(2))
		return
	}
	l := list()
	for range 1 + g.n(4) {
		v := g.instance(2)
		text := string(appendJSON(nil, v, compactJSON))
		if !slices.ContainsFunc(l.items, func(o *value) bool { return string(appendJSON(nil, o, compactJSON)) == text }) {
			l.items = append(l.items, v)
		}
	}
	s.put("enum", l)
}

func (g *schemaMaker) nameList() *value {
	l := list()
	for range 1 + g.n(2) {
		name := pick(g.dice, poolNames)
		if !slices.ContainsFunc(l.items, func(o *value) bool { return o.text == name }) {
			l.items = append(l.items, str(name))
		}
	}
	return l
}

func (g *schemaMaker) required(s *value) { s.put("required", g.nameList()) }

func (g *schemaMaker) properties0(s *value) { g.properties(s, 0) }

func (g *schemaMaker) properties(s *value, depth int) {
	p := obj()
	for range 1 + g.n(3) {
		p.put(pick(g.dice, poolNames), g.schema(depth))
	}
	s.put("properties", p)
	if g.chance(50) {
		g.required(s)
	}
	if g.chance(30) {
		g.additional(s, depth)
	}
}

func (g *schemaMaker) patternProperties(s *value, depth int) {
	p := obj()
	for range 1 + g.n(2) {
		p.put(pick(g.dice, poolPatterns), g.schema(depth))
	}
	s.put("patternProperties", p)
}

func (g *schemaMaker) additional(s *value, depth int) {
	v := boolean(false)
	if g.chance(50) {
		v = g.schema(depth)
	}
	s.put("additionalProperties", v)
}

func (g *schemaMaker) names(s *value, depth int) {
	if g.draft != "draft4" {
		s.put("propertyNames", g.schema(0))
	}
}

func (g *schemaMaker) dependent(s *value, depth int) {
	d, names := obj(), obj()
	for range 1 + g.n(2) {
		d.put(pick(g.dice, poolNames), g.schema(depth))
		names.put(pick(g.dice, poolNames), g.nameList())
	}
	switch {
	case !g.old() && g.chance(50):
		s.put("dependentSchemas", d)
	case !g.old():
		s.put("dependentRequired", names)
	case g.chance(50):
		s.put("dependencies", d)
	default:
		s.put("dependencies", names)
	}
}

func (g *schemaMaker) items(s *value, depth int) {
	v := g.schema(depth)
	if v.kind == kindFalse && g.chance(70) {
		v = boolean(true)
	}
	s.put("items", v)
}

func (g *schemaMaker) prefix(s *value, depth int) {
	if g.draft == "draft2020-12" {
		s.put("prefixItems", g.schemas(depth, 3))
		return
	}
	s.put("items", g.schemas(depth, 3))
	if g.chance(60) {
		v := boolean(false)
		if g.chance(60) {
			v = g.schema(depth)
		}
		s.put("additionalItems", v)
	}
}

func (g *schemaMaker) contains(s *value, depth int) {
	if g.draft == "draft4" {
		return
	}
	s.put("contains", g.schema(depth))
	if g.old() {
		return
	}
	if g.chance(50) {
		s.put("minContains", integer(g.n(3)))
	}
	if g.chance(40) {
		s.put("maxContains", integer(g.n(3)))
	}
}

func (g *schemaMaker) combine(s *value, depth int) {
	s.put(pick(g.dice, []string{"allOf", "anyOf", "anyOf", "oneOf", "oneOf"}), g.schemas(depth, 3))
}

func (g *schemaMaker) negate(s *value, depth int) { s.put("not", g.schema(depth)) }

func (g *schemaMaker) conditional(s *value, depth int) {
	if g.draft == "draft4" || g.draft == "draft6" {
		return
	}
	s.put("if", g.schema(depth))
	if g.chance(70) {
		s.put("then", g.schema(depth))
	}
	if g.chance(60) {
		s.put("else", g.schema(depth))
	}
}

func (g *schemaMaker) unevaluated(s *value, depth int) {
	if g.old() {
		g.combine(s, depth)
		return
	}
	v := boolean(false)
	if g.chance(40) {
		v = g.schema(depth)
	}
	s.put(pick(g.dice, []string{"unevaluatedProperties", "unevaluatedItems"}), v)
	if g.chance(70) {
		g.combine(s, depth)
	}
}

// instance returns a random JSON value.
func (d *dice) instance(depth int) *value {
	k := d.n(12)
	switch {
	case k < 3:
		return str(pick(d, poolStrings))
	case k < 6:
		return num(pick(d, poolNumbers))
	case k == 6:
		return boolean(d.chance(50))
	case k == 7:
		return &value{kind: kindNull}
	case depth <= 0:
		return integer(d.n(5))
	case k < 10:
		o := obj()
		for range d.n(4) {
			o.put(pick(d, poolNames), d.instance(depth-1))
		}
		return o
	default:
		l := list()
		for range d.n(4) {
			l.items = append(l.items, d.instance(depth-1))
		}
		return l
	}
}

// clone returns a deep copy of a value.
func (v *value) clone() *value {
	c := *v
	c.keys = slices.Clone(v.keys)
	c.items = make([]*value, len(v.items))
	for i, item := range v.items {
		c.items[i] = item.clone()
	}
	return &c
}

// nodes appends v and all values in it to dst.
func (v *value) nodes(dst []*value) []*value {
	dst = append(dst, v)
	for _, item := range v.items {
		dst = item.nodes(dst)
	}
	return dst
}

// mutate returns a copy of v with one small change.
func (d *dice) mutate(v *value) *value {
	v = v.clone()
	at := pick(d, v.nodes(nil))
	switch {
	case d.chance(25):
		*at = *d.instance(1)
	case at.kind == kindNumber:
		*at = *num(pick(d, poolNumbers))
	case at.kind == kindString:
		d.mutateString(at)
	case at.kind == kindArray && len(at.items) > 0 && d.chance(60):
		i := d.n(len(at.items))
		if d.chance(50) {
			at.items = slices.Delete(at.items, i, i+1)
		} else {
			at.items = slices.Insert(at.items, d.n(len(at.items)+1), at.items[i].clone())
		}
	case at.kind == kindArray:
		at.items = append(at.items, d.instance(1))
	case at.kind == kindObject && len(at.items) > 0 && d.chance(60):
		i := d.n(len(at.items))
		switch d.n(3) {
		case 0:
			at.items, at.keys = slices.Delete(at.items, i, i+1), slices.Delete(at.keys, i, i+1)
		case 1:
			at.items[i] = d.instance(1)
		default:
			j := d.n(len(at.items)) // change the order
			at.items[i], at.items[j] = at.items[j], at.items[i]
			at.keys[i], at.keys[j] = at.keys[j], at.keys[i]
		}
	case at.kind == kindObject:
		at.put(pick(d, poolNames), d.instance(1))
	default:
		*at = *d.instance(0)
	}
	return v
}

func (d *dice) mutateString(at *value) {
	runes := []rune(at.text)
	switch {
	case d.chance(40):
		at.text = pick(d, poolStrings)
	case len(runes) > 0 && d.chance(50):
		i := d.n(len(runes))
		at.text = string(slices.Delete(runes, i, i+1))
	default:
		at.text = string(slices.Insert(runes, d.n(len(runes)+1), pick(d, []rune("ab0é-Z :"))))
	}
}

// String writes the value as compact JSON.
func (v *value) String() string { return string(appendJSON(nil, v, compactJSON)) }
