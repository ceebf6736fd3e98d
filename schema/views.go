package schema

import (
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// jtype is a JSON type for which a goal has a view.
type jtype uint8

const (
	jScalar jtype = iota // null, false, true: the view is a set of them
	jNumber              // the view is a form over number literals
	jString              // the view is a regular.Expr
	jArray               // the view is a form
	jObject              // the view is a form
	jtypes
)

const (
	scalarNull  = 1
	scalarFalse = 2
	scalarTrue  = 4
	scalarAll   = 7
)

// views computes what goals mean for each JSON type.
type views struct {
	*base
	sets        *keySets
	numbers     *numbers
	satisfiable func(t jtype, view int32) bool     // used by oneOf only
	listed      func(g logic.Goal) ([]int32, bool) // the values that a goal lists, by number; used by oneOf only

	known  []goalViews // by goal, as far as computed
	scopes syntax.Scopes
}

func newViews(b *base, sets *keySets, nums *numbers) *views {
	return &views{base: b, sets: sets, numbers: nums}
}

// goalViews are the views of one goal.
type goalViews struct {
	known    uint8 // set of types
	visiting uint8 // set of types whose views are being computed
	of       [jtypes]int32
}

// bytes returns the memory held, approximately.
func (vs *views) bytes() (n int) { return 24 * len(vs.known) }

// root returns the goal of the whole document.
func (vs *views) root() logic.Goal {
	return vs.goals.Node(vs.doc.Root, vs.scope(vs.doc.Root, 0))
}

// scope returns the dynamic scope inside n when it is entered from scope.
func (vs *views) scope(n *syntax.Node, scope int32) int32 {
	if !vs.doc.Dynamic {
		return 0
	}
	return vs.scopes.Enter(scope, n.Resource)
}

// sub returns the goal of a subschema of a schema entered in scope.
func (vs *views) sub(n *syntax.Node, scope int32) logic.Goal {
	return vs.goals.Node(n, vs.scope(n, scope))
}

// and combines two views of one type.
func (vs *views) and(t jtype, a, b int32) int32 {
	switch t {
	case jScalar:
		return a & b
	case jString:
		return int32(vs.lang.And(regular.Expr(a), regular.Expr(b)))
	}
	return int32(vs.forms.And(logic.Form(a), logic.Form(b)))
}

func (vs *views) not(t jtype, a int32) int32 {
	switch t {
	case jScalar:
		return scalarAll &^ a
	case jString:
		return int32(vs.lang.Not(regular.Expr(a)))
	}
	return int32(vs.forms.Not(logic.Form(a)))
}

// all returns the view of Always.
func (vs *views) all(t jtype) int32 {
	switch t {
	case jScalar:
		return scalarAll
	case jString:
		return int32(vs.lang.Any)
	}
	return int32(logic.Yes)
}

func (vs *views) none(t jtype) int32 {
	switch t {
	case jScalar:
		return 0
	case jString:
		return int32(vs.lang.Empty)
	}
	return int32(logic.No)
}

// andAll combines many views at once.
func (vs *views) andAll(t jtype, list []int32) int32 {
	switch t {
	case jScalar:
		out := int32(scalarAll)
		for _, x := range list {
			out &= x
		}
		return out
	case jString:
		return int32(vs.lang.And(numbered[regular.Expr](list)...))
	}
	return int32(vs.forms.And(numbered[logic.Form](list)...))
}

func (vs *views) orAll(t jtype, list []int32) int32 {
	switch t {
	case jScalar:
		out := int32(0)
		for _, x := range list {
			out |= x
		}
		return out
	case jString:
		return int32(vs.lang.Or(numbered[regular.Expr](list)...))
	}
	return int32(vs.forms.Or(numbered[logic.Form](list)...))
}

// numbered returns views as what they are for a type.
func numbered[T ~int32](list []int32) []T {
	out := make([]T, len(list))
	for i, x := range list {
		out[i] = T(x)
	}
	return out
}

// of returns what g demands of values of type t.
func (vs *views) of(g logic.Goal, t jtype) int32 {
	switch g {
	case logic.Always:
		return vs.all(t)
	case logic.Never:
		return vs.none(t)
	}
	if n := int(g) + 1 - len(vs.known); n > 0 {
		vs.known = append(vs.known, make([]goalViews, n)...)
	}
	bit := uint8(1) << t
	if k := &vs.known[g]; k.known&bit != 0 {
		return k.of[t]
	} else if k.visiting&bit != 0 {
		// A view is needed before it is known only to decide whether
		// alternatives exclude each other, which looks at values inside values.
		// Here, where the question comes back to itself, the answer is that
		// they don't.
		vs.guesses.views++
		return vs.all(t)
	}
	info := vs.goals.Info[g]
	vs.meter.Step(1 + len(info.List))
	vs.known[g].visiting |= bit
	before := vs.guesses.views
	var v int32
	switch info.Kind {
	case logic.OfNode:
		v = vs.nodeView(info.Node, info.Scope, t)
	case logic.NotNode, logic.Differs:
		v = vs.not(t, vs.of(vs.goals.Not(g), t))
	case logic.Equals:
		v = vs.constView(info.Value, t)
	default:
		list := make([]int32, len(info.List))
		for i, x := range info.List {
			list[i] = vs.of(x, t)
		}
		if info.Kind == logic.AllOf {
			v = vs.andAll(t, list)
		} else {
			v = vs.orAll(t, list)
		}
	}
	k := &vs.known[g]
	k.visiting &^= bit
	if vs.guesses.views == before {
		k.known |= bit
		k.of[t] = v
	}
	return v
}

// nodeView returns what schema n demands of values of type t.
func (vs *views) nodeView(n *syntax.Node, scope int32, t jtype) int32 {
	none := vs.none(t)
	if n.Types != 0 {
		has := n.Types
		switch t {
		case jScalar:
			if has&(syntax.TypeNull|syntax.TypeBoolean) == 0 {
				return none
			}
		case jNumber:
			if has&(syntax.TypeNumber|syntax.TypeInteger) == 0 {
				return none
			}
		case jString:
			if has&syntax.TypeString == 0 {
				return none
			}
		case jArray:
			if has&syntax.TypeArray == 0 {
				return none
			}
		case jObject:
			if has&syntax.TypeObject == 0 {
				return none
			}
		}
	}
	var list []int32
	add := func(v int32) { list = append(list, v) }
	if n.Const != nil {
		add(vs.constView(n.Const, t))
	}
	if n.HasEnum {
		add(vs.enumView(n.Enum, t))
	}
	switch t {
	case jScalar:
		if n.Types != 0 {
			var v int32
			if n.Types&syntax.TypeNull != 0 {
				v |= scalarNull
			}
			if n.Types&syntax.TypeBoolean != 0 {
				v |= scalarFalse | scalarTrue
			}
			add(v)
		}
	case jNumber:
		list = vs.numberKeywords(n, list)
	case jString:
		if n.String != nil {
			add(int32(vs.stringKeywords(n)))
		}
	case jArray:
		if n.Array != nil {
			list = vs.arrayKeywords(n, scope, list)
		}
	case jObject:
		if n.Object != nil {
			list = vs.objectKeywords(n, scope, list)
		}
	}
	for _, v := range list {
		if v == none {
			return none
		}
	}
	if a := n.Apply; a != nil {
		list = vs.applicators(n, a, scope, t, list)
	}
	if t == jObject && n.Object != nil && n.Object.Unevaluated != nil {
		list = append(list, int32(vs.unevaluatedProperties(n, scope)))
	}
	if t == jArray && n.Array != nil && n.Array.Unevaluated != nil {
		list = append(list, int32(vs.unevaluatedItems(n, scope)))
	}
	return vs.andAll(t, list)
}

func (vs *views) applicators(n *syntax.Node, a *syntax.Applicators, scope int32, t jtype, list []int32) []int32 {
	for _, x := range a.AllOf {
		list = append(list, vs.of(vs.sub(x, scope), t))
	}
	if len(a.AnyOf) > 0 {
		alts := make([]int32, len(a.AnyOf))
		for i, x := range a.AnyOf {
			alts[i] = vs.of(vs.sub(x, scope), t)
		}
		list = append(list, vs.orAll(t, alts))
	}
	if len(a.OneOf) > 0 {
		list = append(list, vs.oneOf(a.OneOf, scope, t, vs.andAll(t, list)))
	}
	if a.Not != nil {
		list = append(list, vs.not(t, vs.of(vs.sub(a.Not, scope), t)))
	}
	if a.If != nil && (a.Then != nil || a.Else != nil) {
		when := vs.of(vs.sub(a.If, scope), t)
		if a.Then != nil {
			list = append(list, vs.orAll(t, []int32{vs.not(t, when), vs.of(vs.sub(a.Then, scope), t)}))
		}
		if a.Else != nil {
			list = append(list, vs.orAll(t, []int32{when, vs.of(vs.sub(a.Else, scope), t)}))
		}
	}
	if a.Ref != nil && a.Ref.Target != nil {
		list = append(list, vs.of(vs.sub(a.Ref.Target, scope), t))
	}
	if r := a.DynamicRef; r != nil && r.Target != nil {
		target := r.Target
		if r.Anchor != "" {
			target = vs.scopes.Target(r, vs.scope(n, scope))
		}
		list = append(list, vs.of(vs.sub(target, scope), t))
	}
	return list
}

// oneOf returns the view "this one and none of the others". Alternatives that
// exclude each other, given the other demands, need not be negated.
func (vs *views) oneOf(nodes []*syntax.Node, scope int32, t jtype, given int32) int32 {
	none := vs.none(t)
	var alts []int32
	count := map[int32]int{}
	for _, n := range nodes {
		v := vs.of(vs.sub(n, scope), t)
		if v != none {
			if count[v]++; count[v] == 1 {
				alts = append(alts, v)
			}
		}
	}
	tags := make([]logic.Tags, len(alts))
	if t == jObject {
		for i, v := range alts {
			tags[i] = vs.forms.Tags(logic.Form(v), vs.listed)
		}
	}
	rivals := logic.Rivals(tags)
	out := make([]int32, 0, len(alts))
	for i, v := range alts {
		if count[v] > 1 {
			continue // two equal alternatives are never exactly one
		}
		parts := []int32{v}
		for _, j := range rivals[i] {
			if w := alts[j]; !vs.disjoint(t, given, v, w) {
				parts = append(parts, vs.not(t, w))
			}
		}
		out = append(out, vs.andAll(t, parts))
	}
	return vs.orAll(t, out)
}

func (vs *views) disjoint(t jtype, given, a, b int32) bool {
	both := vs.and(t, a, b)
	if both == vs.none(t) {
		return true
	}
	// The given part helps only if it is small; the answer true is correct with
	// or without it.
	before := vs.guesses.views
	apart := !vs.satisfiable(t, both)
	if vs.guesses.views != before {
		vs.guesses.views = before
		return false
	}
	return apart
}
