package logic

import (
	"encoding/binary"
	"slices"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/syntax"
)

// A Goal is a demand on a value: a schema, its negation, a constant, or a
// combination. Goals are hash-consed, so that the same demand reached in
// different ways is one number and is analysed once.
type Goal int32

const (
	Never  Goal = 0 // no value
	Always Goal = 1 // any value
)

// A GoalKind is the kind of a goal.
type GoalKind uint8

// The kinds of goals.
const (
	Nothing GoalKind = iota
	Anything
	OfNode
	NotNode
	AllOf
	AnyOf
	Equals
	Differs
)

// GoalInfo is a goal; its kind determines which fields are used.
type GoalInfo struct {
	Kind  GoalKind
	Node  *syntax.Node
	Scope int32
	List  []Goal
	Value *jsondoc.Value
}

// Goals builds and stores goals. Info has one entry for each; other packages
// must not modify it.
type Goals struct {
	Meter *meter.Meter // counts the work; may be nil
	Info  []GoalInfo
	index map[string]Goal
	not   []Goal // by goal: 1 + its negation, or 0 while that is unknown
	key   []byte
	flat  []Goal
	pairs []goalPair // by hash of the goals; nil until there are wide ones
	size  int
}

// NewGoals returns a table that holds [Never] and [Always].
func NewGoals() Goals {
	return Goals{
		Info:  []GoalInfo{{Kind: Nothing}, {Kind: Anything}},
		index: map[string]Goal{},
		not:   []Goal{Never: 1 + Always, Always: 1 + Never},
	}
}

func (t *Goals) intern(info GoalInfo) Goal {
	if g, ok := t.index[string(t.key)]; ok {
		return g
	}
	g := Goal(len(t.Info))
	t.Info, t.not = append(t.Info, info), append(t.not, 0)
	t.index[string(t.key)] = g
	t.size += entryBytes + 4*len(info.List) + len(t.key)
	return g
}

// Bytes returns the memory held, approximately.
func (t *Goals) Bytes() int { return t.size }

// Node returns the goal of fulfilling schema n, entered with a dynamic scope.
func (t *Goals) Node(n *syntax.Node, scope int32) Goal {
	switch {
	case n.Boolean > 0:
		return Always
	case n.Boolean < 0:
		return Never
	}
	return t.schema(OfNode, n, scope)
}

func (t *Goals) schema(kind GoalKind, n *syntax.Node, scope int32) Goal {
	t.key = append(t.key[:0], byte(kind))
	t.key = binary.LittleEndian.AppendUint32(t.key, uint32(n.EqualID))
	t.key = binary.LittleEndian.AppendUint32(t.key, uint32(scope))
	return t.intern(GoalInfo{Kind: kind, Node: n, Scope: scope})
}

// Constant returns the goal of being equal to v.
func (t *Goals) Constant(v *jsondoc.Value) Goal { return t.literal(Equals, v) }

func (t *Goals) literal(kind GoalKind, v *jsondoc.Value) Goal {
	t.key = v.AppendCanonical(append(t.key[:0], byte(kind)))
	return t.intern(GoalInfo{Kind: kind, Value: v})
}

// combine returns the conjunction or disjunction of list.
func (t *Goals) combine(kind GoalKind, list []Goal) Goal {
	neutral, absorbing := Always, Never
	if kind == AnyOf {
		neutral, absorbing = Never, Always
	}
	t.Meter.Step(1 + len(list))
	flat := t.flat[:0]
	for _, g := range list {
		switch {
		case g == absorbing:
			return absorbing
		case g == neutral:
		case t.Info[g].Kind == kind:
			flat = append(flat, t.Info[g].List...)
		default:
			flat = append(flat, g)
		}
	}
	t.flat = flat
	t.Meter.Step(len(flat) / 8)
	slices.Sort(flat)
	flat = slices.Compact(flat)
	switch len(flat) {
	case 0:
		return neutral
	case 1:
		return flat[0]
	}
	if t.opposed(flat, flat) {
		return absorbing
	}
	return t.group(kind, flat)
}

// opposed reports whether list, in ascending order, contains the negation of one of some.
func (t *Goals) opposed(some, list []Goal) bool {
	for _, g := range some {
		if n := t.not[g]; n != 0 {
			if _, both := slices.BinarySearch(list, n-1); both {
				return true
			}
		}
	}
	return false
}

// group returns the conjunction or disjunction of flat, which are several, in ascending
// order, and no groups of that kind themselves.
func (t *Goals) group(kind GoalKind, flat []Goal) Goal {
	t.key = append(t.key[:0], byte(kind))
	for _, g := range flat {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(g))
	}
	if g, ok := t.index[string(t.key)]; ok {
		return g
	}
	return t.intern(GoalInfo{Kind: kind, List: slices.Clone(flat)})
}

// both returns the conjunction of two different goals, neither [Never] nor [Always].
// Most are a long conjunction and one goal more, and are asked for again and again.
func (t *Goals) both(a, b Goal) Goal {
	if a > b {
		a, b = b, a
	}
	n := len(t.Info[a].List) + len(t.Info[b].List)
	if n < wideGoal {
		return t.combine(AllOf, []Goal{a, b})
	}
	if t.pairs == nil {
		t.pairs = make([]goalPair, 1<<pairBits)
		t.size += 12 << pairBits
	}
	at := &t.pairs[(uint32(a)*0x9E3779B1^uint32(b)*0x85EBCA77)>>(32-pairBits)]
	if at.a != a || at.b != b {
		t.Meter.Step(2 + n/8)
		*at = goalPair{a, b, t.merge(a, b)}
	}
	return at.both
}

// A goalPair is two goals and their conjunction. It stays valid: a goal that is not a
// conjunction or disjunction is known to be the negation of another as soon as both exist.
type goalPair struct{ a, b, both Goal }

const (
	wideGoal = 6  // parts of a conjunction from which it is remembered
	pairBits = 10 // of the number of conjunctions remembered
)

// merge is combine for two goals, one of them a conjunction.
func (t *Goals) merge(a, b Goal) Goal {
	x, y := t.conjuncts(a), t.conjuncts(b)
	if len(x) < len(y) {
		a, x, y = b, y, x
	}
	if t.opposed(y, x) {
		return Never
	}
	flat, i := t.flat[:0], 0
	for _, g := range y {
		for i < len(x) && x[i] < g {
			flat, i = append(flat, x[i]), i+1
		}
		if i == len(x) || x[i] != g {
			flat = append(flat, g)
		}
	}
	flat = append(flat, x[i:]...)
	t.flat = flat
	if len(flat) == len(x) {
		return a
	}
	return t.group(AllOf, flat)
}

// conjuncts returns the parts of a conjunction, or the goal itself.
func (t *Goals) conjuncts(g Goal) []Goal {
	if info := &t.Info[g]; info.Kind == AllOf {
		return info.List
	}
	return []Goal{g}
}

// And returns the goal of fulfilling all of list.
func (t *Goals) And(list ...Goal) Goal {
	if len(list) == 2 {
		a, b := list[0], list[1]
		switch {
		case a == b || b == Always:
			return a
		case a == Always:
			return b
		case a == Never || b == Never:
			return Never
		}
		return t.both(a, b)
	}
	return t.combine(AllOf, list)
}

// Includes reports whether g is a, or a conjunction that contains a.
func (t *Goals) Includes(g, a Goal) bool {
	if g == a || a == Always {
		return true
	}
	info := &t.Info[g]
	if info.Kind != AllOf {
		return false
	}
	parts := []Goal{a}
	if t.Info[a].Kind == AllOf {
		parts = t.Info[a].List
	}
	return !slices.ContainsFunc(parts, func(x Goal) bool {
		_, ok := slices.BinarySearch(info.List, x)
		return !ok
	})
}

// Or returns the goal of fulfilling one of list.
func (t *Goals) Or(list ...Goal) Goal { return t.combine(AnyOf, list) }

// Not returns the goal of not fulfilling g.
func (t *Goals) Not(g Goal) Goal {
	if n := t.not[g]; n != 0 {
		return n - 1
	}
	var n Goal
	switch info := t.Info[g]; info.Kind {
	case OfNode:
		n = t.schema(NotNode, info.Node, info.Scope)
	case NotNode:
		n = t.schema(OfNode, info.Node, info.Scope)
	case Equals:
		n = t.literal(Differs, info.Value)
	case Differs:
		n = t.literal(Equals, info.Value)
	default:
		list := make([]Goal, len(info.List))
		for i, x := range info.List {
			list[i] = t.Not(x)
		}
		kind := AllOf
		if info.Kind == AllOf {
			kind = AnyOf
		}
		n = t.combine(kind, list)
	}
	t.not[g], t.not[n] = 1+n, 1+g
	return n
}

// AddTo adds g to the goal of i in m.
func (t *Goals) AddTo(m map[int32]Goal, i int32, g Goal) {
	if old, ok := m[i]; ok {
		g = t.And(old, g)
	}
	m[i] = g
}
