package schema

import (
	"slices"

	"stencil/regular"
)

// A keySet is a set of property names: those that are listed or match one of
// the patterns, or all others.
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
	nameIndex    map[string]int32
	list         []keySet
	index        map[string]int32
	patterns     []pattern
	patternIndex map[regular.Expr]int32
}

func newKeySets(b *base) *keySets {
	return &keySets{base: b, nameIndex: map[string]int32{}, index: map[string]int32{}, patternIndex: map[regular.Expr]int32{}}
}

func (ks *keySets) set(others bool, names, patterns []int32) int32 {
	names, patterns = slices.Clone(names), slices.Clone(patterns)
	slices.Sort(names)
	slices.Sort(patterns)
	names, patterns = slices.Compact(names), slices.Compact(patterns)
	if others && len(names) == 0 && len(patterns) == 1 {
		// All but the strings of a language may be few, as in "not this name".
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
	key := keyOf(append(append([]int32{flag, int32(len(names))}, names...), patterns...)...)
	if i, ok := ks.index[key]; ok {
		return i
	}
	i := int32(len(ks.list))
	ks.list = append(ks.list, keySet{others, names, patterns})
	ks.index[key] = i
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
	ks.patternIndex[e] = i
	return i
}

// maxFinite is the number of strings up to which a finite language of
// property names is treated as a list of names.
const maxFinite = 256

// finite returns the strings of pattern p if they are few.
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
	ks.nameIndex[name] = id
	return id
}
