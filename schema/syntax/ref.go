package syntax

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// A Resource is a schema with an identifier of its own, or the document.
type Resource struct {
	id       int32
	uri      string // absolute, without fragment; "" for a document without $id
	root     *Node
	anchors  map[string]*Node
	dynamics map[string]*Node // $dynamicAnchor
	recurses bool             // $recursiveAnchor: true
}

type resources struct {
	root  *Resource
	list  []*Resource
	byURI map[string]*Resource
}

func (r *resources) init() {
	r.root = &Resource{}
	r.list = []*Resource{r.root}
	r.byURI = map[string]*Resource{"": r.root}
}

// identify reads the keywords that identify a schema.
func (d *Document) identify(n *Node) {
	v := n.Value
	key := "$id"
	if n.Draft == Draft4 {
		key = "id"
	}
	id := v.Get(key)
	if n.Draft <= Draft7 && v.Get("$ref") != nil {
		id = nil // ignored beside $ref
	}
	if id != nil && id.Kind == jsondoc.String {
		base, fragment, _ := strings.Cut(id.Text, "#")
		if base != "" {
			uri := resolveURI(n.Resource.uri, base)
			if n.parent == nil {
				n.Resource.uri = uri
			} else {
				n.Resource = &Resource{id: int32(len(d.res.list)), uri: uri, root: n}
				d.res.list = append(d.res.list, n.Resource)
			}
			if _, taken := d.res.byURI[uri]; !taken {
				d.res.byURI[uri] = n.Resource
			}
		}
		if fragment != "" && n.Draft <= Draft7 {
			n.Resource.anchor(fragment, n)
		}
	}
	if n.Draft >= Draft2019 {
		if a := v.Get("$anchor"); a != nil && a.Kind == jsondoc.String {
			n.Resource.anchor(a.Text, n)
		}
	}
	if n.Draft == Draft2019 {
		if a := v.Get("$recursiveAnchor"); a != nil && a.Kind == jsondoc.True {
			n.Resource.recurses = true
		}
	}
	if n.Draft == Draft2020 {
		if a := v.Get("$dynamicAnchor"); a != nil && a.Kind == jsondoc.String {
			n.Resource.anchor(a.Text, n)
			if n.Resource.dynamics == nil {
				n.Resource.dynamics = map[string]*Node{}
			}
			n.Resource.dynamics[a.Text] = n
		}
	}
}

func (r *Resource) anchor(name string, n *Node) {
	if r.anchors == nil {
		r.anchors = map[string]*Node{}
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

func (d *Document) refKeyword(n *Node, keyword string, v *jsondoc.Value) {
	if v.Kind != jsondoc.String {
		d.bad(n, keyword, v, "must be a string")
		return
	}
	d.used(keyword)
	r := &Reference{Keyword: keyword, text: v.Text}
	if n.Apply == nil {
		n.Apply = &Applicators{}
	}
	if keyword == "$ref" {
		n.Apply.Ref = r
	} else {
		n.Apply.DynamicRef = r
	}
	d.refs = append(d.refs, n)
}

// resolveAll finds the targets of all references. A target that is not yet a
// schema becomes one, and may contain further references.
func (d *Document) resolveAll() {
	for i := 0; i < len(d.refs); i++ {
		n := d.refs[i]
		if r := n.Apply.Ref; r != nil && r.Target == nil {
			r.Target = d.resolve(n, r)
		}
		if r := n.Apply.DynamicRef; r != nil && r.Target == nil {
			r.Target = d.resolve(n, r)
			if r.Target == nil {
				continue
			}
			switch r.Keyword {
			case "$recursiveRef":
				if r.Target.Resource.recurses && r.Target == r.Target.Resource.root {
					r.Anchor, d.Dynamic = "#", true
				}
			case "$dynamicRef":
				_, fragment, _ := strings.Cut(r.text, "#")
				if t := r.Target.Resource.dynamics[fragment]; t != nil && t == r.Target {
					r.Anchor, d.Dynamic = fragment, true
				}
			}
		}
	}
}

// checkLoops rejects schemas that apply themselves to the same value: they have
// no meaning.
func (d *Document) checkLoops() {
	const (
		open = 1 + iota
		done
	)
	state := make([]uint8, len(d.Nodes))
	var visit func(n *Node)
	all := func(list []*Node) {
		for _, x := range list {
			visit(x)
		}
	}
	visit = func(n *Node) {
		if n == nil || state[n.id] == done {
			return
		}
		if state[n.id] == open {
			d.Invalid = append(d.Invalid, d.Locate(Issue{Pointer: n.Pointer(), Keyword: "$ref", Reason: "the schema refers to itself without an end"}, n.Value))
			return
		}
		state[n.id] = open
		if a := n.Apply; a != nil {
			all(a.AllOf)
			all(a.AnyOf)
			all(a.OneOf)
			visit(a.Not)
			visit(a.If)
			visit(a.Then)
			visit(a.Else)
			if a.Ref != nil {
				visit(a.Ref.Target)
			}
			if a.DynamicRef != nil {
				visit(a.DynamicRef.Target)
			}
		}
		if n.Object != nil {
			for _, p := range n.Object.DependentSchemas {
				visit(p.Node)
			}
		}
		state[n.id] = done
	}
	for _, n := range d.Nodes {
		visit(n)
	}
}

func (d *Document) resolve(n *Node, r *Reference) *Node {
	base, fragment, _ := strings.Cut(r.text, "#")
	if strings.IndexByte(fragment, '%') >= 0 {
		if f, err := url.PathUnescape(fragment); err == nil {
			fragment = f
		}
	}
	res := n.Resource
	if base != "" {
		uri := resolveURI(n.Resource.uri, base)
		if res = d.res.byURI[uri]; res == nil {
			res = d.res.byURI[strings.TrimSuffix(uri, "/")]
		}
		if res == nil {
			d.cannot(n, r.Keyword, n.Value.Get(r.Keyword), "references outside of the document are not followed",
				"copy the schema into $defs")
			return nil
		}
	}
	missing := func(reason string) *Node {
		d.Invalid = append(d.Invalid, d.Locate(Issue{
			Pointer: n.Pointer() + "/" + r.Keyword, Keyword: r.Keyword, Value: strconv.Quote(r.text), Reason: reason,
		}, n.Value.Get(r.Keyword)))
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
	// Walk the document, keeping track of the innermost schema.
	at, owner := res.root.Value, res.root
	rest, fromOwner := fragment[1:], fragment[1:]
	for more := true; more; {
		var tok string
		tok, rest, more = strings.Cut(rest, "/")
		tok = jsondoc.UnescapePointer(tok)
		var next *jsondoc.Value
		switch at.Kind {
		case jsondoc.Object:
			next = d.memberOf(at, tok)
		case jsondoc.Array:
			if j, err := strconv.Atoi(tok); err == nil && j >= 0 && j < len(at.Items) && (tok == "0" || tok[0] != '0') {
				next = at.Items[j]
			}
		}
		if next == nil {
			return missing("nothing is there")
		}
		at = next
		if t := d.schemaAt(at); t != nil {
			owner, fromOwner = t, rest
		}
	}
	if t := d.schemaAt(at); t != nil {
		return t
	}
	return d.node(at, owner, position{keyword: fromOwner}, owner.Resource)
}

// manyMembers is the number of members from which those of an object that references lead
// through are put into a map.
const manyMembers = 32

// memberOf returns the value of a member of v, or nil.
func (d *Document) memberOf(v *jsondoc.Value, name string) *jsondoc.Value {
	if len(v.Members) < manyMembers || len(d.refs) < manyMembers {
		return v.Get(name)
	}
	index := d.members[v]
	if index == nil {
		index = make(map[string]*jsondoc.Value, len(v.Members))
		for _, m := range v.Members {
			index[m.Key] = m.Value
		}
		if d.members == nil {
			d.members = map[*jsondoc.Value]map[string]*jsondoc.Value{}
		}
		d.members[v] = index
	}
	return index[name]
}

// Scopes interns dynamic scopes: the resources entered on the way to a
// schema, outermost first. Only documents with dynamic references have more
// than one.
type Scopes struct {
	list  [][]*Resource
	index map[string]int32
}

// Enter returns the scope inside a resource that is entered from a scope.
func (s *Scopes) Enter(scope int32, r *Resource) int32 {
	if len(s.list) == 0 {
		s.list, s.index = [][]*Resource{nil}, map[string]int32{}
	}
	for _, x := range s.list[scope] {
		if x == r {
			return scope // only the outermost entry matters
		}
	}
	next := append(append([]*Resource(nil), s.list[scope]...), r)
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

// Target returns the target of a dynamic reference in a scope.
func (s *Scopes) Target(r *Reference, scope int32) *Node {
	if len(s.list) == 0 {
		return r.Target
	}
	for _, x := range s.list[scope] {
		if r.Keyword == "$recursiveRef" {
			if x.recurses {
				return x.root
			}
			// The outermost resource counts only as far as the chain of
			// recursive anchors extends.
			continue
		}
		if t := x.dynamics[r.Anchor]; t != nil {
			return t
		}
	}
	return r.Target
}
