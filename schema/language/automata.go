package language

import (
	"sync"

	"github.com/stencil-json/stencil/schema/number"
)

// automata are shared by all schemas, with what has been learnt about them.
var (
	automataMu sync.Mutex
	automata   = map[string]*number.Automaton{}
)

// maxAutomata is the number of automata at which the shared ones are
// forgotten.
const maxAutomata = 4096

// SharedAutomaton returns the automaton that stands for all equal to a. One that a text has filled up stands for none.
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
