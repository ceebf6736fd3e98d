package schema

import (
	"slices"
	"strings"

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
	nameIndex    logic.Memo[string, int32]
	list         []keySet
	index        logic.Lists // 1 + the number of the set
	patterns     []pattern
	patternIndex logic.Memo[regular.Expr, int32]
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
	ks.patternIndex.Put(e, i)
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
	ks.nameIndex.Put(name, id)
	return id
}

// A universe is the set of property names and patterns that any state of one
// object can refer to. A key belongs to a class: one of the names, or the set of
// patterns that it matches.
type universe struct {
	names  []int32         // name ids, in the order in which they are written
	index  map[int32]int32 // of many names
	sorted []int32         // indices into names, by the bytes of the name
	pats   []int32
	finite uint64   // patterns whose strings are all in names
	bits   []uint64 // by name: the patterns that match it; nil until needed
	words  int      // length of a set of names
	start  int32    // key state before the first character
	reach  logic.Memo[int32, []uint64]
}

// propertyOrder lists the names that g mentions, in the order of the document.
func (ka *keyAutomaton) propertyOrder(g logic.Goal) []int32 {
	if o, ok := ka.orders[g]; ok {
		return o
	}
	ka.orders.Put(g, nil) // ends recursion
	var list []int32
	listed := map[int32]bool{}
	add := func(ids ...int32) {
		for _, id := range ids {
			if !listed[id] {
				listed[id] = true
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
	ka.orders.Put(g, list)
	return list
}

// mentions collects the names and patterns in forms.
type mentions struct {
	names, pats                    []int32
	seenForms, seenNames, seenPats logic.Marks
	placed                         logic.Marks // names that have their place in the universe
}

func (m *mentions) reset() {
	m.names, m.pats = m.names[:0], m.pats[:0]
	m.seenForms.Reset()
	m.seenNames.Reset()
	m.seenPats.Reset()
	m.placed.Reset()
}

func (ka *keyAutomaton) mentioned(f logic.Form) {
	m := &ka.mentions
	if !m.seenForms.Add(int32(f)) {
		return
	}
	info := &ka.forms.Info[f]
	switch info.Op {
	case logic.OpLit:
		if k := info.Lit.Kind; k == logic.AllKeys || k == logic.SomeKey {
			set := &ka.sets.list[info.Lit.A]
			for _, x := range set.names {
				if m.seenNames.Add(x) {
					m.names = append(m.names, x)
				}
			}
			for _, p := range set.patterns {
				if m.seenPats.Add(p) {
					m.pats = append(m.pats, p)
				}
			}
		}
	case logic.OpAnd, logic.OpOr:
		for _, k := range info.Kids {
			ka.mentioned(k)
		}
	}
}

// maxPatterns is the maximum number of patterns for the keys of one object: a
// class of keys is a word of 64 bits.
const maxPatterns = 64

func (ka *keyAutomaton) universe(g logic.Goal, f logic.Form) int32 {
	m := &ka.mentions
	m.reset()
	ka.mentioned(f)
	slices.Sort(m.pats)
	if len(m.pats) > maxPatterns {
		ka.limit("patterns for keys in one object", maxPatterns)
		m.pats = m.pats[:maxPatterns]
	}
	// The names come in the order of the document, then the others.
	names := append(ka.scratch[:0], 0)
	for _, id := range ka.propertyOrder(g) {
		if m.seenNames.Has(id) && m.placed.Add(id) {
			names = append(names, id)
		}
	}
	ordered := len(names)
	for _, id := range m.names {
		if m.placed.Add(id) {
			names = append(names, id)
		}
	}
	slices.Sort(names[ordered:])
	finite := uint64(0)
	for i, p := range m.pats {
		if list, ok := ka.sets.finite(p); ok {
			finite |= 1 << i
			for _, text := range list {
				if id := ka.sets.name(text); m.placed.Add(id) {
					names = append(names, id)
				}
			}
		}
	}
	n := len(names) - 1
	names[0] = int32(n)
	names = append(names, m.pats...)
	ka.scratch = names
	id := ka.universeIndex.Number(names) - 1
	if int(id) < len(ka.universes) {
		return id
	}
	// The number's list is a copy of names.
	list := ka.universeIndex.All[id+1]
	uni := &universe{names: list[1 : n+1 : n+1], pats: list[n+1:], finite: finite, words: (n + 63) / 64}
	if n > fewNames {
		uni.index = make(map[int32]int32, n)
		for i, id := range uni.names {
			uni.index[id] = int32(i)
		}
	}
	uni.sorted = make([]int32, n)
	for i := range uni.sorted {
		uni.sorted[i] = int32(i)
	}
	slices.SortFunc(uni.sorted, func(i, j int32) int {
		return strings.Compare(ka.sets.names[uni.names[i]], ka.sets.names[uni.names[j]])
	})
	ka.universes = append(ka.universes, uni)
	uni.start = ka.start(id)
	return id
}

// fewNames is the number of names up to which they are searched one by one.
const fewNames = 8

// find returns the index of a name.
func (u *universe) find(name int32) (int32, bool) {
	if u.index != nil {
		i, ok := u.index[name]
		return i, ok
	}
	i := slices.Index(u.names, name)
	return int32(i), i >= 0
}

// at returns the index of a name that is one of the universe's.
func (u *universe) at(name int32) int32 {
	i, _ := u.find(name)
	return max(i, 0)
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
