package schema

import (
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// solver decides whether goals have values.
type solver struct {
	*base
	views   *views
	numbers *numbers
	objects *objects
	arrays  *arrays

	known    []verdict // by goal, as far as computed
	deciding int       // number of goals that are being decided
	lists    *logic.Listings
}

func newSolver(b *base, vs *views, nums *numbers) *solver {
	return &solver{base: b, views: vs, numbers: nums, known: []verdict{logic.Never: hasNone, logic.Always: hasSome}, lists: logic.NewListings(&b.goals)}
}

// verdict is what is known about whether a goal has values.
type verdict uint8

const (
	unknown verdict = iota
	beingDecided
	hasNone
	hasSome
)

func (sv *solver) decided(g logic.Goal, ok bool) {
	sv.known[g] = hasNone
	if ok {
		sv.known[g] = hasSome
	}
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
		return len(sv.numbers.automataOf(logic.Form(v))) > 0
	case jString:
		return sv.machine(regular.Expr(v)).Start() != regular.Dead
	case jArray:
		return sv.arrays.satisfiable(logic.Form(v))
	}
	return sv.objects.satisfiable(logic.Form(v))
}

// satisfiable reports whether some value fulfils g. A schema that can be
// fulfilled only by containing itself is not satisfiable: values are finite.
func (sv *solver) satisfiable(g logic.Goal) bool {
	if n := int(g) + 1 - len(sv.known); n > 0 {
		sv.known = append(sv.known, make([]verdict, n)...)
	}
	switch sv.known[g] {
	case hasSome:
		return true
	case hasNone:
		return false
	}
	sv.goals.Meter.Step(4)
	if sv.known[g] == beingDecided {
		sv.guesses.goals++
		return false
	}
	switch info := &sv.goals.Info[g]; info.Kind {
	case logic.OfNode:
		if quickProductive(info.Node) {
			sv.known[g] = hasSome
			return true
		}
	case logic.AllOf:
		if ok, known := sv.lists.Together(info.List); known {
			sv.decided(g, ok)
			return ok
		}
	}
	sv.known[g] = beingDecided
	sv.deciding++
	since := sv.guesses
	ok := false
	for _, t := range [...]jtype{jScalar, jString, jNumber, jArray, jObject} {
		if sv.hasValue(g, t, sv.views.of(g, t)) {
			ok = true
			break
		}
	}
	sv.known[g] = unknown
	sv.deciding--
	// "No" may rest on the assumption about an enclosing goal; then it holds
	// only inside that goal.
	if sv.firm(since, ok || sv.deciding == 0) {
		sv.decided(g, ok)
	}
	if sv.deciding == 0 {
		sv.guesses.goals = 0
	}
	return ok
}

// hasValue is viewSatisfiable for the view of a goal that is being decided. The outermost
// one is probably entered next, so its object gets its initial state.
func (sv *solver) hasValue(g logic.Goal, t jtype, v int32) bool {
	if t == jObject && sv.deciding == 1 && v != int32(logic.Yes) && !sv.opt.Closed && sv.goals.Info[g].Kind == logic.OfNode {
		return sv.objects.start(g) >= 0
	}
	return sv.viewSatisfiable(t, v)
}

// quickProductive recognises schemas that obviously have values, so that large
// objects can be entered without analysing everything that they may contain.
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
