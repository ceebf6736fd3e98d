package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// A resource is a schema with an identifier of its own, or the document.
type resource struct {
	id       int32
	uri      string // absolute, without fragment; "" for a document without $id
	root     *node
	anchors  map[string]*node
	dynamics map[string]*node // $dynamicAnchor
	recurses bool             // $recursiveAnchor: true
}

type resources struct {
	root  *resource
	list  []*resource
	byURI map[string]*resource
}

func (r *resources) init() {
	r.root = &resource{}
	r.list = []*resource{r.root}
	r.byURI = map[string]*resource{"": r.root}
}

// identify reads the keywords that give a schema a name.
func (d *document) identify(n *node) {
	v := n.val
	key := "$id"
	if n.draft == draft4 {
		key = "id"
	}
	id := v.get(key)
	if n.draft <= draft7 && v.get("$ref") != nil {
		id = nil // ignored beside $ref
	}
	if n.parent == nil {
		n.resource.root = n
	}
	if id != nil && id.kind == kindString {
		base, fragment, _ := strings.Cut(id.str, "#")
		if base != "" {
			uri := resolveURI(n.resource.uri, base)
			if n.parent == nil {
				n.resource.uri = uri
			} else {
				n.resource = &resource{id: int32(len(d.res.list)), uri: uri, root: n}
				d.res.list = append(d.res.list, n.resource)
			}
			if _, taken := d.res.byURI[uri]; !taken {
				d.res.byURI[uri] = n.resource
			}
		}
		if fragment != "" && n.draft <= draft7 {
			n.resource.anchor(fragment, n)
		}
	}
	if n.draft >= draft2019 {
		if a := v.get("$anchor"); a != nil && a.kind == kindString {
			n.resource.anchor(a.str, n)
		}
	}
	if n.draft == draft2019 {
		if a := v.get("$recursiveAnchor"); a != nil && a.kind == kindTrue {
			n.resource.recurses = true
		}
	}
	if n.draft == draft2020 {
		if a := v.get("$dynamicAnchor"); a != nil && a.kind == kindString {
			n.resource.anchor(a.str, n)
			if n.resource.dynamics == nil {
				n.resource.dynamics = map[string]*node{}
			}
			n.resource.dynamics[a.str] = n
		}
	}
}

func (r *resource) anchor(name string, n *node) {
	if r.anchors == nil {
		r.anchors = map[string]*node{}
	}
	r.anchors[name] = n
}

func resolveURI(base, ref string) string {
	if base == "" {
		return ref
	}
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

func (d *document) refKeyword(n *node, keyword string, v *value) {
	if v.kind != kindString {
		d.bad(n, keyword, v, "must be a string")
		return
	}
	d.used(keyword)
	r := &reference{keyword: keyword, text: v.str}
	if n.apply == nil {
		n.apply = &applicators{}
	}
	if keyword == "$ref" {
		n.apply.ref = r
	} else {
		n.apply.dynamic = r
	}
	d.refs = append(d.refs, n)
}

// resolveAll finds the targets of all references. A target that no keyword
// had made a schema becomes one, and may bring further references.
func (d *document) resolveAll() {
	for i := 0; i < len(d.refs); i++ {
		n := d.refs[i]
		if r := n.apply.ref; r != nil && r.target == nil {
			r.target = d.resolve(n, r)
		}
		if r := n.apply.dynamic; r != nil && r.target == nil {
			r.target = d.resolve(n, r)
			if r.target == nil {
				continue
			}
			switch r.keyword {
			case "$recursiveRef":
				if r.target.resource.recurses && r.target == r.target.resource.root {
					r.anchor, d.dynamic = "#", true
				}
			case "$dynamicRef":
				_, fragment, _ := strings.Cut(r.text, "#")
				if t := r.target.resource.dynamics[fragment]; t != nil && t == r.target {
					r.anchor, d.dynamic = fragment, true
				}
			}
		}
	}
}

// checkLoops refuses schemas that apply themselves to the value that they are
// applied to: they would have no meaning.
func (d *document) checkLoops() {
	const (
		open = 1 + iota
		done
	)
	state := make([]uint8, len(d.nodes))
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || state[n.id] == done {
			return
		}
		if state[n.id] == open {
			d.invalid = append(d.invalid, d.issue(Issue{Pointer: n.pointer(), Keyword: "$ref", Reason: "the schema refers to itself without an end"}, n.val))
			return
		}
		state[n.id] = open
		if a := n.apply; a != nil {
			for _, list := range [][]*node{a.allOf, a.anyOf, a.oneOf, {a.not, a.when, a.then, a.otherwise}} {
				for _, x := range list {
					visit(x)
				}
			}
			if a.ref != nil {
				visit(a.ref.target)
			}
			if a.dynamic != nil {
				visit(a.dynamic.target)
			}
		}
		if n.obj != nil {
			for _, p := range n.obj.depSchemas {
				visit(p.node)
			}
		}
		state[n.id] = done
	}
	for _, n := range d.nodes {
		visit(n)
	}
}

func (d *document) resolve(n *node, r *reference) *node {
	base, fragment, _ := strings.Cut(r.text, "#")
	if f, err := url.PathUnescape(fragment); err == nil {
		fragment = f
	}
	res := n.resource
	if base != "" {
		uri := resolveURI(n.resource.uri, base)
		if res = d.res.byURI[uri]; res == nil {
			res = d.res.byURI[strings.TrimSuffix(uri, "/")]
		}
		if res == nil {
			d.cannot(n, r.keyword, n.val.get(r.keyword), "references outside of the document are not followed",
				"copy the schema into $defs")
			return nil
		}
	}
	missing := func(reason string) *node {
		d.invalid = append(d.invalid, d.issue(Issue{
			Pointer: n.pointer() + "/" + r.keyword, Keyword: r.keyword, Value: strconv.Quote(r.text), Reason: reason,
		}, n.val.get(r.keyword)))
		return nil
	}
	if fragment == "" {
		return res.root
	}
	if fragment[0] != '/' {
		if t := res.anchors[fragment]; t != nil {
			return t
		}
		return missing("no schema has this anchor")
	}
	// Walk the document, noting the innermost schema on the way.
	at, owner, from := res.root.val, res.root, 0
	tokens := strings.Split(fragment[1:], "/")
	for i, tok := range tokens {
		tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		var next *value
		switch at.kind {
		case kindObject:
			next = at.get(tok)
		case kindArray:
			if j, err := strconv.Atoi(tok); err == nil && j >= 0 && j < len(at.items) && (tok == "0" || tok[0] != '0') {
				next = at.items[j]
			}
		}
		if next == nil {
			return missing("nothing is there")
		}
		at = next
		if t := d.byValue[at]; t != nil {
			owner, from = t, i+1
		}
	}
	if t := d.byValue[at]; t != nil {
		return t
	}
	return d.node(at, owner, strings.Join(tokens[from:], "/"), owner.resource)
}

// scopes interns dynamic scopes: the resources entered on the way to a
// schema, outermost first. Only documents with dynamic references have more
// than one.
type scopes struct {
	list  [][]*resource
	index map[string]int32
}

func (s *scopes) enter(scope int32, r *resource) int32 {
	if len(s.list) == 0 {
		s.list, s.index = [][]*resource{nil}, map[string]int32{}
	}
	for _, x := range s.list[scope] {
		if x == r {
			return scope // the outermost entry is what counts
		}
	}
	next := append(append([]*resource(nil), s.list[scope]...), r)
	var key strings.Builder
	for _, x := range next {
		key.WriteString(strconv.Itoa(int(x.id)))
		key.WriteByte(',')
	}
	if i, ok := s.index[key.String()]; ok {
		return i
	}
	i := int32(len(s.list))
	s.list = append(s.list, next)
	s.index[key.String()] = i
	return i
}

// dynamicTarget returns what a dynamic reference means in a scope.
func (s *scopes) dynamicTarget(r *reference, scope int32) *node {
	if len(s.list) == 0 {
		return r.target
	}
	for _, x := range s.list[scope] {
		if r.keyword == "$recursiveRef" {
			if x.recurses {
				return x.root
			}
			// The outermost resource counts only as far as the chain of
			// recursive anchors reaches.
			continue
		}
		if t := x.dynamics[r.anchor]; t != nil {
			return t
		}
	}
	return r.target
}
