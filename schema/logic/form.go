package logic

import (
	"encoding/binary"
	"slices"
)

// A Form is what a goal demands of one JSON type: a formula in negation normal form
// whose literals refer to one object, array or number. Forms are hash-consed.
type Form int32

// The formulas that never and always hold.
const (
	No  Form = 0
	Yes Form = 1
)

// An Op is the outermost operator of a formula.
type Op uint8

// The operators. Only literals are negated.
const (
	OpNo Op = iota
	OpYes
	OpLit
	OpAnd
	OpOr
)

// FormInfo is a formula: an operator over kids in ascending order, or a literal.
type FormInfo struct {
	Op   Op
	Lit  Lit
	Kids []Form
}

// A LitKind is the kind of a literal.
type LitKind uint8

// The kinds of literals, each with its negation. Key sets, decimals and number sets are
// numbered by the caller.
const (
	AllKeys     LitKind = iota // every member with a key in set a fulfils goal g
	SomeKey                    // some member with a key in set a fulfils goal g
	MinProps                   // at least a members
	MaxProps                   // at most a members
	AllItems                   // every item at index a to b (-1: no end) fulfils goal g
	Leading                    // the first items fulfil the goals of item list a, one each
	NotLeading                 // some item doesn't fulfil its goal in item list a
	SomeItem                   // some item at index a to b fulfils goal g
	MinItems                   // at least a items
	MaxItems                   // at most a items
	AtLeast                    // at least a items fulfil goal g
	AtMost                     // at most a items fulfil goal g
	Unique                     // no two items are equal
	NotUnique                  // two items are equal
	Integer                    // the number is an integer
	NotInteger                 //
	Plain                      // the number is written without a fraction and an exponent
	NotPlain                   //
	Min                        // the number is at least decimal a; b=1: more than
	Max                        // the number is at most decimal a; b=1: less than
	Multiple                   // the number is a multiple of decimal a
	NotMultiple                //
	In                         // the number is in number set a
	NotIn                      //
)

// A Lit is a literal; its kind determines which fields are used.
type Lit struct {
	Kind LitKind
	A, B int32
	Goal Goal
}

// Forms builds and stores formulas. Info has one entry for each; other packages must
// not modify it.
type Forms struct {
	goals *Goals
	Info  []FormInfo
	lits  map[Lit]Form
	index map[string]Form
	not   []Form // by formula: 1 + its negation, or 0 while that is unknown
	lists []itemList
	list  map[itemList]int32
	key   []byte
	size  int
}

// An itemList is a list of goals, one for each item from some item on. The list for the
// items after the first is part of it, so that the rests of a long list need no memory
// of their own.
type itemList struct {
	first Goal
	rest  int32 // 0: no list, which demands nothing
}

// List returns the item list with a goal before those of another list; 0 is the empty
// list.
func (t *Forms) List(first Goal, rest int32) int32 {
	if first == Always && rest == 0 {
		return 0
	}
	l := itemList{first, rest}
	i, ok := t.list[l]
	if !ok {
		i = int32(len(t.lists))
		t.size += entryBytes / 4
		t.lists, t.list[l] = append(t.lists, l), i
	}
	return i
}

// oneOf returns the meaning of NotLeading as a disjunction over the items.
func (t *Forms) oneOf(list int32) Form {
	var some []Form
	for i := int32(0); list != 0; i++ {
		var g Goal
		g, list = t.First(list)
		some = append(some, t.Lit(Lit{Kind: SomeItem, A: i, B: i, Goal: t.goals.Not(g)}))
	}
	return t.Or(some...)
}

// First returns the first goal of an item list, and the list of the others.
func (t *Forms) First(list int32) (first Goal, rest int32) {
	return t.lists[list].first, t.lists[list].rest
}

// NewForms returns a table of formulas whose literals refer to goals.
func NewForms(goals *Goals) Forms {
	return Forms{
		goals: goals,
		Info:  []FormInfo{{Op: OpNo}, {Op: OpYes}},
		lits:  map[Lit]Form{},
		index: map[string]Form{},
		not:   []Form{No: 1 + Yes, Yes: 1 + No},
		lists: []itemList{{first: Always}},
		list:  map[itemList]int32{},
	}
}

// Lit returns the formula that consists of one literal.
func (t *Forms) Lit(l Lit) Form {
	switch l.Kind {
	case AllKeys, AllItems:
		if l.Goal == Always {
			return Yes
		}
	case Leading:
		if l.A == 0 {
			return Yes
		}
	case NotLeading:
		if l.A == 0 {
			return No
		}
	case SomeKey, SomeItem:
		if l.Goal == Never {
			return No
		}
	case MinProps, MinItems:
		if l.A <= 0 {
			return Yes
		}
	case MaxProps, MaxItems:
		if l.A < 0 {
			return No
		}
	case AtLeast:
		if l.A <= 0 {
			return Yes
		}
		if l.Goal == Never {
			return No
		}
		if l.Goal == Always {
			return t.Lit(Lit{Kind: MinItems, A: l.A})
		}
	case AtMost:
		if l.A < 0 {
			return No
		}
		if l.Goal == Never {
			return Yes
		}
		if l.Goal == Always {
			return t.Lit(Lit{Kind: MaxItems, A: l.A})
		}
	}
	if f, ok := t.lits[l]; ok {
		return f
	}
	f := Form(len(t.Info))
	t.size += entryBytes
	t.Info, t.not = append(t.Info, FormInfo{Op: OpLit, Lit: l}), append(t.not, 0)
	t.lits[l] = f
	return f
}

func (t *Forms) negateLit(l Lit) Form {
	swap := func(k LitKind) Form { l.Kind, l.Goal = k, t.goals.Not(l.Goal); return t.Lit(l) }
	plain := func(k LitKind) Form { l.Kind = k; return t.Lit(l) }
	switch l.Kind {
	case AllKeys:
		return swap(SomeKey)
	case SomeKey:
		return swap(AllKeys)
	case AllItems:
		return swap(SomeItem)
	case SomeItem:
		return swap(AllItems)
	case Leading:
		return plain(NotLeading)
	case NotLeading:
		return plain(Leading)
	case MinProps:
		l.A--
		return plain(MaxProps)
	case MaxProps:
		l.A++
		return plain(MinProps)
	case MinItems:
		l.A--
		return plain(MaxItems)
	case MaxItems:
		l.A++
		return plain(MinItems)
	case AtLeast:
		l.A--
		return plain(AtMost)
	case AtMost:
		l.A++
		return plain(AtLeast)
	case Unique:
		return plain(NotUnique)
	case NotUnique:
		return plain(Unique)
	case Integer:
		return plain(NotInteger)
	case NotInteger:
		return plain(Integer)
	case Plain:
		return plain(NotPlain)
	case NotPlain:
		return plain(Plain)
	case Min:
		l.B ^= 1
		return plain(Max)
	case Max:
		l.B ^= 1
		return plain(Min)
	case Multiple:
		return plain(NotMultiple)
	case NotMultiple:
		return plain(Multiple)
	case In:
		return plain(NotIn)
	}
	return plain(In)
}

// Not returns the negation of f.
func (t *Forms) Not(f Form) Form {
	if n := t.not[f]; n != 0 {
		return n - 1
	}
	var n Form
	switch info := &t.Info[f]; info.Op {
	case OpLit:
		n = t.negateLit(info.Lit)
	default:
		kids := make([]Form, len(info.Kids))
		op := info.Op
		for i, k := range info.Kids {
			kids[i] = t.Not(k)
		}
		if op == OpAnd {
			n = t.Or(kids...)
		} else {
			n = t.And(kids...)
		}
	}
	t.not[f], t.not[n] = 1+n, 1+f
	return n
}

// cheapNegation returns the negation of f if computing it takes no work.
func (t *Forms) cheapNegation(f Form) (Form, bool) {
	if t.Info[f].Op == OpLit {
		return t.Not(f), true
	}
	n := t.not[f]
	return n - 1, n != 0
}

// And returns the conjunction of formulas; of none, [Yes].
func (t *Forms) And(list ...Form) Form { return t.combine(OpAnd, list) }

// Or returns the disjunction of formulas; of none, [No].
func (t *Forms) Or(list ...Form) Form { return t.combine(OpOr, list) }

func (t *Forms) combine(op Op, list []Form) Form {
	neutral, absorbing, dual := Yes, No, OpOr
	if op == OpOr {
		neutral, absorbing, dual = No, Yes, OpAnd
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
	t.goals.Meter.Step(1 + len(list))
	flat := make([]Form, 0, len(list))
	duals := false
	for _, f := range list {
		switch {
		case f == absorbing:
			return absorbing
		case f == neutral:
		case t.Info[f].Op == op:
			flat = append(flat, t.Info[f].Kids...)
		default:
			flat = append(flat, f)
		}
	}
	t.goals.Meter.Step(len(flat) / 8)
	slices.Sort(flat)
	flat = slices.Compact(flat)
	for _, f := range flat {
		if t.Info[f].Op == dual {
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
		keep := make([]Form, 0, len(flat))
		for _, f := range flat {
			if t.Info[f].Op != dual {
				keep = append(keep, f)
				continue
			}
			kids, absorbed, dropped := t.Info[f].Kids, false, false
			rest := make([]Form, 0, len(kids))
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
	f := Form(len(t.Info))
	t.Info, t.not = append(t.Info, FormInfo{Op: op, Kids: flat}), append(t.not, 0)
	t.index[string(t.key)] = f
	t.size += entryBytes + 4*len(flat) + len(t.key)
	return f
}

// entryBytes is the approximate size of a goal or formula in its tables, without its
// parts.
const entryBytes = 160

// Bytes returns the memory held, approximately.
func (t *Forms) Bytes() int { return t.size }

// Conjuncts returns the conjuncts of f.
func (t *Forms) Conjuncts(f Form) []Form {
	switch {
	case f == Yes:
		return nil
	case t.Info[f].Op == OpAnd:
		return t.Info[f].Kids
	}
	return []Form{f}
}

// Wide reports whether f, or a part of it, has at least n parts.
func (t *Forms) Wide(f Form, n int) bool {
	return len(t.Info[f].Kids) >= n || slices.ContainsFunc(t.Info[f].Kids, func(k Form) bool { return len(t.Info[k].Kids) >= n })
}

// maxSeen bounds the number of branches that are remembered.
const maxSeen = 1 << 14

// Branches calls yield with the literals of conjunctions whose disjunction is f, until
// yield returns false. It tries cheap conjunctions first. None contains NotLeading,
// which is a disjunction, none contradicts itself literally, and none occurs twice. The
// slice is reused. Branches returns false if steps ran out.
func (t *Forms) Branches(f Form, steps *int, yield func(lits []Lit) bool) bool {
	var lits []Lit
	seen := map[string]bool{}
	var rec func(chosen, todo, ors []Form) bool
	rec = func(chosen, todo, ors []Form) bool {
		if *steps--; *steps < 0 {
			return false
		}
		t.goals.Meter.Step(1 + (len(todo)+len(ors))/16)
		for len(todo) > 0 {
			f := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			switch info := &t.Info[f]; info.Op {
			case OpNo:
				return true
			case OpLit:
				if slices.Contains(chosen, f) {
					continue
				}
				if slices.Contains(chosen, t.Not(f)) {
					return true
				}
				if info.Lit.Kind == NotLeading {
					todo = append(slices.Clone(todo), t.oneOf(info.Lit.A))
					continue
				}
				chosen = append(chosen[:len(chosen):len(chosen)], f)
			case OpAnd:
				todo = append(slices.Clone(todo), info.Kids...)
			case OpOr:
				if !slices.Contains(ors, f) {
					ors = append(ors[:len(ors):len(ors)], f)
				}
			}
		}
		ors = slices.DeleteFunc(slices.Clone(ors), func(or Form) bool {
			return slices.ContainsFunc(t.Info[or].Kids, func(k Form) bool { return slices.Contains(chosen, k) })
		})
		if len(seen) < maxSeen && (len(ors) > 0 || len(seen) > 0) {
			key := branchKey(chosen, ors)
			if seen[key] {
				return true
			}
			seen[key] = true
		}
		if len(ors) == 0 {
			lits = lits[:0]
			for _, f := range chosen {
				lits = append(lits, t.Info[f].Lit)
			}
			return yield(lits)
		}
		last := len(ors) - 1
		for _, k := range t.Info[ors[last]].Kids {
			if !rec(chosen, []Form{k}, ors[:last:last]) {
				return false
			}
		}
		return true
	}
	rec(nil, []Form{f}, nil)
	return *steps >= 0
}

// branchKey identifies a branch by its remaining disjunctions and its choices.
func branchKey(chosen, ors []Form) string {
	chosen = slices.Sorted(slices.Values(chosen))
	key := make([]byte, 0, 4*(len(chosen)+len(ors)+1))
	for _, f := range chosen {
		key = binary.LittleEndian.AppendUint32(key, uint32(f))
	}
	key = binary.LittleEndian.AppendUint32(key, uint32(No))
	for _, f := range ors {
		key = binary.LittleEndian.AppendUint32(key, uint32(f))
	}
	return string(key)
}

// Mentions reports whether f contains a literal of a kind.
func (t *Forms) Mentions(f Form, kind LitKind) bool {
	info := &t.Info[f]
	return info.Op == OpLit && info.Lit.Kind == kind ||
		slices.ContainsFunc(info.Kids, func(k Form) bool { return t.Mentions(k, kind) })
}

// AllDiffer reports whether f demands that all items differ.
func (t *Forms) AllDiffer(f Form) bool {
	return slices.ContainsFunc(t.Conjuncts(f), func(k Form) bool {
		info := &t.Info[k]
		return info.Op == OpLit && info.Lit.Kind == Unique
	})
}

// Final reports whether f holds for an object that gets no more members, or an
// array that gets no more items.
func (t *Forms) Final(f Form) bool {
	info := &t.Info[f]
	switch info.Op {
	case OpNo:
		return false
	case OpYes:
		return true
	case OpLit:
		switch info.Lit.Kind {
		case SomeKey, MinProps, SomeItem, NotLeading, MinItems, AtLeast, NotUnique:
			return false
		}
		return true
	case OpAnd:
		for _, k := range info.Kids {
			if !t.Final(k) {
				return false
			}
		}
		return true
	}
	return slices.ContainsFunc(info.Kids, t.Final)
}
