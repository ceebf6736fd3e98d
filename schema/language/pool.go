package language

import (
	"sync"

	"github.com/stencil-json/stencil/regular"
)

// A Pool is a store of regular languages that all schemas share: the same
// patterns and formats occur again and again, and states built for one schema
// serve the others. The shared pool is replaced once it has grown large. A Pool
// is safe for concurrent use.
type Pool struct {
	*pool
	report func(n int) // of the work of operations; nil: nobody is told
}

// pool is what all users of a Pool have in common.
type pool struct {
	mu         sync.Mutex
	store      *regular.Store
	Any, Empty regular.Expr // all strings and none
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

// The shared store is replaced once it holds this many languages, expressions or
// bytes of states. Schemas that use the old one keep it.
const (
	sharedMachines = 4000
	sharedNodes    = 200_000
	sharedBytes    = 16 << 20
)

// maxNodes bounds the expressions in one store.
const maxNodes = 4 << 20

var (
	sharedMu sync.Mutex
	shared   *Pool
)

// Shared returns the pool that schemas currently share.
func Shared() *Pool {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	if shared == nil || shared.full() {
		shared = New()
	}
	return shared
}

// New returns an empty pool of the usual size.
func New() *Pool { return NewWithin(regular.Limits{Nodes: maxNodes}) }

// NewWithin returns an empty pool with other limits.
func NewWithin(limits regular.Limits) *Pool {
	l := &Pool{pool: &pool{
		store:    regular.NewStore(limits),
		machines: map[regular.Expr]*regular.Machine{},
		patterns: map[string]patternResult{},
		formats:  map[string]formatResult{},
	}}
	l.Any, l.Empty = l.store.Any(), l.store.Empty()
	// The empty language needs nothing that a limit could refuse.
	l.nothing, _ = l.store.Compile(l.Empty)
	return l
}

func (l *Pool) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.machines)+len(l.patterns) > sharedMachines || l.store.Nodes() > sharedNodes || l.nothing.Bytes() > sharedBytes || l.Failed()
}

// Failed reports whether any schema has exceeded a limit of the store. Its
// machines are unreliable then.
func (l *Pool) Failed() bool { return l.nothing.Err() != nil }

// Renew replaces the shared store, for a schema that found it exhausted.
func Renew() *Pool {
	sharedMu.Lock()
	defer sharedMu.Unlock()
	shared = New()
	return shared
}

// Reporting returns the pool for somebody who is told of the work of operations, of the machines' too, as
// [regular.Store.Report] says: step may panic, and spoils nothing for others.
func (l *Pool) Reporting(step func(n int)) *Pool { return &Pool{l.pool, step} }

// lock begins an operation.
func (l *Pool) lock() {
	l.mu.Lock()
	l.store.Report(l.report)
}

// Pattern returns the strings that a regular expression of ECMA-262 matches. The
// error is one of package regular.
func (l *Pool) Pattern(text string) (regular.Expr, error) {
	l.lock()
	defer l.mu.Unlock()
	if r, ok := l.patterns[text]; ok {
		return r.expr, r.err
	}
	e, err := l.store.Pattern(text)
	l.patterns[text] = patternResult{e, err}
	return e, err
}

// Format returns the language of a format; ok is false if the format is unknown.
func (l *Pool) Format(name string) (regular.Expr, bool) {
	l.lock()
	defer l.mu.Unlock()
	if r, ok := l.formats[name]; ok {
		return r.expr, r.ok
	}
	e, ok := l.store.Format(name)
	l.formats[name] = formatResult{e, ok}
	return e, ok
}

// And returns the intersection of languages.
func (l *Pool) And(list ...regular.Expr) regular.Expr {
	l.lock()
	defer l.mu.Unlock()
	return l.store.And(list...)
}

// Or returns the union of languages.
func (l *Pool) Or(list ...regular.Expr) regular.Expr {
	l.lock()
	defer l.mu.Unlock()
	return l.store.Or(list...)
}

// Not returns the complement of a language.
func (l *Pool) Not(e regular.Expr) regular.Expr {
	l.lock()
	defer l.mu.Unlock()
	return l.store.Not(e)
}

// Strings returns the language of the listed strings.
func (l *Pool) Strings(list []string) regular.Expr {
	l.lock()
	defer l.mu.Unlock()
	if len(list) == 1 {
		return l.store.Literal(list[0])
	}
	return l.store.Strings(list)
}

// Least returns the number of characters in the shortest strings of a language.
func (l *Pool) Least(e regular.Expr) int {
	l.lock()
	defer l.mu.Unlock()
	return l.store.Least(e)
}

// Length returns the strings of least to most characters; most < 0 means any
// number.
func (l *Pool) Length(least, most int) regular.Expr {
	l.lock()
	defer l.mu.Unlock()
	return l.store.Length(least, most)
}

// Machine returns the automaton of a language. If a limit is exceeded while
// compiling, it returns an error and an automaton that accepts no strings.
func (l *Pool) Machine(e regular.Expr) (*regular.Machine, error) {
	l.lock()
	defer l.mu.Unlock()
	m, ok := l.machines[e]
	if !ok {
		var err error
		if m, err = l.store.Compile(e); err != nil {
			return l.nothing, err
		}
		l.machines[e] = m
	}
	if l.report != nil {
		m = m.Reporting(l.report)
	}
	return m, nil
}
