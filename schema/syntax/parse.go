package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/number"
)

// A Document is a parsed schema document: all its schemas, with references
// resolved.
type Document struct {
	Source   string
	Root     *Node
	Nodes    []*Node
	arena    []Node // not yet used
	Draft    Draft
	strict   bool
	res      resources
	refs     []*Node                                      // nodes with references to be resolved
	members  map[*jsondoc.Value]map[string]*jsondoc.Value // of objects that many references lead through
	Dynamic  bool                                         // $dynamicRef or $recursiveRef is used
	Enforced []string
	recent   [32]string // keywords in Enforced, by a hash
	strange  [8]string  // unknown keywords that resemble none, by a hash

	Invalid     []Issue
	Unsupported []Issue
	Warnings    []Issue
}

// NoMax stands for an absent upper bound.
const NoMax = -1

// MaxCount is the maximum of counts: no document reaches it.
const MaxCount = 1 << 30

// ParseDocument reads a schema document, nested at most depth deep. With strict,
// keywords that look misspelled are errors. The error is a [*jsondoc.SyntaxError] or a
// [*LimitError]; the document lists all other problems.
func ParseDocument(src string, depth int, strict bool) (*Document, error) {
	v, err := ReadJSON(src, depth)
	if err != nil {
		return nil, err
	}
	d := &Document{Source: src, strict: strict, Draft: Draft2020}
	d.res.init()
	if v.Kind == jsondoc.Object {
		if s := v.Get("$schema"); s != nil && s.Kind == jsondoc.String {
			if dr, ok := draftByURI(s.Text); ok {
				d.Draft = dr
			} else {
				d.warn(Issue{Pointer: "/$schema", Keyword: "$schema", Value: short(s), Reason: "unknown dialect, read as 2020-12"}, s)
			}
		}
	}
	d.Root = d.node(v, nil, position{}, d.res.root)
	if len(d.refs) > 0 {
		d.resolveAll()
		d.checkLoops()
	}
	d.dedupe()
	return d, nil
}

func draftByURI(uri string) (Draft, bool) {
	uri = strings.TrimSuffix(strings.TrimSuffix(uri, "#"), "/")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	switch uri {
	case "json-schema.org/draft-04/schema":
		return Draft4, true
	case "json-schema.org/draft-06/schema":
		return Draft6, true
	case "json-schema.org/draft-07/schema", "json-schema.org/schema":
		return Draft7, true
	case "json-schema.org/draft/2019-09/schema":
		return Draft2019, true
	case "json-schema.org/draft/2020-12/schema":
		return Draft2020, true
	}
	return 0, false
}

// Locate adds the line and column of a value to an issue and, if the issue has a
// keyword, the value.
func (d *Document) Locate(i Issue, at *jsondoc.Value) Issue {
	if at != nil {
		if i.Value == "" && i.Keyword != "" {
			i.Value = short(at)
		}
		i.Line, i.Column = jsondoc.LineColumn(d.Source, at.Pos)
	}
	return i
}

func (d *Document) warn(i Issue, at *jsondoc.Value) { d.Warnings = append(d.Warnings, d.Locate(i, at)) }

func (d *Document) bad(n *Node, keyword string, v *jsondoc.Value, format string, args ...any) {
	d.Invalid = append(d.Invalid, d.Locate(Issue{
		Pointer: n.Pointer() + "/" + jsondoc.EscapePointer(keyword), Keyword: keyword, Value: short(v),
		Reason: fmt.Sprintf(format, args...),
	}, v))
}

func (d *Document) cannot(n *Node, keyword string, v *jsondoc.Value, reason, hint string) {
	d.Unsupported = append(d.Unsupported, d.Locate(Issue{
		Pointer: n.Pointer() + "/" + jsondoc.EscapePointer(keyword), Keyword: keyword, Value: short(v), Reason: reason, Hint: hint,
	}, v))
}

// short returns the start of a value's text.
func short(v *jsondoc.Value) string {
	if v == nil {
		return ""
	}
	s := string(v.AppendCanonical(nil))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	return s
}

// newNode returns a node with a number.
func (d *Document) newNode() *Node {
	if len(d.arena) == 0 {
		d.arena = make([]Node, min(max(8, len(d.Nodes)), 128))
	}
	n := &d.arena[0]
	d.arena = d.arena[1:]
	n.id = int32(len(d.Nodes))
	n.EqualID = n.id
	d.Nodes = append(d.Nodes, n)
	return n
}

// schemaAt returns the schema that was read from v, or nil.
func (d *Document) schemaAt(v *jsondoc.Value) *Node {
	if v.Mark == 0 {
		return nil
	}
	return d.Nodes[v.Mark-1]
}

// node reads the schema v.
func (d *Document) node(v *jsondoc.Value, parent *Node, at position, res *Resource) *Node {
	n := d.newNode()
	n.parent, n.at, n.Value, n.Resource, n.Draft = parent, at, v, res, d.Draft
	if parent != nil {
		n.Draft = parent.Draft
	} else {
		res.root = n
	}
	v.Mark = n.id + 1
	switch v.Kind {
	case jsondoc.True:
		n.Boolean = 1
		return n
	case jsondoc.False:
		n.Boolean = -1
		return n
	case jsondoc.Object:
	default:
		pointer := n.Pointer()
		d.Invalid = append(d.Invalid, d.Locate(Issue{Pointer: pointer, Value: short(v), Reason: "a schema is an object or a boolean"}, v))
		n.Boolean = 1
		return n
	}
	if slices.ContainsFunc(v.Members, identifying) && d.identified(n, v) {
		return n
	}
	p := keywordReader{d: d, n: n}
	for i := range v.Members {
		m := &v.Members[i]
		p.keyword(m.Key, m.Value)
	}
	p.finish()
	return n
}

// identifying reports keywords that identify schemas, refer to them or select the draft.
func identifying(m jsondoc.Member) bool { return m.Key != "" && m.Key[0] == '$' || m.Key == "id" }

// identified reads the identifying keywords of a schema. It reports whether that is all.
func (d *Document) identified(n *Node, v *jsondoc.Value) bool {
	if n.parent != nil {
		if s := v.Get("$schema"); s != nil && s.Kind == jsondoc.String && (v.Get("$id") != nil || v.Get("id") != nil) {
			if dr, ok := draftByURI(s.Text); ok {
				n.Draft = dr
			}
		}
	}
	d.identify(n)
	if n.Draft > Draft7 {
		return false
	}
	ref := v.Get("$ref")
	if ref == nil {
		return false
	}
	// Up to draft 7, keywords beside a reference are ignored.
	d.refKeyword(n, "$ref", ref)
	for _, m := range v.Members {
		switch m.Key {
		case "definitions", "$defs":
			d.definitions(n, m.Key, m.Value)
		}
	}
	return true
}

// Reduced reads a copy of schema n with only those keywords for which keep is set, by
// their order in the document.
func (d *Document) Reduced(n *Node, keep []bool) *Node {
	v := &jsondoc.Value{Kind: jsondoc.Object, Pos: n.Value.Pos}
	for i, m := range n.Value.Members {
		if keep[i] {
			v.Members = append(v.Members, m)
		}
	}
	sub := d.node(v, n.parent, n.at, n.Resource)
	d.resolveAll()
	return sub
}

// ReadJSON reads a JSON document, nested at most depth deep. The error is a
// [*jsondoc.SyntaxError] or a [*LimitError].
func ReadJSON(src string, depth int) (*jsondoc.Value, error) {
	v, err := jsondoc.Parse(src, depth)
	if _, deep := err.(*jsondoc.DepthError); deep {
		return nil, &LimitError{Limit: "depth", Max: depth}
	}
	return v, err
}

// used records an enforced keyword.
func (d *Document) used(keyword string) {
	at := &d.recent[hashOf(keyword)%uint(len(d.recent))]
	if *at == keyword {
		return
	}
	*at = keyword
	if !slices.Contains(d.Enforced, keyword) {
		d.Enforced = append(d.Enforced, keyword)
	}
}

// hashOf returns a hash of a keyword.
func hashOf(keyword string) uint {
	return 5*uint(len(keyword)) + uint(keyword[0]) + 3*uint(keyword[len(keyword)-1])
}

// sub reads a schema that is the value of a keyword.
func (d *Document) sub(n *Node, keyword string, v *jsondoc.Value) *Node {
	return d.node(v, n, position{keyword: keyword}, n.Resource)
}

// member reads a schema that is a member of the value of a keyword.
func (d *Document) member(n *Node, keyword string, m *jsondoc.Member) *Node {
	return d.node(m.Value, n, position{keyword: keyword, name: m.Key, member: true}, n.Resource)
}

func (d *Document) definitions(n *Node, keyword string, v *jsondoc.Value) {
	if v.Kind != jsondoc.Object {
		d.bad(n, keyword, v, "must be an object")
		return
	}
	for i := range v.Members {
		d.member(n, keyword, &v.Members[i])
	}
}

// keywordReader reads the keywords of one schema.
type keywordReader struct {
	d *Document
	n *Node

	exclusiveMin, exclusiveMax *jsondoc.Value // draft 4: booleans
	itemsList, additionalItems *jsondoc.Value
	minContains, maxContains   *jsondoc.Value
}

func (p *keywordReader) obj() *ObjectKeywords {
	if p.n.Object == nil {
		p.n.Object = &ObjectKeywords{Max: NoMax}
	}
	return p.n.Object
}

func (p *keywordReader) arr() *ArrayKeywords {
	if p.n.Array == nil {
		p.n.Array = &ArrayKeywords{Max: NoMax, MinContains: 1, MaxContains: NoMax}
	}
	return p.n.Array
}

func (p *keywordReader) str() *StringKeywords {
	if p.n.String == nil {
		p.n.String = &StringKeywords{Max: NoMax}
	}
	return p.n.String
}

func (p *keywordReader) num() *NumberKeywords {
	if p.n.Number == nil {
		p.n.Number = &NumberKeywords{}
	}
	return p.n.Number
}

func (p *keywordReader) app() *Applicators {
	if p.n.Apply == nil {
		p.n.Apply = &Applicators{}
	}
	return p.n.Apply
}

func (p *keywordReader) keyword(key string, v *jsondoc.Value) {
	d, n := p.d, p.n
	since := func(dr Draft) bool { return n.Draft >= dr }
	known := true
	switch key {
	case "type":
		n.Types = p.types(v)
	case "enum":
		if v.Kind != jsondoc.Array {
			d.bad(n, key, v, "must be an array")
			return
		}
		n.Enum, n.HasEnum = v.Items, true
	case "const":
		if known = since(Draft6); known {
			n.Const = v
		}

	case "properties":
		o := p.obj()
		o.PropertiesFirst = n.Apply == nil
		o.Properties = p.members(key, v)
	case "patternProperties":
		p.obj().Patterns = p.members(key, v)
	case "additionalProperties":
		p.obj().Additional = d.sub(n, key, v)
	case "propertyNames":
		if known = since(Draft6); known {
			p.obj().Names = d.sub(n, key, v)
		}
	case "required":
		p.obj().Required = p.strings(key, v)
	case "minProperties":
		p.obj().Min = p.count(key, v)
	case "maxProperties":
		p.obj().Max = p.count(key, v)
	case "dependentRequired":
		if known = since(Draft2019); known {
			p.dependencies(key, v, true, false)
		}
	case "dependentSchemas":
		if known = since(Draft2019); known {
			p.dependencies(key, v, false, true)
		}
	case "dependencies":
		// 2019-09 and later validators support it for compatibility.
		p.dependencies(key, v, true, true)
	case "unevaluatedProperties":
		if known = since(Draft2019); known {
			p.obj().Unevaluated = d.sub(n, key, v)
		}

	case "prefixItems":
		if known = since(Draft2020); known {
			if list := p.schemas(key, v); list != nil {
				p.arr().Prefix, p.arr().hasPrefix = list, true
			}
		}
	case "items":
		if v.Kind == jsondoc.Array {
			p.itemsList = v
		} else {
			p.arr().Items = d.sub(n, key, v)
		}
	case "additionalItems":
		p.additionalItems = v
	case "contains":
		if known = since(Draft6); known {
			p.arr().Contains = d.sub(n, key, v)
		}
	case "minContains":
		if known = since(Draft2019); known {
			p.minContains = v
		}
	case "maxContains":
		if known = since(Draft2019); known {
			p.maxContains = v
		}
	case "minItems":
		p.arr().Min = p.count(key, v)
	case "maxItems":
		p.arr().Max = p.count(key, v)
	case "uniqueItems":
		switch v.Kind {
		case jsondoc.True:
			p.arr().Unique = true
		case jsondoc.False:
		default:
			d.bad(n, key, v, "must be a boolean")
		}
	case "unevaluatedItems":
		if known = since(Draft2019); known {
			p.arr().Unevaluated = d.sub(n, key, v)
		}

	case "minLength":
		p.str().Min = p.count(key, v)
	case "maxLength":
		p.str().Max = p.count(key, v)
	case "pattern":
		if v.Kind != jsondoc.String {
			d.bad(n, key, v, "must be a string")
			return
		}
		p.str().Pattern, p.str().HasPattern = v.Text, true
	case "format":
		if v.Kind != jsondoc.String {
			d.bad(n, key, v, "must be a string")
			return
		}
		p.str().Format = v.Text

	case "minimum":
		p.num().Min = p.decimal(key, v)
	case "maximum":
		p.num().Max = p.decimal(key, v)
	case "exclusiveMinimum":
		if v.Kind == jsondoc.True || v.Kind == jsondoc.False {
			p.exclusiveMin = v
		} else {
			p.num().ExclusiveMin = p.decimal(key, v)
		}
	case "exclusiveMaximum":
		if v.Kind == jsondoc.True || v.Kind == jsondoc.False {
			p.exclusiveMax = v
		} else {
			p.num().ExclusiveMax = p.decimal(key, v)
		}
	case "multipleOf":
		if x := p.decimal(key, v); x != nil {
			if x.Cmp(number.Decimal{}) <= 0 {
				d.bad(n, key, v, "must be greater than 0")
				return
			}
			p.num().MultipleOf = append(p.num().MultipleOf, *x)
		}

	case "allOf":
		p.app().AllOf = p.schemas(key, v)
	case "anyOf":
		p.app().AnyOf = p.schemas(key, v)
	case "oneOf":
		p.app().OneOf = p.schemas(key, v)
	case "not":
		p.app().Not = d.sub(n, key, v)
	case "if":
		if known = since(Draft7); known {
			p.app().If = d.sub(n, key, v)
		}
	case "then":
		if known = since(Draft7); known {
			p.app().Then = d.sub(n, key, v)
		}
	case "else":
		if known = since(Draft7); known {
			p.app().Else = d.sub(n, key, v)
		}
	case "$ref":
		d.refKeyword(n, key, v)
	case "$dynamicRef":
		if known = since(Draft2020); known {
			d.refKeyword(n, key, v)
		}
	case "$recursiveRef":
		if known = n.Draft == Draft2019; known {
			d.refKeyword(n, key, v)
		}
	case "$defs", "definitions":
		d.definitions(n, key, v)
		return
	default:
		known = false
	}
	if known {
		d.used(key)
	} else {
		d.unknown(n, key, v)
	}
}

// finish combines keywords that have a meaning only together.
func (p *keywordReader) finish() {
	d, n := p.d, p.n
	if v := p.itemsList; v != nil {
		if n.Draft == Draft2020 {
			d.warn(Issue{Pointer: n.Pointer() + "/items", Keyword: "items",
				Reason: "a list of schemas is read as prefixItems, as draft 7 meant it"}, v)
		}
		a := p.arr()
		a.Prefix = append(a.Prefix, p.schemas("items", v)...)
		a.hasPrefix = true
		if p.additionalItems != nil {
			a.Items = d.sub(n, "additionalItems", p.additionalItems)
			d.used("additionalItems")
		}
	}
	if p.minContains != nil && n.Array != nil && n.Array.Contains != nil {
		n.Array.MinContains = p.count("minContains", p.minContains)
	}
	if p.maxContains != nil && n.Array != nil && n.Array.Contains != nil {
		n.Array.MaxContains = p.count("maxContains", p.maxContains)
	}
	p.exclusive("exclusiveMinimum", p.exclusiveMin, func(x *NumberKeywords) { x.ExclusiveMin, x.Min = x.Min, nil })
	p.exclusive("exclusiveMaximum", p.exclusiveMax, func(x *NumberKeywords) { x.ExclusiveMax, x.Max = x.Max, nil })
}

func (p *keywordReader) exclusive(key string, v *jsondoc.Value, apply func(*NumberKeywords)) {
	if v == nil {
		return
	}
	if p.n.Draft > Draft4 {
		p.d.warn(Issue{Pointer: p.n.Pointer() + "/" + key, Keyword: key, Value: short(v),
			Reason: "a boolean is read as draft 4 meant it"}, v)
	}
	if v.Kind == jsondoc.True && p.n.Number != nil {
		apply(p.n.Number)
	}
}

// typeNames are the values of the keyword type.
var typeNames = []string{"null", "boolean", "number", "integer", "string", "array", "object"}

func typeNamed(name string) TypeSet {
	switch name {
	case "null":
		return TypeNull
	case "boolean":
		return TypeBoolean
	case "number":
		return TypeNumber
	case "integer":
		return TypeInteger
	case "string":
		return TypeString
	case "array":
		return TypeArray
	case "object":
		return TypeObject
	}
	return 0
}

func (p *keywordReader) types(v *jsondoc.Value) (set TypeSet) {
	if v.Kind != jsondoc.Array {
		set = p.oneType(v)
	} else {
		if len(v.Items) == 0 {
			p.d.bad(p.n, "type", v, "must name a type")
		}
		for _, x := range v.Items {
			set |= p.oneType(x)
		}
	}
	if set == 0 {
		set = allTypes
	}
	return set
}

func (p *keywordReader) oneType(x *jsondoc.Value) TypeSet {
	if x.Kind == jsondoc.String {
		if t := typeNamed(x.Text); t != 0 {
			return t
		}
	}
	issue := Issue{
		Pointer: p.n.Pointer() + "/type", Keyword: "type", Value: short(x),
		Reason: "must be one of " + strings.Join(typeNames, ", "),
	}
	if near := similar(x.Text, typeNames); near != "" {
		issue.Hint = "did you mean " + near + "?"
	}
	p.d.Invalid = append(p.d.Invalid, p.d.Locate(issue, x))
	return 0
}

// members reads the schemas that are members of a keyword's value.
func (p *keywordReader) members(key string, v *jsondoc.Value) []Property {
	if v.Kind != jsondoc.Object {
		p.d.bad(p.n, key, v, "must be an object")
		return nil
	}
	if len(v.Members) == 0 {
		return nil
	}
	list := make([]Property, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		list[i] = Property{m.Key, p.d.member(p.n, key, m)}
	}
	return list
}

func (p *keywordReader) schemas(key string, v *jsondoc.Value) []*Node {
	if v.Kind != jsondoc.Array {
		p.d.bad(p.n, key, v, "must be an array of schemas")
		return nil
	}
	if len(v.Items) == 0 && key != "items" {
		p.d.bad(p.n, key, v, "must not be empty")
		return nil
	}
	list := make([]*Node, len(v.Items))
	for i, x := range v.Items {
		list[i] = p.d.node(x, p.n, position{keyword: key, item: int32(i) + 1}, p.n.Resource)
	}
	return list
}

func (p *keywordReader) strings(key string, v *jsondoc.Value) []string {
	if v.Kind != jsondoc.Array {
		p.d.bad(p.n, key, v, "must be an array of strings")
		return nil
	}
	list := make([]string, 0, len(v.Items))
	listed := make(map[string]bool, len(v.Items))
	for _, x := range v.Items {
		if x.Kind != jsondoc.String {
			p.d.bad(p.n, key, x, "must be an array of strings")
			return nil
		}
		if !listed[x.Text] {
			listed[x.Text] = true
			list = append(list, x.Text)
		}
	}
	return list
}

func (p *keywordReader) dependencies(key string, v *jsondoc.Value, required, schemas bool) {
	if v.Kind != jsondoc.Object {
		p.d.bad(p.n, key, v, "must be an object")
		return
	}
	o := p.obj()
	for i := range v.Members {
		m := &v.Members[i]
		switch {
		case m.Value.Kind == jsondoc.Array && required:
			o.DependentRequired = append(o.DependentRequired, Dependency{m.Key, p.strings(key, m.Value)})
		case m.Value.Kind == jsondoc.String && required && key == "dependencies":
			o.DependentRequired = append(o.DependentRequired, Dependency{m.Key, []string{m.Value.Text}})
		case schemas:
			o.DependentSchemas = append(o.DependentSchemas, Property{m.Key, p.d.member(p.n, key, m)})
		default:
			p.d.bad(p.n, key, m.Value, "must hold arrays of strings")
		}
	}
}

// count reads a non-negative integer, in any spelling.
func (p *keywordReader) count(key string, v *jsondoc.Value) int {
	x := p.decimal(key, v)
	if x == nil {
		return 0
	}
	if !x.IsInteger() || x.Cmp(number.Decimal{}) < 0 {
		p.d.bad(p.n, key, v, "must be a non-negative integer")
		return 0
	}
	n, err := strconv.ParseFloat(v.Text, 64)
	if err != nil || n > MaxCount {
		return MaxCount
	}
	return int(n)
}

func (p *keywordReader) decimal(key string, v *jsondoc.Value) *number.Decimal {
	if v.Kind != jsondoc.Number {
		p.d.bad(p.n, key, v, "must be a number")
		return nil
	}
	x, err := number.Parse(v.Text)
	if err != nil {
		p.d.bad(p.n, key, v, "%v", err)
		return nil
	}
	return &x
}
