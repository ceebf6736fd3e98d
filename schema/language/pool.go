package language

import (
	"errors"
	"sync"

	"github.com/stencil-json/stencil/regular"
)

// A Pool is a store of regular languages that all schemas share: the same
// patterns and formats occur again and again, and states built for one schema
// serve the others. The shared pool is replaced once it has grown large. A Pool
// is safe for concurrent use.
type Pool struct {
	*pool
	user     *regular.User
	exceeded func(err *regular.LimitError) // of user
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
	common     bool             // several schemas use it
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

// What one schema may do in the shared store: beyond that it gets one of its own.
const (
	schemaNodes = sharedNodes / 4
	sharedWork  = 1 << 22 // of one operation
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
		shared = NewCommon(regular.Limits{Nodes: maxNodes, Work: sharedWork})
	}
	return shared
}

// New returns an empty pool for one schema.
func New() *Pool { return newPool(regular.Limits{Nodes: maxNodes}, false) }

// NewCommon returns an empty pool for several schemas.
func NewCommon(limits regular.Limits) *Pool { return newPool(limits, true) }

func newPool(limits regular.Limits, common bool) *Pool {
	l := &Pool{pool: &pool{
		common:   common,
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
	return len(l.machines)+len(l.patterns) > sharedMachines || l.store.Nodes() > sharedNodes || l.nothing.Bytes() > sharedBytes
}

// Common reports whether several schemas use the pool: a schema that exceeds a limit there may have more room in a pool
// of its own.
func (l *Pool) Common() bool { return l.common }

// Reporting returns the pool for a user to which its operations and machines report their work and the limits that they
// exceed: see [regular.User]. Other users of the pool are not affected.
func (l *Pool) Reporting(step func(n int), exceeded func(err *regular.LimitError)) *Pool {
	u := regular.NewUser(step, exceeded)
	if l.common {
		u.Nodes = schemaNodes
	}
	return &Pool{l.pool, u, exceeded}
}

// lock begins an operation.
func (l *Pool) lock() {
	l.mu.Lock()
	l.store.Report(l.user)
}

// Pattern returns the strings that a regular expression of ECMA-262 matches. The
// error is one of package regular. In a pool of several schemas, an exceeded limit is
// also reported to the user.
func (l *Pool) Pattern(text string) (e regular.Expr, err error) {
	var limit *regular.LimitError
	defer func() {
		if l.common && l.user != nil && errors.As(err, &limit) {
			l.exceeded(limit)
		}
	}()
	l.lock()
	defer l.mu.Unlock()
	if r, ok := l.patterns[text]; ok {
		return r.expr, r.err
	}
	e, err = l.store.Pattern(text)
	if !l.common || !errors.As(err, &limit) {
		l.patterns[text] = patternResult{e, err}
	}
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
	if l.user != nil {
		m = m.Reporting(l.user)
	}
	return m, nil
}
