package language

import (
	"sync"

	"github.com/stencil-json/stencil/schema/number"
)

// automata holds the automata that all schemas share, with their states.
var (
	automataMu    sync.Mutex
	automata      = map[string]*number.Automaton{}
	automataBytes int // when they were added
)

// maxAutomata and maxAutomataBytes are the number of shared automata and their bytes at which all are discarded. One of a large
// enumeration takes a hundred bytes for each of its values, and there is one for each part of it that an array may still contain.
const (
	maxAutomata      = 4096
	maxAutomataBytes = 32 << 20
)

// SharedAutomaton returns the shared automaton equal to a, or makes a the shared one if
// there is none or a text has exceeded its limit.
func SharedAutomaton(a *number.Automaton) *number.Automaton {
	automataMu.Lock()
	defer automataMu.Unlock()
	key := a.Key()
	if b, ok := automata[key]; ok && b.Err() == nil {
		return b
	}
	if len(automata) >= maxAutomata || automataBytes > maxAutomataBytes {
		clear(automata)
		automataBytes = 0
	}
	automata[key] = a
	automataBytes += len(key) + a.Bytes()
	return a
}
