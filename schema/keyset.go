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

func (s *source) keySet(others bool, names, patterns []int32) int32 {
	names, patterns = slices.Clone(names), slices.Clone(patterns)
	slices.Sort(names)
	slices.Sort(patterns)
	names, patterns = slices.Compact(names), slices.Compact(patterns)
	if others && len(names) == 0 && len(patterns) == 1 {
		// All but the strings of a language may be few, as in "not this name".
		if rest, ok := s.finite(s.patternID(s.lang.Not(s.patterns[patterns[0]].expr))); ok {
			others, patterns = false, nil
			for _, text := range rest {
				names = append(names, s.nameID(text))
			}
			slices.Sort(names)
		}
	}
	flag := int32(0)
	if others {
		flag = 1
	}
	key := keyOf(append(append([]int32{flag, int32(len(names))}, names...), patterns...)...)
	if i, ok := s.setIndex[key]; ok {
		return i
	}
	i := int32(len(s.sets))
	s.sets = append(s.sets, keySet{others, names, patterns})
	s.setIndex[key] = i
	return i
}

// oneName returns the set that holds one name.
func (s *source) oneName(name int32) int32 { return s.keySet(false, []int32{name}, nil) }

// single returns the only name of a set that lists one.
func (k *keySet) single() (int32, bool) {
	if !k.others && len(k.names) == 1 && len(k.patterns) == 0 {
		return k.names[0], true
	}
	return 0, false
}

func (s *source) patternID(e regular.Expr) int32 {
	if i, ok := s.patIndex[e]; ok {
		return i
	}
	i := int32(len(s.patterns))
	s.patterns = append(s.patterns, pattern{expr: e, machine: s.machine(e)})
	s.patIndex[e] = i
	return i
}

// maxFinite is the number of strings up to which a finite language of
// property names is treated as a list of names.
const maxFinite = 256

// finite returns the strings of pattern p if they are few.
func (s *source) finite(p int32) ([]string, bool) {
	x := &s.patterns[p]
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
func (s *source) matches(p int32, text string) bool {
	m := s.patterns[p].machine
	q := m.Start()
	for _, r := range text {
		if q == regular.Dead {
			return false
		}
		q = m.Step(q, r)
	}
	return q != regular.Dead && m.Accepting(q)
}
