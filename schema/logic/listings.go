package logic

import (
	"slices"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/syntax"
)

// Listings determines which goals list the values that they allow, or those that
// they forbid, where all of these are strings, booleans or null. Whether such
// goals can be fulfilled together is decided without languages.
type Listings struct {
	goals     *Goals
	constants map[string]int32 // numbers of strings, booleans and null, by kind and text
	of        []listing        // by goal, as far as computed
}

// NewListings returns a table for goals.
func NewListings(goals *Goals) *Listings {
	return &Listings{goals: goals, constants: map[string]int32{}}
}

// A listing is the list of one goal.
type listing struct {
	state  int8 // 0: not computed, 1: lists values, -1: has other demands
	not    bool
	values []int32 // by number
}

func (t *Listings) listing(g Goal) *listing {
	if int(g) >= len(t.of) {
		t.of = append(t.of, make([]listing, len(t.goals.Info)-len(t.of))...)
	}
	l := &t.of[g]
	if l.state != 0 {
		return l
	}
	l.state = -1
	var values []*jsondoc.Value
	info := &t.goals.Info[g]
	switch info.Kind {
	case Equals, Differs:
		values = []*jsondoc.Value{info.Value}
	case OfNode, NotNode:
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
		// Keywords for strings may exclude listed strings.
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
			ids[i] = t.constant(v)
		default:
			return l
		}
	}
	*l = listing{state: 1, not: info.Kind == NotNode || info.Kind == Differs, values: ids}
	return l
}

// Values returns the values that a goal allows, by number, if it lists them.
func (t *Listings) Values(g Goal) ([]int32, bool) {
	l := t.listing(g)
	return l.values, l.state == 1 && !l.not
}

// mayBe holds, by kind, the types that a value of that kind has.
var mayBe = [...]syntax.TypeSet{
	jsondoc.Null: syntax.TypeNull, jsondoc.False: syntax.TypeBoolean, jsondoc.True: syntax.TypeBoolean, jsondoc.String: syntax.TypeString,
	jsondoc.Number: syntax.TypeNumber | syntax.TypeInteger, jsondoc.Array: syntax.TypeArray, jsondoc.Object: syntax.TypeObject,
}

// constant returns the number of a string, a boolean or null.
func (t *Listings) constant(v *jsondoc.Value) int32 {
	key := string(rune('0'+v.Kind)) + v.Text
	id, ok := t.constants[key]
	if !ok {
		id = int32(len(t.constants))
		t.constants[key] = id
	}
	return id
}

// Together reports whether goals that all list values can be fulfilled together.
// known is false if one of them doesn't list any.
func (t *Listings) Together(goals []Goal) (possible, known bool) {
	var shortest []int32
	some := false
	for _, g := range goals {
		l := t.listing(g)
		if l.state < 0 {
			return false, false
		}
		if !l.not && (!some || len(l.values) < len(shortest)) {
			some, shortest = true, l.values
		}
	}
	if !some {
		return true, true // only exclusions: there are always more strings
	}
	for _, v := range shortest {
		ok := true
		t.goals.Meter.Step(len(goals))
		for _, g := range goals {
			l := &t.of[g]
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
