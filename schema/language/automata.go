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
// enumeration takes 300 bytes for each of its values, and there is one for each part of it that an array may still contain.
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

// Held are the automata that one schema holds. It belongs to one goroutine at a time.
type Held struct {
	all   map[*number.Automaton]bool
	bytes int
}

// Shared returns the shared automaton equal to a, and counts it if it is new here.
func (h *Held) Shared(a *number.Automaton) *number.Automaton {
	a = SharedAutomaton(a)
	if !h.all[a] {
		if h.all == nil {
			h.all = map[*number.Automaton]bool{}
		}
		h.all[a] = true
		h.bytes += a.Bytes()
	}
	return a
}

// Bytes returns about how much memory the automata take.
func (h *Held) Bytes() int { return h.bytes }
