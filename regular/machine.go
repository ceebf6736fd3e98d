package regular

import (
	"sort"
	"sync/atomic"
	"unsafe"
)

// State is a state of a Machine, or Dead.
type State = int32

// Dead is the state from which no string is accepted.
const Dead State = -1

// Edge leads to a state under each character of a range. Its ends are scalar
// values and it holds no surrogates.
type Edge struct {
	Lo, Hi rune
	To     State
}

// Machine is the deterministic automaton of one expression. States are made
// when they are asked for. It is safe for concurrent use: what has been made is
// read without a lock.
type Machine struct {
	store *Store
	start State

	// Guarded by store.mu for writing. Blocks never move, so that a state can be
	// read while others are added.
	blocks atomic.Pointer[[]*block]
	index  map[Expr]State
	count  int
	bytes  atomic.Int64
	err    atomic.Pointer[error]
}

const blockBits = 5

type block [1 << blockBits]state

type state struct {
	row       atomic.Pointer[row]
	expr      Expr
	accepting bool
}

// row holds the successors of a state that was visited.
type row struct {
	ascii [128]State
	edges []Edge
}

// Compile returns the machine of e; the same one for the same expression. An
// error is a *LimitError: of the Store, or of the search whether e has any
// string at all.
func (s *Store) Compile(e Expr) (*Machine, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.machines[e]; m != nil {
		return m, nil
	}
	if s.err != nil {
		return nil, s.err
	}
	m := &Machine{store: s, start: Dead, index: make(map[Expr]State)}
	m.blocks.Store(new([]*block))
	m.start = m.stateOf(e)
	if s.err != nil {
		return nil, s.err
	}
	if s.machines == nil {
		s.machines = make(map[Expr]*Machine)
	}
	s.machines[e] = m
	return m, nil
}

func (m *Machine) at(q State) *state {
	return &(*m.blocks.Load())[q>>blockBits][q&(1<<blockBits-1)]
}

// stateOf returns the state of an expression, Dead if it has no string. The
// Store is locked.
func (m *Machine) stateOf(e Expr) State {
	if q, ok := m.index[e]; ok {
		return q
	}
	s := m.store
	if !s.isLive(e) {
		if s.err == nil {
			m.index[e] = Dead
		}
		return Dead
	}
	if m.count >= s.limits.States {
		m.fail(&LimitError{"States", s.limits.States})
		return Dead
	}
	q := State(m.count)
	blocks := *m.blocks.Load()
	if int(q)>>blockBits == len(blocks) {
		grown := append(blocks[:len(blocks):len(blocks)], new(block))
		m.blocks.Store(&grown)
		m.bytes.Add(int64(unsafe.Sizeof(block{})))
	}
	m.count++
	st := m.at(q)
	st.expr, st.accepting = e, s.is(e, nullable)
	m.index[e] = q
	return q
}

func (m *Machine) fail(err error) {
	if m.err.Load() == nil {
		m.err.Store(&err)
	}
}

// visit returns the successors of q, which it makes first if need be.
func (m *Machine) visit(q State) *row {
	if r := m.at(q).row.Load(); r != nil {
		return r
	}
	return m.make(q)
}

func (m *Machine) make(q State) *row {
	s := m.store
	s.mu.Lock()
	defer s.mu.Unlock()
	st := m.at(q)
	if r := st.row.Load(); r != nil {
		return r
	}
	r := new(row)
	for i := range r.ascii {
		r.ascii[i] = Dead
	}
	list := s.derive(st.expr)
	r.edges = make([]Edge, 0, len(list)+1)
	from, to := exprEmpty, Dead
	for _, d := range list {
		if d.to != from {
			from, to = d.to, m.stateOf(d.to)
		}
		if to == Dead {
			continue
		}
		for c := d.lo; c <= min(d.hi, 127); c++ {
			r.ascii[c] = to
		}
		if d.lo < surrogateLow && d.hi > surrogateHigh {
			m.edge(r, Edge{d.lo, surrogateLow - 1, to})
			d.lo = surrogateHigh + 1
		}
		m.edge(r, Edge{d.lo, d.hi, to})
	}
	if s.err != nil {
		m.fail(s.err)
	}
	m.bytes.Add(int64(unsafe.Sizeof(row{})) + int64(cap(r.edges))*int64(unsafe.Sizeof(Edge{})))
	st.row.Store(r)
	return r
}

func (m *Machine) edge(r *row, d Edge) {
	if n := len(r.edges); n > 0 && r.edges[n-1].To == d.To && r.edges[n-1].Hi+1 == d.Lo {
		r.edges[n-1].Hi = d.Hi
		return
	}
	r.edges = append(r.edges, d)
}

// Start returns the first state, Dead when the language is empty.
func (m *Machine) Start() State { return m.start }

// Step returns the state after q under r: Dead when no string of the language
// goes on that way.
func (m *Machine) Step(q State, r rune) State {
	if q < 0 {
		return Dead
	}
	row := m.at(q).row.Load()
	if row == nil {
		row = m.make(q)
	}
	if uint32(r) < 128 {
		return row.ascii[r]
	}
	return row.step(r)
}

func (r *row) step(c rune) State {
	i := sort.Search(len(r.edges), func(i int) bool { return r.edges[i].Hi >= c })
	if i < len(r.edges) && r.edges[i].Lo <= c {
		return r.edges[i].To
	}
	return Dead
}

// Accepting tells whether what was read up to q is a string of the language.
func (m *Machine) Accepting(q State) bool { return q >= 0 && m.at(q).accepting }

// Ranges returns the edges that leave q: sorted, disjoint, to live states only.
// The slice is shared and read only.
func (m *Machine) Ranges(q State) []Edge {
	if q < 0 {
		return nil
	}
	return m.visit(q).edges
}

var deadRow = func() (t [128]State) {
	for i := range t {
		t[i] = Dead
	}
	return
}()

// ASCII returns the successors of q under the ASCII characters. The table is
// shared and read only.
func (m *Machine) ASCII(q State) *[128]State {
	if q < 0 {
		return &deadRow
	}
	return &m.visit(q).ascii
}

// Shortest returns a shortest string that is accepted from q on, "" when q is
// accepting or Dead. It prefers letters and digits.
func (m *Machine) Shortest(q State) string {
	if q < 0 || m.Accepting(q) {
		return ""
	}
	s := m.store
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.shortest(m.at(q).expr)
	if s.err != nil {
		m.fail(s.err)
	}
	return text
}

// Err returns the *LimitError of the first limit that was exceeded. From then
// on Step may answer Dead where it should not.
func (m *Machine) Err() error {
	if err := m.err.Load(); err != nil {
		return *err
	}
	return nil
}

// States returns the number of states made so far.
func (m *Machine) States() int {
	m.store.mu.Lock()
	defer m.store.mu.Unlock()
	return m.count
}

// Bytes returns the memory taken by the states made so far, without the
// expressions, which belong to the Store.
func (m *Machine) Bytes() int { return int(m.bytes.Load()) }
