package schema

import (
	"encoding/binary"
	"slices"

	"stencil/schema/jsondoc"
	"stencil/schema/syntax"
)

// A goal is what a value has to fulfil: a schema, its negation, a constant,
// or a combination. Goals are hash-consed, so that the same demand reached
// on different ways is one number and is analysed once.
type goal int32

const (
	never  goal = 0 // no value
	always goal = 1 // any value
)

type goalKind uint8

const (
	goalNever goalKind = iota
	goalAlways
	goalNode
	goalNotNode
	goalAnd
	goalOr
	goalConst
	goalNotConst
)

type goalInfo struct {
	kind  goalKind
	node  *syntax.Node
	scope int32
	list  []goal
	val   *jsondoc.Value
}

type goalTable struct {
	info  []goalInfo
	index map[string]goal
	not   []goal // by goal: 1 + its negation, 0 while it isn't known
	key   []byte
}

func newGoalTable() goalTable {
	return goalTable{
		info:  []goalInfo{{kind: goalNever}, {kind: goalAlways}},
		index: map[string]goal{},
		not:   []goal{never: 1 + always, always: 1 + never},
	}
}

func (t *goalTable) intern(info goalInfo) goal {
	if g, ok := t.index[string(t.key)]; ok {
		return g
	}
	g := goal(len(t.info))
	t.info, t.not = append(t.info, info), append(t.not, 0)
	t.index[string(t.key)] = g
	return g
}

// node returns the goal of fulfilling schema n, entered with a dynamic
// scope.
func (t *goalTable) node(n *syntax.Node, scope int32) goal {
	switch {
	case n.Boolean > 0:
		return always
	case n.Boolean < 0:
		return never
	}
	return t.schema(goalNode, n, scope)
}

func (t *goalTable) schema(kind goalKind, n *syntax.Node, scope int32) goal {
	t.key = append(t.key[:0], byte(kind))
	t.key = binary.LittleEndian.AppendUint32(t.key, uint32(n.EqualID))
	t.key = binary.LittleEndian.AppendUint32(t.key, uint32(scope))
	return t.intern(goalInfo{kind: kind, node: n, scope: scope})
}

func (t *goalTable) constant(v *jsondoc.Value) goal { return t.literal(goalConst, v) }

func (t *goalTable) literal(kind goalKind, v *jsondoc.Value) goal {
	t.key = v.AppendCanonical(append(t.key[:0], byte(kind)))
	return t.intern(goalInfo{kind: kind, val: v})
}

func (t *goalTable) combine(kind goalKind, list []goal) goal {
	neutral, absorbing := always, never
	if kind == goalOr {
		neutral, absorbing = never, always
	}
	flat := make([]goal, 0, len(list))
	for _, g := range list {
		switch {
		case g == absorbing:
			return absorbing
		case g == neutral:
		case t.info[g].kind == kind:
			flat = append(flat, t.info[g].list...)
		default:
			flat = append(flat, g)
		}
	}
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
	return t.intern(goalInfo{kind: kind, list: flat})
}

func (t *goalTable) and(list ...goal) goal {
	if len(list) == 2 {
		a, b := list[0], list[1]
		switch {
		case a == b || b == always:
			return a
		case a == always:
			return b
		case a == never || b == never:
			return never
		}
	}
	return t.combine(goalAnd, list)
}

func (t *goalTable) or(list ...goal) goal { return t.combine(goalOr, list) }

// negate returns the goal of not fulfilling g.
func (t *goalTable) negate(g goal) goal {
	if n := t.not[g]; n != 0 {
		return n - 1
	}
	var n goal
	switch info := t.info[g]; info.kind {
	case goalNode:
		n = t.schema(goalNotNode, info.node, info.scope)
	case goalNotNode:
		n = t.schema(goalNode, info.node, info.scope)
	case goalConst:
		n = t.literal(goalNotConst, info.val)
	case goalNotConst:
		n = t.literal(goalConst, info.val)
	default:
		list := make([]goal, len(info.list))
		for i, x := range info.list {
			list[i] = t.negate(x)
		}
		kind := goalAnd
		if info.kind == goalAnd {
			kind = goalOr
		}
		n = t.combine(kind, list)
	}
	t.not[g], t.not[n] = 1+n, 1+g
	return n
}

// addTo makes g part of what m demands of i.
func (t *goalTable) addTo(m map[int32]goal, i int32, g goal) {
	if old, ok := m[i]; ok {
		g = t.and(old, g)
	}
	m[i] = g
}
