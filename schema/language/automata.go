package language

import (
	"sync"

	"github.com/stencil-json/stencil/schema/number"
)

// automata holds the automata that all schemas share, with their states.
var (
	automataMu sync.Mutex
	automata   = map[string]*number.Automaton{}
)

// maxAutomata is the number of shared automata at which all are discarded.
const maxAutomata = 4096

// SharedAutomaton returns the shared automaton equal to a, or makes a the shared one if
// there is none or a text has exceeded its limit.
func SharedAutomaton(a *number.Automaton) *number.Automaton {
	automataMu.Lock()
	defer automataMu.Unlock()
	key := a.Key()
	if b, ok := automata[key]; ok && b.Err() == nil {
		return b
	}
	if len(automata) >= maxAutomata {
		clear(automata)
	}
	automata[key] = a
	return a
}
