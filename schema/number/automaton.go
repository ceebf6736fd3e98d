package number

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A State of an Automaton. States of different automata are unrelated.
type State = int32

// Dead is the state from which no text is accepted.
const Dead State = -1

// An Automaton accepts the texts of the numbers that a Spec allows. It is built as
// texts reach its states: each state has a row of 16 numbers, in which a step taken
// before is a look-up; a new step is computed under a mutex. It is safe for
// concurrent use.
type Automaton struct {
	problem
	limits Limits
	trie   bool // built by addTexts; nodes hold nothing

	// The rows of the states. Rows are written under mu only. They are copied to
	// make room: readers of the old rows miss new steps and take the slow path to
	// them.
	rows atomic.Pointer[[]row]

	mu       sync.Mutex
	nodes    []node // by state
	states   map[key]State
	sets     []set // of exponents, by number; see exponent.go
	setIndex map[string]int32
	shortest map[State]string
	err      atomic.Pointer[LimitError] // the error of a step or completion that was abandoned
}

// A row holds the successors of a state by symbol: 0 for unknown, -1 for Dead, else
// the state plus 1. The last element holds flags.
type row [16]int32

const (
	flags     = 15 // the element of a row that holds flags; also "no symbol"
	accepting = 1  // a flag: the state is accepting
	firstRows = 8
)

// Symbols 0 to 9 are the digits.
const (
	symMinus = 10 + iota
	symPlus
	symPoint
	symE
	symCapitalE
	symbols
)

// symbolOf maps a byte to its symbol.
var symbolOf = func() (t [256]uint8) {
	for i := range t {
		t[i] = flags
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c - '0'
	}
	t['-'], t['+'], t['.'], t['e'], t['E'] = symMinus, symPlus, symPoint, symE, symCapitalE
	return t
}()

// byteOf maps a symbol back.
const byteOf = "0123456789-+.eE"

func (a *Automaton) row(q State) *row { return &(*a.rows.Load())[q] }

// addRow makes room for the row of the next state.
func (a *Automaton) addRow() {
	n := len(a.nodes)
	if n == 0 {
		rows := make([]row, firstRows)
		a.rows.Store(&rows)
	} else if old := *a.rows.Load(); n == len(old) {
		rows := make([]row, 2*n)
		copy(rows, old)
		a.rows.Store(&rows)
	}
}

// Bytes returns about how much memory the automaton takes: as much for each that accepts the same, whatever its Spec was and
// whichever texts have been followed.
func (a *Automaton) Bytes() int {
	n := 4096 // the states that texts reach, as far as they are not known from the start
	if a.trie {
		n = 512 + cap(a.nodes)*int(unsafe.Sizeof(node{})) + cap(*a.rows.Load())*int(unsafe.Sizeof(row{}))
	}
	values := len(a.sides[0].values) + len(a.sides[1].values)
	return n + 4*values*int(unsafe.Sizeof(Decimal{})) // with those that the Spec lists and excludes
}

// Start returns the state before the first byte. It is never Dead.
func (a *Automaton) Start() State { return 0 }

// Step returns the state after one more byte, or Dead if no continuation is
// accepted.
func (a *Automaton) Step(q State, b byte) State {
	sym := symbolOf[b]
	if q < 0 || sym == flags {
		return Dead
	}
	switch next := atomic.LoadInt32(&a.row(q)[sym]); next {
	case 0:
		return a.step(q, sym)
	case -1:
		return Dead
	default:
		return next - 1
	}
}

// step computes a step that was not taken before.
func (a *Automaton) step(q State, sym uint8) (to State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if next := a.row(q)[sym]; next > 0 {
		return next - 1
	}
	a.begin()
	defer a.tooMuch(func(err *LimitError) {
		a.err.Store(err)
		to = Dead
	})
	to = Dead
	if next, ok := a.next(&a.nodes[q], sym); ok {
		if to = a.intern(&next); to == Dead && a.err.Load() != nil {
			return Dead // not stored: beyond the limit, the state may not be dead
		}
	}
	entry := to + 1
	if to == Dead {
		entry = -1
	}
	atomic.StoreInt32(&a.row(q)[sym], entry) // intern may have moved the row
	return to
}

// intern returns the state of n: an existing one with the same continuations, or a
// new one, or Dead if n is not live.
func (a *Automaton) intern(n *node) State {
	var k key
	if n.kind != kindStart { // no step leads to the start
		k = a.keyOf(n)
		if q, ok := a.states[k]; ok {
			return q
		}
		if a.states == nil {
			a.states = make(map[key]State)
		}
	}
	if !a.live(n) {
		return Dead
	}
	q := State(len(a.nodes))
	if len(a.nodes) >= a.limits.States {
		a.err.Store(&LimitError{Limit: "states of a number automaton", Max: a.limits.States})
		return Dead
	}
	a.addRow()
	if a.accepts(n) {
		a.row(q)[flags] = accepting
	}
	a.nodes = append(a.nodes, *n)
	if n.kind != kindStart {
		a.states[k] = q
	}
	return q
}

// Accepting reports whether the text that led to q is a number of the Spec.
func (a *Automaton) Accepting(q State) bool {
	return q >= 0 && a.row(q)[flags]&accepting != 0
}

// Contains reports whether the Spec allows d, regardless of its spelling.
func (a *Automaton) Contains(d Decimal) bool { return a.contains(d) }

// Err returns a *LimitError once a step was refused because the automaton has
// reached the number of states in [Limits], or because the step took too much work.
// Such a step returns Dead although it may not be. Existing states remain usable.
func (a *Automaton) Err() error {
	if err := a.err.Load(); err != nil {
		return err
	}
	return nil
}

// States returns the number of states built so far.
func (a *Automaton) States() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.nodes)
}
