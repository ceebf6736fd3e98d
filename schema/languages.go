package schema

import (
	"sync"

	"stencil/regular"
)

// languages is a store of regular languages that all schemas share: the same
// patterns and formats come again and again, and what has been learnt about
// them is good for every schema. It is replaced when it has grown large.
type languages struct {
	mu         sync.Mutex
	store      *regular.Store
	any, empty regular.Expr
	machines   map[regular.Expr]*regular.Machine
	patterns   map[string]patternResult
	formats    map[string]formatResult
	nothing    *regular.Machine // of the empty language
}

type patternResult struct {
	expr regular.Expr
	err  error
}

type formatResult struct {
	expr regular.Expr
	ok   bool
}

// The shared store is begun anew when it holds so many languages, expressions
// or bytes of states. Schemas that use the old one keep it.
const (
	sharedMachines = 4000
	sharedNodes    = 200_000
	sharedBytes    = 16 << 20
)

// maxNodes bounds the expressions in one store.
const maxNodes = 4 << 20

var (
	sharedMu sync.Mutex
	shared   *languages
)

func sharedLanguages() *languages {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if shared == nil || shared.full() {
		shared = newLanguages()
	}
	return shared
}

func newLanguages() *languages { return languagesWithin(regular.Limits{Nodes: maxNodes}) }

func languagesWithin(limits regular.Limits) *languages {
	l := &languages{
		store:    regular.NewStore(limits),
		machines: map[regular.Expr]*regular.Machine{},
		patterns: map[string]patternResult{},
		formats:  map[string]formatResult{},
	}
	l.any, l.empty = l.store.Any(), l.store.Empty()
	// The empty language needs nothing that a limit could refuse.
	l.nothing, _ = l.store.Compile(l.empty)
	return l
}

func (l *languages) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.machines)+len(l.patterns) > sharedMachines || l.store.Nodes() > sharedNodes || l.nothing.Bytes() > sharedBytes || l.failed()
}

// failed reports whether a limit of the store was exceeded, by whomever. What
// its machines say can't be relied on then.
func (l *languages) failed() bool { return l.nothing.Err() != nil }

// freshLanguages replaces the shared store, for a schema that found it used
// up.
func freshLanguages() *languages {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	shared = newLanguages()
	return shared
}

func (l *languages) pattern(text string) (regular.Expr, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.patterns[text]; ok {
		return r.expr, r.err
	}
	e, err := l.store.Pattern(text)
	l.patterns[text] = patternResult{e, err}
	return e, err
}

// format returns the language of a format; ok is false when there is none.
func (l *languages) format(name string) (regular.Expr, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.formats[name]; ok {
		return r.expr, r.ok
	}
	e, ok := l.store.Format(name)
	l.formats[name] = formatResult{e, ok}
	return e, ok
}

func (l *languages) and(list ...regular.Expr) regular.Expr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.And(list...)
}

func (l *languages) or(list ...regular.Expr) regular.Expr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.Or(list...)
}

func (l *languages) not(e regular.Expr) regular.Expr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.Not(e)
}

func (l *languages) strings(list []string) regular.Expr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(list) == 1 {
		return l.store.Literal(list[0])
	}
	return l.store.Strings(list)
}

func (l *languages) length(least, most int) regular.Expr {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.store.Length(least, most)
}

// machine returns the automaton of a language. A limit that is exceeded
// while compiling is an error, and the automaton has no strings.
func (l *languages) machine(e regular.Expr) (*regular.Machine, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m, ok := l.machines[e]; ok {
		return m, nil
	}
	m, err := l.store.Compile(e)
	if err != nil {
		return l.nothing, err
	}
	l.machines[e] = m
	return m, nil
}
