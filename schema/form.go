package schema

import (
	"encoding/binary"
	"slices"
)

// A form is what a goal means for one JSON type: a formula in negation
// normal form whose literals speak about one object, array or number. Forms
// are hash-consed.
type form int32

const (
	no  form = 0
	yes form = 1
)

type formOp uint8

const (
	opNo formOp = iota
	opYes
	opLit
	opAnd
	opOr
)

type formInfo struct {
	op   formOp
	lit  lit
	kids []form
}

type litKind uint8

const (
	// Objects. set is a key set.
	litAllKeys     litKind = iota // every member with a key in set a fulfils goal g
	litSomeKey                    // some member with a key in set a fulfils goal g
	litMinProps                   // at least a members
	litMaxProps                   // at most a members
	litAllItems                   // every item at index a to b (-1: no end) fulfils goal g
	litSomeItem                   // some item at index a to b fulfils goal g
	litMinItems                   // at least a items
	litMaxItems                   // at most a items
	litAtLeast                    // at least a items fulfil goal g
	litAtMost                     // at most a items fulfil goal g
	litUnique                     // no two items are equal
	litNotUnique                  // two items are equal
	litInteger                    // the number is an integer
	litNotInteger                 //
	litMin                        // the number is at least decimal a; b=1: more than
	litMax                        // the number is at most decimal a; b=1: less than
	litMultiple                   // the number is a multiple of decimal a
	litNotMultiple                //
	litIn                         // the number is in number set a
	litNotIn                      //
)

type lit struct {
	kind litKind
	a, b int32
	g    goal
}

type formTable struct {
	goals *goalTable
	info  []formInfo
	lits  map[lit]form
	index map[string]form
	not   []form // by formula: 1 + its negation, 0 while it isn't known
	key   []byte
}

func newFormTable(goals *goalTable) formTable {
	return formTable{
		goals: goals,
		info:  []formInfo{{op: opNo}, {op: opYes}},
		lits:  map[lit]form{},
		index: map[string]form{},
		not:   []form{no: 1 + yes, yes: 1 + no},
	}
}

// lit returns the formula that is one literal.
func (t *formTable) lit(l lit) form {
	switch l.kind {
	case litAllKeys, litAllItems:
		if l.g == always {
			return yes
		}
	case litSomeKey, litSomeItem:
		if l.g == never {
			return no
		}
	case litMinProps, litMinItems:
		if l.a <= 0 {
			return yes
		}
	case litMaxProps, litMaxItems:
		if l.a < 0 {
			return no
		}
	case litAtLeast:
		if l.a <= 0 {
			return yes
		}
		if l.g == never {
			return no
		}
		if l.g == always {
			return t.lit(lit{kind: litMinItems, a: l.a})
		}
	case litAtMost:
		if l.a < 0 {
			return no
		}
		if l.g == never {
			return yes
		}
		if l.g == always {
			return t.lit(lit{kind: litMaxItems, a: l.a})
		}
	}
	if f, ok := t.lits[l]; ok {
		return f
	}
	f := form(len(t.info))
	t.info, t.not = append(t.info, formInfo{op: opLit, lit: l}), append(t.not, 0)
	t.lits[l] = f
	return f
}

func (t *formTable) negateLit(l lit) form {
	swap := func(k litKind) form { l.kind, l.g = k, t.goals.negate(l.g); return t.lit(l) }
	plain := func(k litKind) form { l.kind = k; return t.lit(l) }
	switch l.kind {
	case litAllKeys:
		return swap(litSomeKey)
	case litSomeKey:
		return swap(litAllKeys)
	case litAllItems:
		return swap(litSomeItem)
	case litSomeItem:
		return swap(litAllItems)
	case litMinProps:
		l.a--
		return plain(litMaxProps)
	case litMaxProps:
		l.a++
		return plain(litMinProps)
	case litMinItems:
		l.a--
		return plain(litMaxItems)
	case litMaxItems:
		l.a++
		return plain(litMinItems)
	case litAtLeast:
		l.a--
		return plain(litAtMost)
	case litAtMost:
		l.a++
		return plain(litAtLeast)
	case litUnique:
		return plain(litNotUnique)
	case litNotUnique:
		return plain(litUnique)
	case litInteger:
		return plain(litNotInteger)
	case litNotInteger:
		return plain(litInteger)
	case litMin:
		l.b ^= 1
		return plain(litMax)
	case litMax:
		l.b ^= 1
		return plain(litMin)
	case litMultiple:
		return plain(litNotMultiple)
	case litNotMultiple:
		return plain(litMultiple)
	case litIn:
		return plain(litNotIn)
	}
	return plain(litIn)
}

func (t *formTable) negate(f form) form {
	if n := t.not[f]; n != 0 {
		return n - 1
	}
	var n form
	switch info := &t.info[f]; info.op {
	case opLit:
		n = t.negateLit(info.lit)
	default:
		kids := make([]form, len(info.kids))
		op := info.op
		for i, k := range info.kids {
			kids[i] = t.negate(k)
		}
		if op == opAnd {
			n = t.or(kids...)
		} else {
			n = t.and(kids...)
		}
	}
	t.not[f], t.not[n] = 1+n, 1+f
	return n
}

// cheapNegation returns the negation of f if that takes no work.
func (t *formTable) cheapNegation(f form) (form, bool) {
	if t.info[f].op == opLit {
		return t.negate(f), true
	}
	n := t.not[f]
	return n - 1, n != 0
}

func (t *formTable) and(list ...form) form { return t.combine(opAnd, list) }
func (t *formTable) or(list ...form) form  { return t.combine(opOr, list) }

func (t *formTable) combine(op formOp, list []form) form {
	neutral, absorbing, dual := yes, no, opOr
	if op == opOr {
		neutral, absorbing, dual = no, yes, opAnd
	}
	if len(list) == 2 {
		switch {
		case list[0] == list[1] || list[1] == neutral:
			return list[0]
		case list[0] == neutral:
			return list[1]
		case list[0] == absorbing || list[1] == absorbing:
			return absorbing
		}
	}
	flat := make([]form, 0, len(list))
	duals := false
	for _, f := range list {
		switch {
		case f == absorbing:
			return absorbing
		case f == neutral:
		case t.info[f].op == op:
			flat = append(flat, t.info[f].kids...)
		default:
			flat = append(flat, f)
		}
	}
	slices.Sort(flat)
	flat = slices.Compact(flat)
	for _, f := range flat {
		if t.info[f].op == dual {
			duals = true
		} else if n := t.not[f]; n != 0 {
			if _, both := slices.BinarySearch(flat, n-1); both {
				return absorbing
			}
		}
	}
	if duals && len(flat) > 1 {
		// a ∧ (a ∨ b) is a; a ∧ (¬a ∨ b) is a ∧ b. Likewise for ∨.
		again := false
		keep := make([]form, 0, len(flat))
		for _, f := range flat {
			if t.info[f].op != dual {
				keep = append(keep, f)
				continue
			}
			kids, absorbed, dropped := t.info[f].kids, false, false
			rest := make([]form, 0, len(kids))
			for _, k := range kids {
				if _, ok := slices.BinarySearch(flat, k); ok {
					absorbed = true
					break
				}
				if n, ok := t.cheapNegation(k); ok {
					if _, ok := slices.BinarySearch(flat, n); ok {
						dropped = true
						continue
					}
				}
				rest = append(rest, k)
			}
			switch {
			case absorbed:
			case dropped:
				again = true
				keep = append(keep, t.combine(dual, rest))
			default:
				keep = append(keep, f)
			}
		}
		if again {
			return t.combine(op, keep)
		}
		flat = keep
	}
	switch len(flat) {
	case 0:
		return neutral
	case 1:
		return flat[0]
	}
	t.key = append(t.key[:0], byte(op))
	for _, f := range flat {
		t.key = binary.LittleEndian.AppendUint32(t.key, uint32(f))
	}
	if f, ok := t.index[string(t.key)]; ok {
		return f
	}
	f := form(len(t.info))
	t.info, t.not = append(t.info, formInfo{op: op, kids: flat}), append(t.not, 0)
	t.index[string(t.key)] = f
	return f
}

// conjuncts returns the parts of which f is the conjunction.
func (t *formTable) conjuncts(f form) []form {
	switch {
	case f == yes:
		return nil
	case t.info[f].op == opAnd:
		return t.info[f].kids
	}
	return []form{f}
}

// branches calls yield with the literals of each conjunction in the
// disjunctive normal form of f, in an order that tries cheap ones first,
// until it returns false. The slice is reused. It reports false when steps
// ran out.
func (t *formTable) branches(f form, steps *int, yield func(lits []lit) bool) bool {
	var lits []lit
	var rec func(todo []form) bool
	rec = func(todo []form) bool {
		if *steps--; *steps < 0 {
			return false
		}
		for len(todo) > 0 {
			f := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			switch info := &t.info[f]; info.op {
			case opNo:
				return true
			case opYes:
			case opLit:
				lits = append(lits, info.lit)
			case opAnd:
				todo = append(slices.Clone(todo), info.kids...)
			case opOr:
				n := len(lits)
				for _, k := range info.kids {
					if !rec(append(slices.Clone(todo), k)) {
						return false
					}
					lits = lits[:n]
				}
				return true
			}
		}
		return yield(lits)
	}
	rec([]form{f})
	return *steps >= 0
}

// mentions reports whether a literal of a kind is in f.
func (t *formTable) mentions(f form, kind litKind) bool {
	info := &t.info[f]
	return info.op == opLit && info.lit.kind == kind ||
		slices.ContainsFunc(info.kids, func(k form) bool { return t.mentions(k, kind) })
}

// allDiffer reports whether f demands that all items are different.
func (t *formTable) allDiffer(f form) bool {
	return slices.ContainsFunc(t.conjuncts(f), func(k form) bool {
		info := &t.info[k]
		return info.op == opLit && info.lit.kind == litUnique
	})
}

// final reports whether f holds for an object that gets no more members, or an
// array that gets no more items.
func (t *formTable) final(f form) bool {
	info := &t.info[f]
	switch info.op {
	case opNo:
		return false
	case opYes:
		return true
	case opLit:
		switch info.lit.kind {
		case litSomeKey, litMinProps, litSomeItem, litMinItems, litAtLeast, litNotUnique:
			return false
		}
		return true
	case opAnd:
		for _, k := range info.kids {
			if !t.final(k) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(info.kids, t.final)
}
