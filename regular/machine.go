package regular

import (
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/stencil-json/stencil/regular/runes"
)

// State is a state of a Machine, or Dead.
type State = int32

// Dead is the state from which no string is accepted.
const Dead State = -1

// Edge leads to a state over a range of characters. Its ends are scalar values
// and it contains no surrogates.
type Edge struct {
	Lo, Hi rune
	To     State
}

// Machine is the deterministic automaton of one expression. It is safe for
// concurrent use: existing states are read without a lock.
//
// The machines of a Store share their states: a state of one is a state of any
// other, with the same meaning.
type Machine struct {
	*states
	start State
	user  *User // of its operations; nil: none
}

// Reporting returns the machine as one whose operations have this user.
func (m *Machine) Reporting(user *User) *Machine { return &Machine{m.states, m.start, user} }

// Like returns the machine with the user of another one.
func (m *Machine) Like(other *Machine) *Machine { return m.Reporting(other.user) }

// lock begins an operation.
func (m *Machine) lock() {
	m.store.mu.Lock()
	m.store.begin(m.user)
}

// states holds the states of a Store, which are created on demand. Blocks never
// move, so that a state can be read while others are added. The Store's lock
// must be held to add one.
type states struct {
	store  *Store
	count  atomic.Int32
	blocks atomic.Pointer[[]*block]
	tables [][128]State // block from which the next tables are allocated
	edges  []Edge       // block from which the next edges are allocated
	bytes  atomic.Int64
	err    atomic.Pointer[error]
}

const blockBits = 4

type block [1 << blockBits]state

// state is one state. Its successors are valid once ascii is set, which is
// therefore set last.
type state struct {
	ascii     atomic.Pointer[[128]State]
	edges     []Edge
	bounded   *bounded // set on creation
	lengths   lengths
	expr      Expr
	accepting bool
}

// bounded describes a state whose expression is a plain one under a bound on
// the length. From then on, the two can be followed separately.
type bounded struct {
	core        State // state of the plain expression
	least, most int32
}

// Compile returns the machine of e, the same one for the same expression. The
// error is a *LimitError: of the Store, or of the search for a string of e.
func (s *Store) Compile(e Expr) (m *Machine, err error) {
	s.lock()
	defer s.doneWith(&err)
	return s.compile(e)
}

// compile is Compile within an operation.
func (s *Store) compile(e Expr) (*Machine, error) {
	if m := s.machines[e]; m != nil {
		return m, nil
	}
	if s.states == nil {
		s.states = &states{store: s}
		s.states.blocks.Store(new([]*block))
	}
	m := &Machine{states: s.states}
	if s.err == nil {
		m.start = s.states.of(e)
	}
	if s.err != nil {
		if s.asker == nil {
			m.fail(s.err)
		}
		return nil, s.err
	}
	if err := m.Err(); err != nil {
		return nil, err
	}
	if s.machines == nil {
		s.machines = make(map[Expr]*Machine)
	}
	s.machines[e] = m
	return m, nil
}

func (m *states) at(q State) *state {
	return &(*m.blocks.Load())[q>>blockBits][q&(1<<blockBits-1)]
}

// of returns the state of an expression, Dead if it has no string. The Store
// must be locked.
func (m *states) of(e Expr) State {
	s := m.store
	n := s.node(e)
	if n.state != 0 {
		return n.state - 1
	}
	if !s.isLive(e) {
		return Dead
	}
	q := m.count.Load()
	if int(q) >= s.limits.States {
		if s.asker == nil {
			m.fail(&LimitError{"States", s.limits.States})
		} else {
			s.fail("States", s.limits.States)
		}
		return Dead
	}
	blocks := *m.blocks.Load()
	if int(q)>>blockBits == len(blocks) {
		grown := append(blocks[:len(blocks):len(blocks)], new(block))
		m.blocks.Store(&grown)
		m.bytes.Add(int64(unsafe.Sizeof(block{})))
	}
	m.count.Store(q + 1)
	st := m.at(q)
	st.expr, st.accepting, st.lengths, st.bounded = e, n.flags&nullable != 0, n.lengths, nil
	n.state = q + 1
	if n.op == opAnd {
		if loop, core := s.splitLength(e); loop != exprAny && s.is(core, plain) {
			l := s.node(loop)
			st.bounded = &bounded{m.of(core), l.least, l.most}
		}
	}
	return q
}

func (m *states) fail(err error) {
	if m.err.Load() == nil {
		m.err.Store(&err)
	}
}

// visit returns a state with its successors, which it creates if necessary.
func (m *Machine) visit(q State) *state {
	st := m.at(q)
	if st.ascii.Load() == nil {
		m.make(st)
	}
	return st
}

func (m *Machine) make(st *state) {
	s := m.store
	m.lock()
	defer s.done()
	if st.ascii.Load() != nil {
		return
	}
	list := s.derive(st.expr)
	if room := len(list) + 1; len(m.edges)+room > cap(m.edges) {
		m.edges = make([]Edge, 0, max(room, min(8+2*cap(m.edges), 1024)))
		m.bytes.Add(int64(cap(m.edges)) * int64(unsafe.Sizeof(Edge{})))
	}
	if len(m.tables) == 0 {
		m.tables = make([][128]State, min(2+int(m.count.Load()), 16))
		m.bytes.Add(int64(len(m.tables)) * int64(unsafe.Sizeof(deadTable)))
	}
	table := &m.tables[0]
	*table = deadTable
	first := len(m.edges)
	from, to := exprEmpty, Dead
	for _, d := range list {
		if d.to != from {
			from, to = d.to, m.of(d.to)
		}
		if to == Dead {
			continue
		}
		for c := d.lo; c <= min(d.hi, 127); c++ {
			table[c] = to
		}
		if d.lo < runes.SurrogateLow && d.hi > runes.SurrogateHigh {
			m.addEdge(first, Edge{d.lo, runes.SurrogateLow - 1, to})
			d.lo = runes.SurrogateHigh + 1
		}
		m.addEdge(first, Edge{d.lo, d.hi, to})
	}
	if s.err != nil {
		if s.asker != nil {
			return // the next who gets here tries again
		}
		m.fail(s.err)
	}
	m.tables = m.tables[1:]
	st.edges = m.edges[first:len(m.edges):len(m.edges)]
	st.ascii.Store(table)
}

// addEdge appends an edge to those that start at first. It joins edges to
// expressions that simplified differently but have the same state.
func (m *states) addEdge(first int, d Edge) {
	if n := len(m.edges); n > first && m.edges[n-1].To == d.To && m.edges[n-1].Hi+1 == d.Lo {
		m.edges[n-1].Hi = d.Hi
		return
	}
	m.edges = append(m.edges, d)
}

// A Place identifies a state regardless of the machine it was reached in: after
// equal places the same strings are accepted.
type Place struct {
	states *states
	q      State
}

// Store returns the store that the machine was compiled in.
func (m *Machine) Store() *Store { return m.store }

// Place returns the place of state q.
func (m *Machine) Place(q State) Place { return Place{m.states, q} }

// Start returns the start state, Dead if the language is empty.
func (m *Machine) Start() State { return m.start }

// Step returns the state after q over r, or Dead if no string of the language
// continues that way.
func (m *Machine) Step(q State, r rune) State {
	if q < 0 {
		return Dead
	}
	st := m.at(q)
	table := st.ascii.Load()
	if table == nil {
		m.make(st)
		if table = st.ascii.Load(); table == nil {
			return Dead
		}
	}
	if uint32(r) < 128 {
		return table[r]
	}
	return st.step(r)
}

// step returns the successor over any character.
func (st *state) step(c rune) State {
	lo, hi := 0, len(st.edges)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if st.edges[mid].Hi < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(st.edges) && st.edges[lo].Lo <= c {
		return st.edges[lo].To
	}
	return Dead
}

// Alive reports whether some string of the language continues from q with text.
// It is equivalent to stepping through the text, but creates fewer states if
// the length is bounded. Bytes that are not UTF-8 count as U+FFFD.
func (m *Machine) Alive(q State, text []byte) bool {
	if q < 0 {
		return false
	}
	b := m.at(q).bounded
	if b == nil {
		return m.after(q, text) != Dead
	}
	end := m.after(b.core, text)
	if end == Dead {
		return false
	}
	// The core must have a string with the remaining number of characters.
	n := int32(utf8.RuneCount(text))
	least, most := satSub(b.least, n), b.most
	if most != infinite {
		most -= n
	}
	switch l := m.at(end).lengths; {
	case l.lo > most || l.hi < least:
		return false
	case l.exact() && l.inLo <= most && l.inHi >= least:
		return true
	}
	return m.after(q, text) != Dead
}

// after is Step for each character of a text.
func (m *Machine) after(q State, text []byte) State {
	for i := 0; i < len(text) && q != Dead; {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRune(text[i:])
		}
		q = m.Step(q, r)
		i += width
	}
	return q
}

// Accepting reports whether the text read up to q is a string of the language.
func (m *Machine) Accepting(q State) bool { return q >= 0 && m.at(q).accepting }

// Ranges returns the edges that leave q: sorted, disjoint, and to live states
// only. The slice is shared and must not be modified.
func (m *Machine) Ranges(q State) []Edge {
	if q < 0 {
		return nil
	}
	return m.visit(q).edges
}

var deadTable = func() (t [128]State) {
	for i := range t {
		t[i] = Dead
	}
	return
}()

// ASCII returns the successors of q over the ASCII characters. The table is
// shared and must not be modified.
func (m *Machine) ASCII(q State) *[128]State {
	if q < 0 {
		return &deadTable
	}
	if table := m.visit(q).ascii.Load(); table != nil {
		return table
	}
	return &deadTable
}

// Shortest returns a shortest string accepted from q, "" if q is accepting or
// Dead, or if the string would be longer than the limit: see Least. It prefers
// letters and digits.
func (m *Machine) Shortest(q State) string {
	if q < 0 || m.Accepting(q) {
		return ""
	}
	s := m.store
	m.lock()
	defer s.done()
	e := m.at(q).expr
	if int(s.node(e).lengths.lo) > s.limits.Text {
		return ""
	}
	text := s.shortest(e)
	if s.err != nil && s.asker == nil {
		m.fail(s.err)
	}
	return text
}

// Least returns a lower bound on the number of characters in the strings of e.
func (s *Store) Least(e Expr) int {
	s.lock()
	defer s.done()
	return int(s.node(e).lengths.lo)
}

// Least returns a lower bound on the number of characters in strings accepted
// from q.
func (m *Machine) Least(q State) int {
	if q < 0 {
		return 0
	}
	return int(m.at(q).lengths.lo)
}

// Err returns the *LimitError of the first limit that any of the machines of
// the Store exceeded. From then on Step may return Dead wrongly.
func (m *Machine) Err() error {
	if err := m.err.Load(); err != nil {
		return *err
	}
	return nil
}

// States returns the number of states created so far, for all machines of the
// Store.
func (m *Machine) States() int { return int(m.count.Load()) }

// Bytes returns the memory of the states created so far, for all machines of
// the Store, without its expressions.
func (m *Machine) Bytes() int { return int(m.bytes.Load()) }
