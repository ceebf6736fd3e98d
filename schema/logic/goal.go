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

func (t *Goals) combine(kind GoalKind, list []Goal) Goal {
	neutral, absorbing := Always, Never
	if kind == AnyOf {
		neutral, absorbing = Never, Always
	}
	t.Meter.Step(1 + len(list))
	flat := make([]Goal, 0, len(list))
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
	t.Meter.Step(len(flat) / 8)
	slices.Sort(flat)
	flat = slices.Compact(flat)
	switch len(flat) {
	case 0:
		return neutral
	case 1:
		return flat[0]
	}
	for _, g := range flat {
		if n := t.not[g]; n != 0 {
			if _, both := slices.BinarySearch(flat, n-1); both {
				return absorbing
			}
		}
	}
	t.key = append(t.key[:0], byte(kind))
	for _, g := range flat {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(g))
	}
	return t.intern(GoalInfo{Kind: kind, List: flat})
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
