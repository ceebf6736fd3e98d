package regular

import "encoding/binary"

// automaton is a deterministic automaton that stands for itself in an
// expression (opState): where its states are known beforehand, following them
// is far cheaper than deriving. It is immutable and shared by all Stores.
type automaton interface {
	// successors calls to for each range that leads on from q, in order, never
	// with a state that has no completion.
	successors(q int32, to func(lo, hi rune, q int32))
	// about says whether q is final and how long the completions of q are.
	about(q int32) (final bool, l lengths)
}

// state returns the expression of the strings accepted from q on.
func (s *Store) state(a automaton, q int32) Expr {
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

// table is an automaton whose states are all written down.
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

// tabulate writes down the least automaton of an expression, which must have
// few states and some string. State 0 is its start.
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

// minimal returns the automaton with states that accept the same strings made
// one: starting from the two classes of final and other states, classes are
// split as long as members lead to different classes.
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

// joinTable replaces states by their classes and joins neighbours.
func joinTable(list []tableEdge, class []int32) []tableEdge {
	out := make([]tableEdge, 0, len(list))
	for _, d := range list {
		d.to = class[d.to]
		if n := len(out); n > 0 && out[n-1].to == d.to && follows(out[n-1].hi, d.lo) {
			out[n-1].hi = d.hi
		} else {
			out = append(out, d)
		}
	}
	return out
}

// measure fills in the lengths. Shortest ways settle in as many rounds as the
// longest of them has steps; so do longest ways, unless there is a cycle.
func (t table) measure() {
	for q := range t {
		t[q].lengths = lengths{lo: maxCount, hi: -1}.noInner()
		if t[q].final {
			t[q].lengths.lo, t[q].lengths.hi = 0, 0
		}
	}
	for round := 0; round <= len(t); round++ {
		for q := range t {
			l := &t[q].lengths
			for _, d := range t[q].edges {
				to := t[d.to].lengths
				l.lo = min(l.lo, to.lo+1)
				if to.hi >= 0 {
					l.hi = max(l.hi, satAdd(to.hi, 1))
				}
			}
			if round == len(t) && l.hi > int32(len(t)) {
				l.hi = infinite
			}
		}
	}
	// A cycle makes the longest ways grow round after round; whatever leads to
	// one is without bound too. From a state that leads to itself all lengths
	// from the shortest on occur.
	for range t {
		for q := range t {
			l := &t[q].lengths
			if !l.exact() {
				l.inLo, l.inHi = l.lo, l.lo
			}
			for _, d := range t[q].edges {
				to := t[d.to].lengths
				if to.hi == infinite {
					l.hi = infinite
				}
				if d.to == int32(q) {
					l.inHi = infinite
				}
				if to.inHi == infinite && to.exact() && (l.inHi != infinite || to.inLo+1 < l.inLo) {
					l.inLo, l.inHi = to.inLo+1, infinite
				}
			}
		}
	}
}
