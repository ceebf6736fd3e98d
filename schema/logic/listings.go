package schema

import (
	"slices"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// A enumSet is what a goal says that lists the values it allows, or those it
// forbids, all of them strings, booleans or null: it is decided without
// languages whether such goals can be fulfilled together.
type enumSet struct {
	state  int8 // 0: not looked at, 1: lists values, -1: says something else
	not    bool
	values []int32 // by number, in s.constants
}

// enumSet returns what goal g lists.
func (sv *solver) enumSet(g logic.Goal) *enumSet {
	if int(g) >= len(sv.enumSets) {
		sv.enumSets = append(sv.enumSets, make([]enumSet, len(sv.goals.Info)-len(sv.enumSets))...)
	}
	l := &sv.enumSets[g]
	if l.state != 0 {
		return l
	}
	l.state = -1
	var values []*jsondoc.Value
	info := &sv.goals.Info[g]
	switch info.Kind {
	case logic.Equals, logic.Differs:
		values = []*jsondoc.Value{info.Value}
	case logic.OfNode, logic.NotNode:
		n := info.Node
		if n.Apply != nil || n.HasEnum == (n.Const != nil) {
			return l
		}
		if values = n.Enum; n.Const != nil {
			values = []*jsondoc.Value{n.Const}
		}
		values = slices.DeleteFunc(slices.Clone(values), func(v *jsondoc.Value) bool {
			return n.Types != 0 && n.Types&mayBe[v.Kind] == 0
		})
		// What is said about strings alone is said about the listed ones.
		if n.String != nil && slices.ContainsFunc(values, func(v *jsondoc.Value) bool { return v.Kind == jsondoc.String }) {
			return l
		}
	default:
		return l
	}
	ids := make([]int32, len(values))
	for i, v := range values {
		switch v.Kind {
		case jsondoc.Null, jsondoc.False, jsondoc.True, jsondoc.String:
			ids[i] = sv.constantID(v)
		default:
			return l
		}
	}
	*l = enumSet{state: 1, not: info.Kind == logic.NotNode || info.Kind == logic.Differs, values: ids}
	return l
}

// listed returns the values, by number, of which a goal allows no others.
func (sv *solver) listed(g logic.Goal) ([]int32, bool) {
	l := sv.enumSet(g)
	return l.values, l.state == 1 && !l.not
}

// mayBe is the types that values of a kind may have.
var mayBe = [...]syntax.TypeSet{
	jsondoc.Null: syntax.TypeNull, jsondoc.False: syntax.TypeBoolean, jsondoc.True: syntax.TypeBoolean, jsondoc.String: syntax.TypeString,
	jsondoc.Number: syntax.TypeNumber | syntax.TypeInteger, jsondoc.Array: syntax.TypeArray, jsondoc.Object: syntax.TypeObject,
}

// constantID numbers strings, booleans and null.
func (sv *solver) constantID(v *jsondoc.Value) int32 {
	key := string(rune('0'+v.Kind)) + v.Text
	id, ok := sv.constants[key]
	if !ok {
		id = int32(len(sv.constants))
		sv.constants[key] = id
	}
	return id
}

// enumsTogether reports whether goals that all list values can be fulfilled
// together. known is false if one of them doesn't list any.
func (sv *solver) enumsTogether(goals []logic.Goal) (possible, known bool) {
	var shortest []int32
	some := false
	for _, g := range goals {
		l := sv.enumSet(g)
		if l.state < 0 {
			return false, false
		}
		if !l.not && (!some || len(l.values) < len(shortest)) {
			some, shortest = true, l.values
		}
	}
	if !some {
		return true, true // there are always more strings
	}
	for _, v := range shortest {
		ok := true
		sv.meter.Step(len(goals))
		for _, g := range goals {
			l := &sv.enumSets[g]
			if ok = slices.Contains(l.values, v) != l.not; !ok {
				break
			}
		}
		if ok {
			return true, true
		}
	}
	return false, true
}
