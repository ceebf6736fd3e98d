package schema

import (
	"stencil/regular"
	"stencil/schema/syntax"
)

// solver decides whether goals have values.
type solver struct {
	*base
	views   *views
	numbers *numbers
	objects *objects
	arrays  *arrays

	known    map[goal]bool
	deciding map[goal]bool

	constants map[string]int32 // strings, booleans and null, by kind and text
	listings  []listing        // by goal, as far as looked at
}

func newSolver(b *base, vs *views, nums *numbers) *solver {
	return &solver{base: b, views: vs, numbers: nums, known: map[goal]bool{never: false, always: true},
		deciding: map[goal]bool{}, constants: map[string]int32{}}
}

// viewSatisfiable reports whether some value of type t fulfils a view.
func (sv *solver) viewSatisfiable(t jtype, v int32) bool {
	if v == sv.views.none(t) {
		return false
	}
	switch t {
	case jScalar:
		return v != 0
	case jNumber:
		return len(sv.numbers.automataOf(form(v))) > 0
	case jString:
		return sv.machine(regular.Expr(v)).Start() != regular.Dead
	case jArray:
		return sv.arrays.satisfiable(form(v))
	}
	return sv.objects.satisfiable(form(v))
}

// satisfiable reports whether some value fulfils g. A schema that needs
// itself to be fulfilled is not: values are finite.
func (sv *solver) satisfiable(g goal) bool {
	if p, ok := sv.known[g]; ok {
		return p
	}
	if sv.deciding[g] {
		sv.assumed++
		return false
	}
	switch info := &sv.goals.info[g]; info.kind {
	case goalNode:
		if quickProductive(info.node) {
			sv.known[g] = true
			return true
		}
	case goalAnd:
		if ok, known := sv.listedTogether(info.list); known {
			sv.known[g] = ok
			return ok
		}
	}
	sv.deciding[g] = true
	before, reentries := sv.assumed, sv.reentries
	ok := false
	for _, t := range [...]jtype{jScalar, jString, jNumber, jArray, jObject} {
		if sv.viewSatisfiable(t, sv.views.of(g, t)) {
			ok = true
			break
		}
	}
	delete(sv.deciding, g)
	// "No" may rest on the assumption about a goal further up; then it
	// holds only below that goal.
	if sv.reentries == reentries && (ok || sv.assumed == before || len(sv.deciding) == 0) {
		sv.known[g] = ok
	}
	if len(sv.deciding) == 0 {
		sv.assumed = 0
	}
	return ok
}

// quickProductive recognises schemas that obviously have values, so that
// large objects can be entered without analysing all that they may contain.
func quickProductive(n *syntax.Node) bool {
	if n.Apply != nil || n.Const != nil || n.HasEnum {
		return false
	}
	if n.Types == 0 || n.Types&(syntax.TypeNull|syntax.TypeBoolean) != 0 {
		return true
	}
	if n.Types&syntax.TypeString != 0 && (n.String == nil || !n.String.HasPattern && n.String.Format == "" && (n.String.Max == syntax.NoMax || n.String.Min <= n.String.Max)) {
		return true
	}
	if n.Types&(syntax.TypeNumber|syntax.TypeInteger) != 0 && n.Number == nil {
		return true
	}
	if n.Types&syntax.TypeObject != 0 && (n.Object == nil || len(n.Object.Required) == 0 && n.Object.Min == 0 && len(n.Object.DependentRequired) == 0 && len(n.Object.DependentSchemas) == 0 && n.Object.Unevaluated == nil) {
		return true
	}
	return n.Types&syntax.TypeArray != 0 && (n.Array == nil || n.Array.Min == 0 && n.Array.Contains == nil && n.Array.Unevaluated == nil)
}
