package validator

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A draft is a version of JSON Schema.
type draft int

const (
	draft4 draft = iota
	draft6
	draft7
	draft2019
	draft2020
)

var (
	draftNames = map[string]draft{"draft-04": draft4, "draft-06": draft6, "draft-07": draft7, "2019-09": draft2019, "2020-12": draft2020}
	draftURIs  = map[string]draft{
		"json-schema.org/draft-04/schema": draft4, "json-schema.org/draft-06/schema": draft6,
		"json-schema.org/draft-07/schema": draft7, "json-schema.org/draft/2019-09/schema": draft2019,
		"json-schema.org/draft/2020-12/schema": draft2020,
	}
)

// A resource is a schema with an identifier of its own, or the document.
type resource struct {
	uri      string
	root     *node
	anchors  map[string]*node
	dynamics map[string]*node // $dynamicAnchor
	recurses bool             // $recursiveAnchor: true
}

// A node is a compiled schema or subschema.
type node struct {
	source   *value
	resource *resource
	draft    draft

	never bool // the schema false

	ref          *node
	dynamic      *node  // $dynamicRef or $recursiveRef: the target by default
	dynamicName  string // the anchor that may have another target, depending on the dynamic scope
	recursive    bool   // $recursiveRef
	types        []string
	enum         map[string]bool
	listed       []*value // of enum
	constant     *value
	constantText string
	format       string
	checkFormat  func(any) error

	allOf, anyOf, oneOf    []*node
	not, when, then, other *node

	minimum, maximum               *number
	exclusiveMinimum, exclusiveMax *number
	multipleOf                     *number

	minLength, maxLength *int
	pattern              *Pattern

	minItems, maxItems       *int
	unique                   bool
	prefix                   []*node
	rest                     *node // for the items after prefix
	restName                 string
	contains                 *node
	minContains, maxContains *int
	unevaluatedItems         *node

	minProperties, maxProperties *int
	required                     []string
	properties                   map[string]*node
	patterns                     []patternSchema
	additional                   *node
	names                        *node
	dependent                    []dependency
	unevaluatedProperties        *node
}

type patternSchema struct {
	pattern *Pattern
	schema  *node
}

// A dependency applies if the object has a certain member.
type dependency struct {
	keyword, name string
	required      []string
	schema        *node
}

// A Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root        *node
	nodes       map[*value]*node
	resources   map[string]*resource
	list        []*node // in the order of discovery
	evaluations bool    // whether unevaluatedItems or unevaluatedProperties occur
	dynamics    bool    // whether $dynamicRef or $recursiveRef occur
	patterns    map[string]*Pattern
	size        int

	patternBytes int
}

// Compile reads a schema as the named draft ("draft-04", "draft-06", "draft-07", "2019-09",
// "2020-12"), regardless of the $schema of the document. The error matches ErrUndecided if the
// schema is too large, or is the cause of the context's end.
func Compile(ctx context.Context, src []byte, draftName string) (*Schema, error) {
	d, ok := draftNames[draftName]
	if !ok {
		return nil, fmt.Errorf("validator: unknown draft %q", draftName)
	}
	s := &Schema{nodes: map[*value]*node{}, resources: map[string]*resource{}, patterns: map[string]*Pattern{}, size: len(src)}
	r := &run{ctx: ctx}
	err := r.attempt(func() error {
		doc, err := parse(r, src)
		if err != nil {
			return fmt.Errorf("validator: %w", err)
		}
		doc.drop("$schema")
		s.root = s.index(r, doc, nil, d)
		for i := 0; i < len(s.list); i++ {
			r.step(1)
			if err := s.compile(r, s.list[i]); err != nil {
				return fmt.Errorf("validator: %s: %w", quote("#"+s.list[i].source.pointer()), err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Bytes estimates the memory that the schema occupies.
func (s *Schema) Bytes() int64 { return int64(s.size)*8 + int64(len(s.list))*1024 }

// drop removes a member.
func (v *value) drop(name string) {
	if v.get(name) != nil {
		delete(v.members, name)
		v.names = slices.DeleteFunc(v.names, func(n string) bool { return n == name })
	}
}

// The keywords that hold subschemas: one, a list of them, or the members of an object.
var (
	single = []string{
		"not", "if", "then", "else", "additionalProperties", "additionalItems", "contains", "propertyNames",
		"unevaluatedProperties", "unevaluatedItems", "items",
	}
	lists   = []string{"allOf", "anyOf", "oneOf", "prefixItems", "items"}
	objects = []string{"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"}
)

// index creates nodes for a value and all schemas within it.
func (s *Schema) index(r *run, v *value, res *resource, d draft) *node {
	if n := s.nodes[v]; n != nil {
		return n
	}
	r.step(1)
	n := &node{source: v, resource: res, draft: d}
	s.nodes[v] = n
	s.list = append(s.list, n)
	s.identify(n)
	if v.kind != object || n.draft <= draft7 && v.get("$ref") != nil && n.resource.root != n {
		// Definitions beside a reference can still be referred to.
		if v.kind != object {
			return n
		}
	}
	for _, k := range single {
		if x := v.get(k); x != nil && (x.kind == object || x.kind == boolean) {
			s.index(r, x, n.resource, n.draft)
		}
	}
	for _, k := range lists {
		if x := v.get(k); x != nil && x.kind == array {
			for _, item := range x.items {
				s.index(r, item, n.resource, n.draft)
			}
		}
	}
	for _, k := range objects {
		if x := v.get(k); x != nil && x.kind == object {
			for _, name := range x.names {
				if m := x.members[name]; m.kind == object || m.kind == boolean {
					s.index(r, m, n.resource, n.draft)
				}
			}
		}
	}
	return n
}

// identify reads the keywords that identify a schema.
func (s *Schema) identify(n *node) {
	v := n.source
	if n.resource == nil {
		n.resource = &resource{root: n}
		s.resources[""] = n.resource
	}
	str := func(key string) string {
		if x := v.get(key); x != nil && x.kind == text {
			return x.text
		}
		return ""
	}
	id := str("$id")
	if n.draft == draft4 {
		id = str("id")
	}
	if n.draft <= draft7 && v.get("$ref") != nil {
		id = ""
	}
	base, fragment, _ := strings.Cut(id, "#")
	if base != "" {
		uri := join(n.resource.uri, base)
		if n.resource.root == n {
			n.resource.uri = uri
		} else {
			n.resource = &resource{uri: uri, root: n}
			if d, ok := draftURIs[strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(str("$schema"), "https://"), "http://"), "#")]; ok {
				n.draft = d
			}
		}
		if s.resources[uri] == nil {
			s.resources[uri] = n.resource
		}
	}
	res := n.resource
	if fragment != "" && n.draft <= draft7 {
		res.name(&res.anchors, fragment, n)
	}
	if n.draft >= draft2019 {
		res.name(&res.anchors, str("$anchor"), n)
	}
	if x := v.get("$recursiveAnchor"); n.draft == draft2019 && x != nil && x.kind == boolean && x.truth {
		res.recurses = true
	}
	if n.draft == draft2020 {
		res.name(&res.anchors, str("$dynamicAnchor"), n)
		res.name(&res.dynamics, str("$dynamicAnchor"), n)
	}
}

func (r *resource) name(in *map[string]*node, name string, n *node) {
	if name == "" {
		return
	}
	if *in == nil {
		*in = map[string]*node{}
	}
	(*in)[name] = n
}

func join(base, ref string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ref
	}
	u, err := b.Parse(ref)
	if err != nil {
		return ref
	}
	return u.String()
}

// resolve returns the node that a reference refers to.
func (s *Schema) resolve(r *run, n *node, ref string) (*node, error) {
	base, fragment, _ := strings.Cut(ref, "#")
	res := n.resource
	if base != "" {
		uri := join(res.uri, base)
		if res = s.resources[uri]; res == nil {
			return nil, fmt.Errorf("reference to %s: other documents are not fetched", quote(uri))
		}
	}
	if unescaped, err := url.PathUnescape(fragment); err == nil {
		fragment = unescaped
	}
	if fragment == "" {
		return res.root, nil
	}
	if fragment[0] != '/' {
		if to := res.anchors[fragment]; to != nil {
			return to, nil
		}
		return nil, fmt.Errorf("reference to the anchor %s, which does not exist", quote(fragment))
	}
	at, within := res.root.source, res.root
	for _, key := range strings.Split(fragment[1:], "/") {
		r.step(1)
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		next := at.get(key)
		if at.kind == array {
			if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(at.items) {
				next = at.items[i]
			}
		}
		if next == nil {
			return nil, fmt.Errorf("reference to %s, which does not exist", quote(ref))
		}
		if at = next; s.nodes[at] != nil {
			within = s.nodes[at]
		}
	}
	return s.index(r, at, within.resource, within.draft), nil
}

// compile reads the keywords of a node.
func (s *Schema) compile(r *run, n *node) error {
	v := n.source
	switch v.kind {
	case boolean:
		n.never = !v.truth
		return nil
	case object:
	default:
		return fmt.Errorf("a schema must be an object or true or false, not %s", v.kind)
	}
	c := &compiler{s: s, r: r, n: n}
	if ref := c.str("$ref"); ref != "" || v.get("$ref") != nil {
		if n.ref, c.err = s.resolve(r, n, ref); c.err != nil || n.draft <= draft7 {
			return c.err
		}
	}
	c.dynamic()
	c.general()
	c.numbers()
	c.strings()
	c.arrays()
	c.objects()
	return c.err
}

// A compiler reads keywords and keeps its first error.
type compiler struct {
	s   *Schema
	r   *run
	n   *node
	err error
}

func (c *compiler) want(key string, k kind) *value {
	v := c.n.source.get(key)
	if v == nil || v.kind == k {
		return v
	}
	if c.err == nil {
		c.err = fmt.Errorf("%s must be of type %s, not %s", key, k, v.kind)
	}
	return nil
}

func (c *compiler) str(key string) string {
	if v := c.want(key, text); v != nil {
		return v.text
	}
	return ""
}

func (c *compiler) flag(key string) bool {
	v := c.want(key, boolean)
	return v != nil && v.truth
}

func (c *compiler) number(key string) *number {
	if v := c.want(key, numeric); v != nil {
		return &v.num
	}
	return nil
}

func (c *compiler) count(key string) *int {
	if v := c.want(key, numeric); v != nil {
		n := v.num.size()
		return &n
	}
	return nil
}

func (c *compiler) schema(key string) *node {
	v := c.n.source.get(key)
	if v == nil {
		return nil
	}
	return c.s.index(c.r, v, c.n.resource, c.n.draft)
}

func (c *compiler) schemas(key string) (out []*node) {
	if v := c.want(key, array); v != nil {
		for _, x := range v.items {
			out = append(out, c.s.index(c.r, x, c.n.resource, c.n.draft))
		}
	}
	return out
}

// members returns the members of an object of schemas.
func (c *compiler) members(key string) (names []string, out []*node) {
	if v := c.want(key, object); v != nil {
		for _, name := range v.names {
			out = append(out, c.s.index(c.r, v.members[name], c.n.resource, c.n.draft))
		}
		return v.names, out
	}
	return nil, nil
}

func texts(v *value) (out []string) {
	for _, x := range v.items {
		if x.kind == text && !slices.Contains(out[:min(len(out), 64)], x.text) {
			out = append(out, x.text)
		}
	}
	return out
}

func (c *compiler) pattern(src string) *Pattern {
	if p := c.s.patterns[src]; p != nil {
		return p
	}
	c.r.step(len(src))
	if c.s.patternBytes += len(src); c.s.patternBytes > maxPatterns {
		c.r.giveUp(&undecided{fmt.Sprintf("the patterns are longer than %d bytes together", maxPatterns)})
	}
	p, err := NewPattern(src)
	if err != nil {
		if c.err == nil {
			c.err = err
		}
		return nil
	}
	c.s.patterns[src] = p
	return p
}

func (c *compiler) dynamic() {
	n := c.n
	key := ""
	switch {
	case n.draft == draft2019 && n.source.get("$recursiveRef") != nil:
		key, n.recursive = "$recursiveRef", true
	case n.draft == draft2020 && n.source.get("$dynamicRef") != nil:
		key = "$dynamicRef"
	default:
		return
	}
	ref := c.str(key)
	to, err := c.s.resolve(c.r, n, ref)
	if err != nil {
		c.err = err
		return
	}
	n.dynamic = to
	c.s.dynamics = true
	if _, fragment, _ := strings.Cut(ref, "#"); !n.recursive && to.resource.dynamics[fragment] == to {
		n.dynamicName = fragment
	}
	n.recursive = n.recursive && to.resource.recurses && to.resource.root == to
}

func (c *compiler) general() {
	n, v := c.n, c.n.source
	if t := v.get("type"); t != nil {
		switch t.kind {
		case text:
			n.types = []string{t.text}
		case array:
			if n.types = texts(t); len(n.types) == 0 && c.err == nil {
				c.err = fmt.Errorf("type must name a type")
			}
		default:
			c.want("type", text)
		}
		for _, t := range n.types {
			if t != "integer" && !slices.Contains(kindNames[:], t) && c.err == nil {
				c.err = fmt.Errorf("%s is no type", quote(t))
			}
		}
	}
	if e := c.want("enum", array); e != nil {
		n.enum = make(map[string]bool, len(e.items))
		n.listed = e.items
		for _, x := range e.items {
			n.enum[string(x.canonical(c.r, nil))] = true
		}
	}
	if x := v.get("const"); x != nil && n.draft >= draft6 {
		n.constant, n.constantText = x, string(x.canonical(c.r, nil))
	}
	if n.format = c.str("format"); n.format != "" {
		n.checkFormat = formats()[n.format]
	}
	n.allOf, n.anyOf, n.oneOf = c.schemas("allOf"), c.schemas("anyOf"), c.schemas("oneOf")
	n.not = c.schema("not")
	if n.draft >= draft7 {
		if n.when = c.schema("if"); n.when != nil {
			n.then, n.other = c.schema("then"), c.schema("else")
		}
	}
}

func (c *compiler) numbers() {
	n, v := c.n, c.n.source
	n.minimum, n.maximum = c.number("minimum"), c.number("maximum")
	// A boolean is read as draft 4 meant it: such schemas are common under later drafts.
	flag := func(key string) bool {
		x := v.get(key)
		return n.draft == draft4 || x != nil && x.kind == boolean
	}
	if !flag("exclusiveMinimum") {
		n.exclusiveMinimum = c.number("exclusiveMinimum")
	} else if c.flag("exclusiveMinimum") {
		n.minimum, n.exclusiveMinimum = nil, n.minimum
	}
	if !flag("exclusiveMaximum") {
		n.exclusiveMax = c.number("exclusiveMaximum")
	} else if c.flag("exclusiveMaximum") {
		n.maximum, n.exclusiveMax = nil, n.maximum
	}
	if n.multipleOf = c.number("multipleOf"); n.multipleOf != nil && n.multipleOf.sign() <= 0 && c.err == nil {
		c.err = fmt.Errorf("multipleOf must be more than 0")
	}
}

func (c *compiler) strings() {
	c.n.minLength, c.n.maxLength = c.count("minLength"), c.count("maxLength")
	if p := c.want("pattern", text); p != nil {
		c.n.pattern = c.pattern(p.text)
	}
}

func (c *compiler) arrays() {
	n := c.n
	n.minItems, n.maxItems, n.unique = c.count("minItems"), c.count("maxItems"), c.flag("uniqueItems")
	if n.draft >= draft2020 {
		n.prefix = c.schemas("prefixItems")
	}
	if items := n.source.get("items"); items != nil && items.kind == array { // as draft 7 meant it, under 2020-12 too
		n.prefix = append(n.prefix, c.schemas("items")...)
		n.rest, n.restName = c.schema("additionalItems"), "additionalItems"
	} else {
		n.rest, n.restName = c.schema("items"), "items"
	}
	if n.draft >= draft6 {
		n.contains = c.schema("contains")
	}
	if n.draft >= draft2019 {
		n.minContains, n.maxContains = c.count("minContains"), c.count("maxContains")
		if n.unevaluatedItems = c.schema("unevaluatedItems"); n.unevaluatedItems != nil {
			c.s.evaluations = true
		}
	}
}

func (c *compiler) objects() {
	n := c.n
	n.minProperties, n.maxProperties = c.count("minProperties"), c.count("maxProperties")
	if v := n.source.get("required"); v != nil && (n.draft > draft4 || v.kind == array) {
		if v = c.want("required", array); v != nil {
			n.required = texts(v)
		}
	}
	if names, schemas := c.members("properties"); names != nil {
		n.properties = make(map[string]*node, len(names))
		for i, name := range names {
			n.properties[name] = schemas[i]
		}
	}
	names, schemas := c.members("patternProperties")
	for i, name := range names {
		if p := c.pattern(name); p != nil {
			n.patterns = append(n.patterns, patternSchema{p, schemas[i]})
		}
	}
	n.additional = c.schema("additionalProperties")
	if n.draft >= draft6 {
		n.names = c.schema("propertyNames")
	}
	if v := c.want("dependencies", object); v != nil {
		for _, name := range v.names {
			c.dependency("dependencies", name, v.members[name])
		}
	}
	if n.draft >= draft2019 {
		if v := c.want("dependentRequired", object); v != nil {
			for _, name := range v.names {
				c.dependency("dependentRequired", name, v.members[name])
			}
		}
		names, schemas := c.members("dependentSchemas")
		for i, name := range names {
			n.dependent = append(n.dependent, dependency{keyword: "dependentSchemas", name: name, schema: schemas[i]})
		}
		if n.unevaluatedProperties = c.schema("unevaluatedProperties"); n.unevaluatedProperties != nil {
			c.s.evaluations = true
		}
	}
}

func (c *compiler) dependency(keyword, name string, v *value) {
	d := dependency{keyword: keyword, name: name}
	switch {
	case v.kind == array:
		d.required = texts(v)
	case v.kind == text && keyword == "dependencies": // draft 3's, which the engine reads too
		d.required = []string{v.text}
	default:
		d.schema = c.s.index(c.r, v, c.n.resource, c.n.draft)
	}
	c.n.dependent = append(c.n.dependent, d)
}
