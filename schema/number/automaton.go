package number

import (
	"sync"
	"sync/atomic"
)

// A State of an Automaton. States of different automata have nothing to do
// with each other.
type State = int32

// Dead is the state that no text leads out of.
const Dead State = -1

// An Automaton accepts the texts of the numbers that a Spec allows. It is made
// as texts reach it: each state keeps a row of 16 numbers, so that a step
// taken before is a look-up, and a step not taken before is worked out under a
// mutex. Its methods may be called by several goroutines.
type Automaton struct {
	problem
	limits Limits
	trie   bool // made by addTexts; nodes hold nothing

	// The rows of the states. Rows are written under mu only. To make room,
	// they are copied: who still reads the old ones finds the new steps
	// missing, and takes the slow path to them.
	rows atomic.Pointer[[]row]

	mu       sync.Mutex
	nodes    []node // by state
	states   map[key]State
	sets     []set // of exponents, by number; see exponent.go
	setIndex map[string]int32
	shortest map[State]string
	err      atomic.Pointer[LimitError] // that of a step or completion that was given up
}

// A row holds the successors of a state by symbol, each as 0 for "not yet
// known", -1 for Dead, else the state plus 1. The last element holds flags.
type row [16]int32

const (
	flags     = 15 // the element of a row that holds flags; also "no symbol"
	accepting = 1  // the flag
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

// step works out a step that was not taken before.
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
			return Dead // not for good: there may be an old state for it
		}
	}
	entry := to + 1
	if to == Dead {
		entry = -1
	}
	atomic.StoreInt32(&a.row(q)[sym], entry) // where interning has put the row
	return to
}

// intern returns the state of n: the one that has the same continuations, or
// a new one, or Dead if n is not live.
func (a *Automaton) intern(n *node) State {
	var k key
	if n.kind != kindStart { // which no step leads to
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

// Contains reports whether the Spec allows d, however it is spelt.
func (a *Automaton) Contains(d Decimal) bool { return a.contains(d) }

// Err returns a *LimitError once a step was refused because the automaton has
// as many states as [Limits] allows, or because the step took too much work; such a
// step answers Dead although it may not be. States made before go on working.
func (a *Automaton) Err() error {
	if err := a.err.Load(); err != nil {
		return err
	}
	return nil
}

// States returns the number of states made so far.
func (a *Automaton) States() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.nodes)
}
