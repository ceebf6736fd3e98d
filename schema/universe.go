package schema

import (
	"slices"
	"sort"

	"stencil/schema/jsondoc"
	"stencil/schema/logic"
	"stencil/schema/syntax"
)

// A universe is what all states of one object have in common: the property
// names and patterns that any of them can ask about.
type universe struct {
	names  []int32 // name ids, in the order in which they are to be written
	index  map[int32]int32
	sorted []int32 // indices into names, by the bytes of the name
	pats   []int32
	finite uint64   // patterns whose strings are all in names
	bits   []uint64 // by name: the patterns that match it; nil until needed
	words  int      // length of a set of names
	start  int32    // key state before the first character
	reach  map[int32][]uint64
}

// propertyOrder lists the names that g mentions in the order in which the
// document does.
func (ka *keyAutomaton) propertyOrder(g logic.Goal) []int32 {
	if o, ok := ka.orders[g]; ok {
		return o
	}
	ka.orders[g] = nil // ends recursion
	var list []int32
	add := func(ids ...int32) {
		for _, id := range ids {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	switch info := ka.goals.Info[g]; info.Kind {
	case logic.AllOf, logic.AnyOf:
		for _, x := range info.List {
			add(ka.propertyOrder(x)...)
		}
	case logic.Equals, logic.Differs:
		for _, m := range info.Value.Members {
			add(ka.sets.name(m.Key))
		}
	case logic.NotNode:
		add(ka.propertyOrder(ka.goals.Not(g))...)
	case logic.OfNode:
		n := info.Node
		own := func() {
			if n.Object != nil {
				for _, p := range n.Object.Properties {
					add(ka.sets.name(p.Name))
				}
			}
		}
		if n.Object == nil || n.Object.PropertiesFirst {
			own()
		}
		sub := func(x *syntax.Node) {
			if x != nil {
				add(ka.propertyOrder(ka.views.sub(x, info.Scope))...)
			}
		}
		if a := n.Apply; a != nil {
			if a.Ref != nil {
				sub(a.Ref.Target)
			}
			if a.DynamicRef != nil {
				sub(a.DynamicRef.Target)
			}
			for _, list := range [][]*syntax.Node{a.AllOf, a.AnyOf, a.OneOf} {
				for _, x := range list {
					sub(x)
				}
			}
			sub(a.If)
			sub(a.Then)
			sub(a.Else)
		}
		own()
		for _, v := range append([]*jsondoc.Value{n.Const}, n.Enum...) {
			if v != nil {
				for _, m := range v.Members {
					add(ka.sets.name(m.Key))
				}
			}
		}
		if n.Object != nil {
			for _, d := range n.Object.DependentSchemas {
				sub(d.Node)
			}
		}
	}
	ka.orders[g] = list
	return list
}

// mentioned collects the names and patterns in f.
func (ka *keyAutomaton) mentioned(f logic.Form, seen map[logic.Form]bool, names map[int32]bool, pats map[int32]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	info := &ka.forms.Info[f]
	switch info.Op {
	case logic.OpLit:
		if k := info.Lit.Kind; k == logic.AllKeys || k == logic.SomeKey {
			set := &ka.sets.list[info.Lit.A]
			for _, x := range set.names {
				names[x] = true
			}
			for _, p := range set.patterns {
				pats[p] = true
			}
		}
	case logic.OpAnd, logic.OpOr:
		for _, k := range info.Kids {
			ka.mentioned(k, seen, names, pats)
		}
	}
}

// maxPatterns is how many patterns for keys one object may have: a class of
// keys is a word of 64 bits.
const maxPatterns = 64

func (ka *keyAutomaton) universe(g logic.Goal, f logic.Form) int32 {
	nameSet, patSet := map[int32]bool{}, map[int32]bool{}
	ka.mentioned(f, map[logic.Form]bool{}, nameSet, patSet)
	uni := &universe{index: map[int32]int32{}}
	for p := range patSet {
		uni.pats = append(uni.pats, p)
	}
	slices.Sort(uni.pats)
	if len(uni.pats) > maxPatterns {
		ka.limit("patterns for keys in one object", maxPatterns)
		uni.pats = uni.pats[:maxPatterns]
	}
	for _, id := range ka.propertyOrder(g) {
		if nameSet[id] {
			uni.names = append(uni.names, id)
			delete(nameSet, id)
		}
	}
	rest := make([]int32, 0, len(nameSet))
	for id := range nameSet {
		rest = append(rest, id)
	}
	slices.Sort(rest)
	uni.names = append(uni.names, rest...)
	for i, id := range uni.names {
		uni.index[id] = int32(i)
	}
	for i, p := range uni.pats {
		if list, ok := ka.sets.finite(p); ok {
			uni.finite |= 1 << i
			for _, text := range list {
				id := ka.sets.name(text)
				if _, ok := uni.index[id]; !ok {
					uni.index[id] = int32(len(uni.names))
					uni.names = append(uni.names, id)
				}
			}
		}
	}
	key := keyOf(append(append([]int32{int32(len(uni.names))}, uni.names...), uni.pats...)...)
	if i, ok := ka.universeIndex[key]; ok {
		return i
	}
	uni.words = (len(uni.names) + 63) / 64
	uni.sorted = make([]int32, len(uni.names))
	for i := range uni.sorted {
		uni.sorted[i] = int32(i)
	}
	sort.Slice(uni.sorted, func(i, j int) bool {
		return ka.sets.names[uni.names[uni.sorted[i]]] < ka.sets.names[uni.names[uni.sorted[j]]]
	})
	uni.reach = map[int32][]uint64{}
	id := int32(len(ka.universes))
	ka.universes = append(ka.universes, uni)
	ka.universeIndex[key] = id
	uni.start = ka.start(id)
	return id
}

// nameBits returns the patterns of the family that match name i.
func (ka *keyAutomaton) nameBits(uni *universe, i int32) uint64 {
	if len(uni.pats) == 0 {
		return 0
	}
	if uni.bits == nil {
		uni.bits = make([]uint64, len(uni.names))
		for j, id := range uni.names {
			for k, p := range uni.pats {
				if ka.sets.matches(p, ka.sets.names[id]) {
					uni.bits[j] |= 1 << k
				}
			}
		}
	}
	return uni.bits[i]
}

// member reports whether the key of a class is in set. A class is a name's
// index, or -1 and the patterns that match.
func (ka *keyAutomaton) member(set *keySet, uni *universe, name int32, matching uint64) bool {
	in := false
	if name >= 0 {
		_, in = slices.BinarySearch(set.names, uni.names[name])
	}
	for _, p := range set.patterns {
		if in {
			break
		}
		if i, ok := slices.BinarySearch(uni.pats, p); ok && matching>>i&1 != 0 {
			in = true
		}
	}
	return in != set.others
}
