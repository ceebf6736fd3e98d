package schema

import (
	"slices"
	"sort"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/logic"
	"github.com/stencil-json/stencil/schema/syntax"
)

// A keySet is a set of property names: those that are listed or match one of the
// patterns or, with others, the complement of that.
type keySet struct {
	others   bool
	names    []int32 // sorted
	patterns []int32 // sorted
}

// pattern is a language of property names.
type pattern struct {
	expr    regular.Expr
	machine *regular.Machine
	// finite lists all strings of a small finite language.
	finite   []string
	isFinite bool
	counted  bool
}

// keySets numbers property names, patterns for them, and sets of them.
type keySets struct {
	*base
	names        []string
	nameIndex    memo[string, int32]
	list         []keySet
	index        logic.Lists // 1 + the number of the set
	patterns     []pattern
	patternIndex memo[regular.Expr, int32]
}

func newKeySets(b *base) *keySets {
	return &keySets{base: b, index: logic.NewLists()}
}

func (ks *keySets) set(others bool, names, patterns []int32) int32 {
	names, patterns = slices.Clone(names), slices.Clone(patterns)
	slices.Sort(names)
	slices.Sort(patterns)
	names, patterns = slices.Compact(names), slices.Compact(patterns)
	if others && len(names) == 0 && len(patterns) == 1 {
		// The complement of a language may have few strings, as in "not this
		// name".
		if rest, ok := ks.finite(ks.pattern(ks.lang.Not(ks.patterns[patterns[0]].expr))); ok {
			others, patterns = false, nil
			for _, text := range rest {
				names = append(names, ks.name(text))
			}
			slices.Sort(names)
		}
	}
	flag := int32(0)
	if others {
		flag = 1
	}
	i := ks.index.Number(slices.Concat([]int32{flag, int32(len(names))}, names, patterns)) - 1
	if int(i) == len(ks.list) {
		ks.list = append(ks.list, keySet{others, names, patterns})
	}
	return i
}

// oneName returns the set that holds one name.
func (ks *keySets) oneName(name int32) int32 { return ks.set(false, []int32{name}, nil) }

// single returns the only name of a set that lists one.
func (k *keySet) single() (int32, bool) {
	if !k.others && len(k.names) == 1 && len(k.patterns) == 0 {
		return k.names[0], true
	}
	return 0, false
}

func (ks *keySets) pattern(e regular.Expr) int32 {
	if i, ok := ks.patternIndex[e]; ok {
		return i
	}
	i := int32(len(ks.patterns))
	ks.patterns = append(ks.patterns, pattern{expr: e, machine: ks.machine(e)})
	ks.patternIndex.put(e, i)
	return i
}

// maxFinite is the number of strings up to which a finite language of property
// names is treated as a list of names.
const maxFinite = 256

// finite returns the strings of pattern p if there are few.
func (ks *keySets) finite(p int32) ([]string, bool) {
	x := &ks.patterns[p]
	if x.counted {
		return x.finite, x.isFinite
	}
	x.counted = true
	q := x.machine.Start()
	if q == regular.Dead {
		x.isFinite = true
		return nil, true
	}
	if x.machine.Count(q, maxFinite+1) > maxFinite {
		return nil, false
	}
	var buf []rune
	var rec func(q regular.State)
	rec = func(q regular.State) {
		if x.machine.Accepting(q) {
			x.finite = append(x.finite, string(buf))
		}
		for _, e := range x.machine.Ranges(q) {
			for r := e.Lo; r <= e.Hi; r++ {
				buf = append(buf, r)
				rec(e.To)
				buf = buf[:len(buf)-1]
			}
		}
	}
	rec(q)
	x.isFinite = true
	return x.finite, true
}

// matches reports whether a text is in the language of pattern p.
func (ks *keySets) matches(p int32, text string) bool {
	m := ks.patterns[p].machine
	q := m.Start()
	for _, r := range text {
		if q == regular.Dead {
			return false
		}
		q = m.Step(q, r)
	}
	return q != regular.Dead && m.Accepting(q)
}

func (ks *keySets) name(name string) int32 {
	if id, ok := ks.nameIndex[name]; ok {
		return id
	}
	id := int32(len(ks.names))
	ks.names = append(ks.names, name)
	ks.nameIndex.put(name, id)
	return id
}

// A universe is the set of property names and patterns that any state of one
// object can refer to. A key belongs to a class: one of the names, or the set of
// patterns that it matches.
type universe struct {
	names  []int32 // name ids, in the order in which they are written
	index  map[int32]int32
	sorted []int32 // indices into names, by the bytes of the name
	pats   []int32
	finite uint64   // patterns whose strings are all in names
	bits   []uint64 // by name: the patterns that match it; nil until needed
	words  int      // length of a set of names
	start  int32    // key state before the first character
	reach  map[int32][]uint64
}

// propertyOrder lists the names that g mentions, in the order of the document.
func (ka *keyAutomaton) propertyOrder(g logic.Goal) []int32 {
	if o, ok := ka.orders[g]; ok {
		return o
	}
	ka.orders.put(g, nil) // ends recursion
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
	ka.orders.put(g, list)
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

// maxPatterns is the maximum number of patterns for the keys of one object: a
// class of keys is a word of 64 bits.
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
	id := ka.universeIndex.Number(slices.Concat([]int32{int32(len(uni.names))}, uni.names, uni.pats)) - 1
	if int(id) < len(ka.universes) {
		return id
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
	ka.universes = append(ka.universes, uni)
	uni.start = ka.start(id)
	return id
}

// nameBits returns the patterns of the universe that match name i.
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
