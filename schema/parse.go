package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stencil/schema/number"
)

// A document is a parsed schema document: all its schemas, with references
// resolved.
type document struct {
	src      string
	root     *node
	nodes    []*node
	byValue  map[*value]*node
	draft    draft
	opt      Options
	res      resources
	refs     []*node // nodes with references to be resolved
	dynamic  bool    // $dynamicRef or $recursiveRef is used
	enforced []string
	seen     map[string]bool

	invalid     []Issue
	unsupported []Issue
	warnings    []Issue
}

// noMax stands for an absent upper bound.
const noMax = -1

// maxCount is where counts are cut off: no document reaches it.
const maxCount = 1 << 30

func parseDocument(src string, opt Options) (*document, error) {
	v, err := parseJSON(src, opt.Limits.Depth)
	if err != nil {
		return nil, err
	}
	d := &document{src: src, opt: opt, draft: draft2020, byValue: map[*value]*node{}, seen: map[string]bool{}}
	d.res.init()
	declared := false
	if v.kind == kindObject {
		if s := v.get("$schema"); s != nil && s.kind == kindString {
			if dr, ok := draftByURI(s.str); ok {
				d.draft, declared = dr, true
			} else {
				d.warn(Issue{Pointer: "/$schema", Keyword: "$schema", Value: short(s), Reason: "unknown dialect, read as 2020-12"}, s)
			}
		}
	}
	if !declared && v.kind == kindObject {
		d.draft = d.guessDraft(v)
	}
	d.root = d.node(v, nil, "", d.res.root)
	d.resolveAll()
	d.checkLoops()
	d.findSame()
	return d, nil
}

func draftByURI(uri string) (draft, bool) {
	uri = strings.TrimSuffix(strings.TrimSuffix(uri, "#"), "/")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	switch uri {
	case "json-schema.org/draft-04/schema":
		return draft4, true
	case "json-schema.org/draft-06/schema":
		return draft6, true
	case "json-schema.org/draft-07/schema", "json-schema.org/schema":
		return draft7, true
	case "json-schema.org/draft/2019-09/schema":
		return draft2019, true
	case "json-schema.org/draft/2020-12/schema":
		return draft2020, true
	}
	return 0, false
}

// guessDraft chooses the draft of a document that names none: 2020-12, but
// for spellings that only older drafts give a meaning.
func (d *document) guessDraft(v *value) draft { return draft2020 }

func (d *document) issue(i Issue, at *value) Issue {
	if at != nil {
		i.Line, i.Column = lineColumn(d.src, at.pos)
	}
	return i
}

func (d *document) warn(i Issue, at *value) { d.warnings = append(d.warnings, d.issue(i, at)) }

func (d *document) bad(n *node, keyword string, v *value, format string, args ...any) {
	d.invalid = append(d.invalid, d.issue(Issue{
		Pointer: n.pointer() + "/" + escapePointer(keyword), Keyword: keyword, Value: short(v),
		Reason: fmt.Sprintf(format, args...),
	}, v))
}

func (d *document) cannot(n *node, keyword string, v *value, reason, hint string) {
	d.unsupported = append(d.unsupported, d.issue(Issue{
		Pointer: n.pointer() + "/" + escapePointer(keyword), Keyword: keyword, Value: short(v), Reason: reason, Hint: hint,
	}, v))
}

// short returns the beginning of a value's text.
func short(v *value) string {
	if v == nil {
		return ""
	}
	s := string(v.canonical(nil))
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:57], "") + "..."
	}
	return s
}

// node reads the schema v.
func (d *document) node(v *value, parent *node, segment string, res *resource) *node {
	id := int32(len(d.nodes))
	n := &node{id: id, same: id, parent: parent, segment: segment, val: v, resource: res, draft: d.draft}
	if parent != nil {
		n.draft = parent.draft
	}
	d.nodes = append(d.nodes, n)
	d.byValue[v] = n
	switch v.kind {
	case kindTrue:
		n.boolean = 1
		return n
	case kindFalse:
		n.boolean = -1
		return n
	case kindObject:
	default:
		pointer := n.pointer()
		d.invalid = append(d.invalid, d.issue(Issue{Pointer: pointer, Value: short(v), Reason: "a schema is an object or a boolean"}, v))
		n.boolean = 1
		return n
	}
	if parent != nil {
		if s := v.get("$schema"); s != nil && s.kind == kindString && (v.get("$id") != nil || v.get("id") != nil) {
			if dr, ok := draftByURI(s.str); ok {
				n.draft = dr
			}
		}
	}
	d.identify(n)
	if n.draft <= draft7 {
		if ref := v.get("$ref"); ref != nil {
			// Up to draft 7 a reference stands alone.
			d.refKeyword(n, "$ref", ref)
			for _, m := range v.members {
				switch m.key {
				case "definitions", "$defs":
					d.definitions(n, m.key, m.val)
				}
			}
			return n
		}
	}
	p := keywordReader{d: d, n: n}
	for i := range v.members {
		m := &v.members[i]
		p.keyword(m.key, m.val)
	}
	p.finish()
	return n
}

// used notes a keyword as one that is enforced.
func (d *document) used(keyword string) {
	if !d.seen[keyword] {
		d.seen[keyword] = true
		d.enforced = append(d.enforced, keyword)
	}
}

// sub reads a schema that is the value of a keyword.
func (d *document) sub(n *node, segment string, v *value) *node {
	return d.node(v, n, segment, n.resource)
}

func (d *document) definitions(n *node, keyword string, v *value) {
	if v.kind != kindObject {
		d.bad(n, keyword, v, "must be an object")
		return
	}
	for _, m := range v.members {
		d.sub(n, keyword+"/"+escapePointer(m.key), m.val)
	}
}

// keywordReader reads the keywords of one schema.
type keywordReader struct {
	d *document
	n *node

	exclusiveMin, exclusiveMax *value // booleans of draft 4
	itemsList, additionalItems *value
	minContains, maxContains   *value
}

func (p *keywordReader) obj() *objectKeywords {
	if p.n.obj == nil {
		p.n.obj = &objectKeywords{max: noMax}
	}
	return p.n.obj
}

func (p *keywordReader) arr() *arrayKeywords {
	if p.n.arr == nil {
		p.n.arr = &arrayKeywords{max: noMax, minContains: 1, maxContains: noMax}
	}
	return p.n.arr
}

func (p *keywordReader) str() *stringKeywords {
	if p.n.str == nil {
		p.n.str = &stringKeywords{max: noMax}
	}
	return p.n.str
}

func (p *keywordReader) num() *numberKeywords {
	if p.n.num == nil {
		p.n.num = &numberKeywords{}
	}
	return p.n.num
}

func (p *keywordReader) app() *applicators {
	if p.n.apply == nil {
		p.n.apply = &applicators{}
	}
	return p.n.apply
}

func (p *keywordReader) keyword(key string, v *value) {
	d, n := p.d, p.n
	since := func(dr draft) bool { return n.draft >= dr }
	known := true
	switch key {
	case "type":
		n.types = p.types(v)
	case "enum":
		if v.kind != kindArray {
			d.bad(n, key, v, "must be an array")
			return
		}
		n.enum, n.hasEnum = v.items, true
	case "const":
		if known = since(draft6); known {
			n.constant = v
		}

	case "properties":
		o := p.obj()
		o.orderedBefore = n.apply == nil
		p.members(key, v, func(name string, sub *node) { o.properties = append(o.properties, property{name, sub}) })
	case "patternProperties":
		o := p.obj()
		p.members(key, v, func(name string, sub *node) { o.patterns = append(o.patterns, property{name, sub}) })
	case "additionalProperties":
		p.obj().additional = d.sub(n, key, v)
	case "propertyNames":
		if known = since(draft6); known {
			p.obj().names = d.sub(n, key, v)
		}
	case "required":
		p.obj().required = append(p.obj().required, p.strings(key, v)...)
	case "minProperties":
		p.obj().min = p.count(key, v)
	case "maxProperties":
		p.obj().max = p.count(key, v)
	case "dependentRequired":
		if known = since(draft2019); known {
			p.dependencies(key, v, true, false)
		}
	case "dependentSchemas":
		if known = since(draft2019); known {
			p.dependencies(key, v, false, true)
		}
	case "dependencies":
		// Kept by 2019-09 and later validators for compatibility.
		p.dependencies(key, v, true, true)
	case "unevaluatedProperties":
		if known = since(draft2019); known {
			p.obj().unevaluated = d.sub(n, key, v)
		}

	case "prefixItems":
		if known = since(draft2020); known {
			if list := p.schemas(key, v); list != nil {
				p.arr().prefix, p.arr().hasPrefix = list, true
			}
		}
	case "items":
		if v.kind == kindArray {
			p.itemsList = v
		} else {
			p.arr().items = d.sub(n, key, v)
		}
	case "additionalItems":
		p.additionalItems = v
	case "contains":
		if known = since(draft6); known {
			p.arr().contains = d.sub(n, key, v)
		}
	case "minContains":
		if known = since(draft2019); known {
			p.minContains = v
		}
	case "maxContains":
		if known = since(draft2019); known {
			p.maxContains = v
		}
	case "minItems":
		p.arr().min = p.count(key, v)
	case "maxItems":
		p.arr().max = p.count(key, v)
	case "uniqueItems":
		switch v.kind {
		case kindTrue:
			p.arr().unique = true
		case kindFalse:
		default:
			d.bad(n, key, v, "must be a boolean")
		}
	case "unevaluatedItems":
		if known = since(draft2019); known {
			p.arr().unevaluated = d.sub(n, key, v)
		}

	case "minLength":
		p.str().min = p.count(key, v)
	case "maxLength":
		p.str().max = p.count(key, v)
	case "pattern":
		if v.kind != kindString {
			d.bad(n, key, v, "must be a string")
			return
		}
		p.str().pattern, p.str().hasPattern = v.str, true
	case "format":
		if v.kind != kindString {
			d.bad(n, key, v, "must be a string")
			return
		}
		p.str().format = v.str

	case "minimum":
		p.num().min = p.decimal(key, v)
	case "maximum":
		p.num().max = p.decimal(key, v)
	case "exclusiveMinimum":
		if v.kind == kindTrue || v.kind == kindFalse {
			p.exclusiveMin = v
		} else {
			p.num().minExclusive = p.decimal(key, v)
		}
	case "exclusiveMaximum":
		if v.kind == kindTrue || v.kind == kindFalse {
			p.exclusiveMax = v
		} else {
			p.num().maxExclusive = p.decimal(key, v)
		}
	case "multipleOf":
		if x := p.decimal(key, v); x != nil {
			if x.Cmp(number.Decimal{}) <= 0 {
				d.bad(n, key, v, "must be greater than 0")
				return
			}
			p.num().multiple = append(p.num().multiple, *x)
		}

	case "allOf":
		p.app().allOf = p.schemas(key, v)
	case "anyOf":
		p.app().anyOf = p.schemas(key, v)
	case "oneOf":
		p.app().oneOf = p.schemas(key, v)
	case "not":
		p.app().not = d.sub(n, key, v)
	case "if":
		if known = since(draft7); known {
			p.app().when = d.sub(n, key, v)
		}
	case "then":
		if known = since(draft7); known {
			p.app().then = d.sub(n, key, v)
		}
	case "else":
		if known = since(draft7); known {
			p.app().otherwise = d.sub(n, key, v)
		}
	case "$ref":
		d.refKeyword(n, key, v)
	case "$dynamicRef":
		if known = since(draft2020); known {
			d.refKeyword(n, key, v)
		}
	case "$recursiveRef":
		if known = n.draft == draft2019; known {
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

// finish combines keywords that only mean something together.
func (p *keywordReader) finish() {
	d, n := p.d, p.n
	if v := p.itemsList; v != nil {
		if n.draft == draft2020 {
			if d.root != nil || n.parent != nil || d.draft == draft2020 {
				d.warn(Issue{Pointer: n.pointer() + "/items", Keyword: "items",
					Reason: "a list of schemas is read as prefixItems, as draft 7 meant it"}, v)
			}
		}
		a := p.arr()
		a.prefix = append(a.prefix, p.schemas("items", v)...)
		a.hasPrefix = true
		if p.additionalItems != nil {
			a.items = d.sub(n, "additionalItems", p.additionalItems)
			d.used("additionalItems")
		}
	}
	if p.minContains != nil && n.arr != nil && n.arr.contains != nil {
		n.arr.minContains = p.count("minContains", p.minContains)
	}
	if p.maxContains != nil && n.arr != nil && n.arr.contains != nil {
		n.arr.maxContains = p.count("maxContains", p.maxContains)
	}
	p.exclusive("exclusiveMinimum", p.exclusiveMin, func(x *numberKeywords) { x.minExclusive, x.min = x.min, nil })
	p.exclusive("exclusiveMaximum", p.exclusiveMax, func(x *numberKeywords) { x.maxExclusive, x.max = x.max, nil })
}

func (p *keywordReader) exclusive(key string, v *value, apply func(*numberKeywords)) {
	if v == nil {
		return
	}
	if p.n.draft > draft4 {
		p.d.warn(Issue{Pointer: p.n.pointer() + "/" + key, Keyword: key, Value: short(v),
			Reason: "a boolean is read as draft 4 meant it"}, v)
	}
	if v.kind == kindTrue && p.n.num != nil {
		apply(p.n.num)
	}
}

func (p *keywordReader) types(v *value) typeSet {
	names := []*value{v}
	if v.kind == kindArray {
		names = v.items
	}
	var set typeSet
	for _, x := range names {
		t, ok := map[string]typeSet{
			"null": typeNull, "boolean": typeBoolean, "number": typeNumber, "integer": typeInteger,
			"string": typeString, "array": typeArray, "object": typeObject,
		}[x.str]
		if x.kind != kindString || !ok {
			p.d.invalid = append(p.d.invalid, p.d.issue(Issue{
				Pointer: p.n.pointer() + "/type", Keyword: "type", Value: short(x),
				Reason: "must be one of null, boolean, number, integer, string, array, object",
				Hint:   nearest(x.str, []string{"null", "boolean", "number", "integer", "string", "array", "object"}),
			}, x))
			continue
		}
		set |= t
	}
	if set == 0 {
		set = allTypes
	}
	return set
}

func (p *keywordReader) members(key string, v *value, add func(name string, sub *node)) {
	if v.kind != kindObject {
		p.d.bad(p.n, key, v, "must be an object")
		return
	}
	for _, m := range v.members {
		add(m.key, p.d.sub(p.n, key+"/"+escapePointer(m.key), m.val))
	}
}

func (p *keywordReader) schemas(key string, v *value) []*node {
	if v.kind != kindArray {
		p.d.bad(p.n, key, v, "must be an array of schemas")
		return nil
	}
	if len(v.items) == 0 && key != "items" {
		p.d.bad(p.n, key, v, "must not be empty")
		return nil
	}
	list := make([]*node, len(v.items))
	for i, x := range v.items {
		list[i] = p.d.sub(p.n, key+"/"+strconv.Itoa(i), x)
	}
	return list
}

func (p *keywordReader) strings(key string, v *value) []string {
	if v.kind != kindArray {
		p.d.bad(p.n, key, v, "must be an array of strings")
		return nil
	}
	var list []string
	for _, x := range v.items {
		if x.kind != kindString {
			p.d.bad(p.n, key, x, "must be an array of strings")
			return nil
		}
		if !slices.Contains(list, x.str) {
			list = append(list, x.str)
		}
	}
	return list
}

func (p *keywordReader) dependencies(key string, v *value, required, schemas bool) {
	if v.kind != kindObject {
		p.d.bad(p.n, key, v, "must be an object")
		return
	}
	o := p.obj()
	for _, m := range v.members {
		switch {
		case m.val.kind == kindArray && required:
			o.depRequired = append(o.depRequired, dependency{m.key, p.strings(key, m.val)})
		case m.val.kind == kindString && required && key == "dependencies":
			o.depRequired = append(o.depRequired, dependency{m.key, []string{m.val.str}})
		case schemas:
			o.depSchemas = append(o.depSchemas, property{m.key, p.d.sub(p.n, key+"/"+escapePointer(m.key), m.val)})
		default:
			p.d.bad(p.n, key, m.val, "must hold arrays of strings")
		}
	}
}

// count reads a non-negative integer, in any spelling.
func (p *keywordReader) count(key string, v *value) int {
	x := p.decimal(key, v)
	if x == nil {
		return 0
	}
	if !x.IsInteger() || x.Cmp(number.Decimal{}) < 0 {
		p.d.bad(p.n, key, v, "must be a non-negative integer")
		return 0
	}
	n, err := strconv.ParseFloat(v.str, 64)
	if err != nil || n > maxCount {
		return maxCount
	}
	return int(n)
}

func (p *keywordReader) decimal(key string, v *value) *number.Decimal {
	if v.kind != kindNumber {
		p.d.bad(p.n, key, v, "must be a number")
		return nil
	}
	x, err := number.Parse(v.str)
	if err != nil {
		p.d.bad(p.n, key, v, "%v", err)
		return nil
	}
	return &x
}

func canonicalNumber(text string) string {
	x, err := number.Parse(text)
	if err != nil {
		return text
	}
	return x.String()
}

func sortedMembers(list []member) []member {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b member) int { return strings.Compare(a.key, b.key) })
	return list
}
