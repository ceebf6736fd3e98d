package regular

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular/runes"
)

// automaton is a deterministic automaton that is an expression itself
// (opState): if its states are known in advance, following them is far cheaper
// than derivatives. It is immutable and shared by all Stores.
type automaton interface {
	// successors calls to for each range that leaves q, in order, and only with
	// states that have a completion.
	successors(q int32, to func(lo, hi rune, q int32))
	// about returns whether q is final and the lengths of the completions of q.
	about(q int32) (final bool, l lengths)
	// obligation returns a bound on the shortest completions of all states.
	obligation() int32
	// letters returns a set that contains all characters of the strings of any
	// state.
	letters() letters
}

// state returns the expression of the strings accepted from q.
func (s *exprs) state(a automaton, q int32) Expr {
	index := -1
	for i, known := range s.automata {
		if known == a {
			index = i
		}
	}
	if index < 0 {
		index = len(s.automata)
		s.automata = append(s.automata, a)
	}
	return s.intern(node{op: opState, a: int32(index), b: q})
}

// table is an automaton with all of its states listed.
type table []tableState

type tableState struct {
	edges   []tableEdge
	final   bool
	lengths lengths
}

type tableEdge struct {
	lo, hi rune
	to     int32
}

func (t *table) successors(q int32, to func(lo, hi rune, q int32)) {
	for _, d := range (*t)[q].edges {
		to(d.lo, d.hi, d.to)
	}
}

func (t *table) about(q int32) (bool, lengths) { return (*t)[q].final, (*t)[q].lengths }

func (t *table) obligation() int32 {
	worst := int32(0)
	for q := range *t {
		worst = max(worst, (*t)[q].lengths.lo)
	}
	return worst
}

func (t *table) letters() letters {
	var out letters
	for q := range *t {
		for _, d := range (*t)[q].edges {
			out.add(d.lo, d.hi)
		}
	}
	return out
}

// tabulate lists the minimal automaton of an expression, which must have few
// states and at least one string. State 0 is the start.
func tabulate(s *Store, e Expr) *table {
	rows := table{}
	number := map[Expr]int32{e: 0}
	order := []Expr{e}
	for i := 0; i < len(order); i++ {
		row := tableState{final: s.is(order[i], nullable)}
		for _, d := range s.derive(order[i]) {
			if !s.isLive(d.to) {
				continue
			}
			q, ok := number[d.to]
			if !ok {
				q = int32(len(order))
				number[d.to] = q
				order = append(order, d.to)
			}
			row.edges = append(row.edges, tableEdge{d.lo, d.hi, q})
		}
		rows = append(rows, row)
	}
	rows = rows.minimal()
	rows.measure()
	return &rows
}

// minimal returns the automaton with equivalent states merged: starting from
// the two classes of final and other states, it splits classes as long as
// members lead to different classes.
func (t table) minimal() table {
	class := make([]int32, len(t))
	count := 0
	for {
		ids := map[string]int32{}
		next := make([]int32, len(t))
		var key []byte
		for q, row := range t {
			key = binary.AppendVarint(key[:0], int64(class[q]))
			if row.final {
				key = append(key, 1)
			}
			for _, d := range joinTable(row.edges, class) {
				key = binary.AppendVarint(key, int64(d.lo))
				key = binary.AppendVarint(key, int64(d.hi))
				key = binary.AppendVarint(key, int64(d.to))
			}
			id, ok := ids[string(key)]
			if !ok {
				id = int32(len(ids))
				ids[string(key)] = id
			}
			next[q] = id
		}
		class = next
		if len(ids) == count {
			break
		}
		count = len(ids)
	}
	out := make(table, count)
	for q, row := range t {
		out[class[q]] = tableState{edges: joinTable(row.edges, class), final: row.final}
	}
	return out
}

// joinTable replaces states by their classes and joins adjacent ranges.
func joinTable(list []tableEdge, class []int32) []tableEdge {
	out := make([]tableEdge, 0, len(list))
	for _, d := range list {
		d.to = class[d.to]
		if n := len(out); n > 0 && out[n-1].to == d.to && runes.Follows(out[n-1].hi, d.lo) {
			out[n-1].hi = d.hi
		} else {
			out = append(out, d)
		}
	}
	return out
}

// measure fills in the lengths. Every state leads to a final one.
func (t table) measure() {
	into := make([][]int32, len(t)) // by state: the states with an edge to it
	left := make([]int, len(t))     // edges to states whose longest path is unknown
	for q := range t {
		l := &t[q].lengths
		*l = lengths{lo: maxCount, hi: -1}.noInner()
		if t[q].final {
			l.lo, l.hi = 0, 0
		}
		left[q] = len(t[q].edges)
		for _, d := range t[q].edges {
			into[d.to] = append(into[d.to], int32(q))
		}
	}
	// Longest paths are found from the ends backwards; states that are never
	// reached this way lead to a cycle.
	var queue []int32
	for q := range t {
		if left[q] == 0 {
			queue = append(queue, int32(q))
		}
	}
	for len(queue) > 0 {
		to := queue[0]
		queue = queue[1:]
		for _, q := range into[to] {
			l := &t[q].lengths
			if hi := t[to].lengths.hi; hi >= 0 {
				l.hi = max(l.hi, satAdd(hi, 1))
			}
			if left[q]--; left[q] == 0 {
				queue = append(queue, q)
			}
		}
	}
	for q := range t {
		if left[q] > 0 {
			t[q].lengths.hi = infinite
		}
	}
	t.settle(func(l *lengths, to lengths, _ bool) { l.lo = min(l.lo, to.lo+1) })
	// From a state that leads to itself, all lengths from the shortest on
	// occur.
	for q := range t {
		if l := &t[q].lengths; !l.exact() {
			l.inLo, l.inHi = l.lo, l.lo
		}
	}
	t.settle(func(l *lengths, to lengths, self bool) {
		if self {
			l.inHi = infinite
		}
		if to.inHi == infinite && to.exact() && (l.inHi != infinite || to.inLo+1 < l.inLo) {
			l.inLo, l.inHi = to.inLo+1, infinite
		}
	})
}

// settle applies a rule for each edge until nothing changes.
func (t table) settle(rule func(l *lengths, to lengths, self bool)) {
	for changed := true; changed; {
		changed = false
		for q := len(t) - 1; q >= 0; q-- {
			l := &t[q].lengths
			before := *l
			for _, d := range t[q].edges {
				rule(l, t[d.to].lengths, d.to == int32(q))
			}
			changed = changed || *l != before
		}
	}
}

// recoding maps characters to an alphabet with one letter for each class of
// characters that the given sets don't distinguish.
type recoding struct{ classes [][]runes.Range }

// newRecoding computes the classes: the stretches between the ends of ranges,
// grouped by the sets that contain them.
func newRecoding(sets [][]runes.Range) *recoding {
	cuts := []rune{0, runes.Max + 1}
	for _, set := range sets {
		for _, r := range set {
			cuts = append(cuts, r.Lo, r.Hi+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	c := &recoding{}
	known := map[string]int{}
	for i, from := range cuts[:len(cuts)-1] {
		lo, hi := runes.Clip(from, cuts[i+1]-1)
		if lo > hi {
			continue
		}
		members := make([]byte, len(sets))
		for j, set := range sets {
			if runes.Contains(set, lo) {
				members[j] = 1
			}
		}
		class, ok := known[string(members)]
		if !ok {
			class = len(c.classes)
			known[string(members)] = class
			c.classes = append(c.classes, nil)
		}
		c.classes[class] = append(c.classes[class], runes.Range{Lo: lo, Hi: hi})
	}
	return c
}

// letters returns a set in the small alphabet: class i is the character i.
func (c *recoding) letters(set []runes.Range) []runes.Range {
	var out []runes.Range
	for i, class := range c.classes {
		if runes.Contains(set, class[0].Lo) {
			out = append(out, runes.Range{Lo: rune(i), Hi: rune(i)})
		}
	}
	return runes.Join(out)
}

// recoded is an automaton over the small alphabet of a recoding, or over
// characters. It is built as it is walked.
type recoded struct {
	m     *Machine
	code  *recoding
	ranks []int // class of each stretch, in the order of characters
	spans []runes.Range
}

func newRecoded(s *Store, e Expr, code *recoding) *recoded {
	m, err := s.Compile(e)
	if err != nil {
		panic(err) // can't happen: a test covers all of them
	}
	x := &recoded{m: m, code: code}
	if code == nil {
		return x
	}
	for class, spans := range code.classes {
		for _, r := range spans {
			x.spans = append(x.spans, r)
			x.ranks = append(x.ranks, class)
		}
	}
	order := make([]int, len(x.spans))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return int(x.spans[i].Lo - x.spans[j].Lo) })
	spans, ranks := slices.Clone(x.spans), slices.Clone(x.ranks)
	for i, j := range order {
		x.spans[i], x.ranks[i] = spans[j], ranks[j]
	}
	return x
}

func (x *recoded) successors(q int32, to func(lo, hi rune, q int32)) {
	if x.code == nil {
		for _, d := range x.m.Ranges(q) {
			to(d.Lo, d.Hi, d.To)
		}
		return
	}
	for i, r := range x.spans {
		if next := x.m.Step(q, rune(x.ranks[i])); next != Dead {
			to(r.Lo, r.Hi, next)
		}
	}
}

func (x *recoded) about(q int32) (bool, lengths) {
	l := lengths{lo: int32(utf8.RuneCountInString(x.m.Shortest(q))), hi: infinite}
	l.inLo, l.inHi = l.lo, l.lo
	return x.m.Accepting(q), l
}

func (x *recoded) obligation() int32 { return maxCount }

func (x *recoded) letters() letters { return allLetters }
