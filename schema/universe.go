package schema

import (
	"slices"
	"sort"

	"stencil/schema/jsondoc"
	"stencil/schema/syntax"
)

// A family is what all states of one object have in common: the property
// names and patterns that any of them can ask about.
type family struct {
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
func (ka *keyAutomaton) propertyOrder(g goal) []int32 {
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
	switch info := ka.goals.info[g]; info.kind {
	case goalAnd, goalOr:
		for _, x := range info.list {
			add(ka.propertyOrder(x)...)
		}
	case goalConst, goalNotConst:
		for _, m := range info.val.Members {
			add(ka.sets.name(m.Key))
		}
	case goalNotNode:
		add(ka.propertyOrder(ka.goals.negate(g))...)
	case goalNode:
		n := info.node
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
				add(ka.propertyOrder(ka.views.sub(x, info.scope))...)
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
func (ka *keyAutomaton) mentioned(f form, seen map[form]bool, names map[int32]bool, pats map[int32]bool) {
	if seen[f] {
		return
	}
	seen[f] = true
	info := &ka.forms.info[f]
	switch info.op {
	case opLit:
		if k := info.lit.kind; k == litAllKeys || k == litSomeKey {
			set := &ka.sets.list[info.lit.a]
			for _, x := range set.names {
				names[x] = true
			}
			for _, p := range set.patterns {
				pats[p] = true
			}
		}
	case opAnd, opOr:
		for _, k := range info.kids {
			ka.mentioned(k, seen, names, pats)
		}
	}
}

// maxPatterns is how many patterns for keys one object may have: a class of
// keys is a word of 64 bits.
const maxPatterns = 64

func (ka *keyAutomaton) family(g goal, f form) int32 {

	nameSet, patSet := map[int32]bool{}, map[int32]bool{}
	ka.mentioned(f, map[form]bool{}, nameSet, patSet)
	fam := &family{index: map[int32]int32{}}
	for p := range patSet {
		fam.pats = append(fam.pats, p)
	}
	slices.Sort(fam.pats)
	if len(fam.pats) > maxPatterns {
		ka.limit("patterns for keys in one object", maxPatterns)
		fam.pats = fam.pats[:maxPatterns]
	}
	for _, id := range ka.propertyOrder(g) {
		if nameSet[id] {
			fam.names = append(fam.names, id)
			delete(nameSet, id)
		}
	}
	rest := make([]int32, 0, len(nameSet))
	for id := range nameSet {
		rest = append(rest, id)
	}
	slices.Sort(rest)
	fam.names = append(fam.names, rest...)
	for i, id := range fam.names {
		fam.index[id] = int32(i)
	}
	for i, p := range fam.pats {
		if list, ok := ka.sets.finite(p); ok {
			fam.finite |= 1 << i
			for _, text := range list {
				id := ka.sets.name(text)
				if _, ok := fam.index[id]; !ok {
					fam.index[id] = int32(len(fam.names))
					fam.names = append(fam.names, id)
				}
			}
		}
	}
	key := keyOf(append(append([]int32{int32(len(fam.names))}, fam.names...), fam.pats...)...)
	if i, ok := ka.familyIndex[key]; ok {
		return i
	}
	fam.words = (len(fam.names) + 63) / 64
	fam.sorted = make([]int32, len(fam.names))
	for i := range fam.sorted {
		fam.sorted[i] = int32(i)
	}
	sort.Slice(fam.sorted, func(i, j int) bool {
		return ka.sets.names[fam.names[fam.sorted[i]]] < ka.sets.names[fam.names[fam.sorted[j]]]
	})
	fam.reach = map[int32][]uint64{}
	id := int32(len(ka.families))
	ka.families = append(ka.families, fam)
	ka.familyIndex[key] = id
	fam.start = ka.start(id)
	return id
}

// nameBits returns the patterns of the family that match name i.
func (ka *keyAutomaton) nameBits(fam *family, i int32) uint64 {
	if len(fam.pats) == 0 {
		return 0
	}
	if fam.bits == nil {
		fam.bits = make([]uint64, len(fam.names))
		for j, id := range fam.names {
			for k, p := range fam.pats {
				if ka.sets.matches(p, ka.sets.names[id]) {
					fam.bits[j] |= 1 << k
				}
			}
		}
	}
	return fam.bits[i]
}

// member reports whether the key of a class is in set. A class is a name's
// index, or -1 and the patterns that match.
func (ka *keyAutomaton) member(set *keySet, fam *family, name int32, matching uint64) bool {
	in := false
	if name >= 0 {
		_, in = slices.BinarySearch(set.names, fam.names[name])
	}
	for _, p := range set.patterns {
		if in {
			break
		}
		if i, ok := slices.BinarySearch(fam.pats, p); ok && matching>>i&1 != 0 {
			in = true
		}
	}
	return in != set.others
}
