package regular

import (
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/stencil-json/stencil/regular/runes"
)

// Range is a range of code points, both ends included.
type Range = runes.Range

// Expr is a handle of an expression in a Store. Equal handles of one Store are the same
// expression, and expressions that simplify to the same structure have the same handle.
// Handles of different Stores are unrelated.
type Expr int32

type op uint8

const (
	opEmpty   op = iota // no string
	opEpsilon           // the empty string
	opClass             // one character; a, b: span in Store.ranges
	opConcat            // a, then b; a is not an opConcat
	opRepeat            // a, least to most times
	opOr                // a, b: span in Store.args, sorted, at least two
	opAnd               // a, b: span in Store.args, sorted, at least two
	opNot               // all strings except those of a
	opSwitch            // a node of a finite automaton: its edges are its definition
	opState             // a state of an automaton; a: index in Store.automata, b: the state
	opRec               // a defined by an equation: a is the right side
)

type flags uint8

const (
	nullable  flags = 1 << iota // contains the empty string
	plain                       // free of opAnd, opNot, opRec: empty only if it is opEmpty
	recursive                   // has an opRec of a repetition that looks around
)

type liveness uint8

const (
	unknown liveness = iota
	live
	dead
)

// node is an expression. The span of its successors is filled by derive.
type node struct {
	op          op
	flags       flags
	live        liveness
	derived     bool
	a, b        int32
	least, most int32 // opRepeat; most may be infinite
	hash        uint32
	shortest    int32 // length of the shortest string plus one, once a search has found it
	lengths     lengths
	state       State // state of the expression in Store.states plus one, once it has one
	edges       span  // when derived; opSwitch: always
}

// span is a list of edges: a part of a block of Store.edges.
type span struct{ block, from, to int32 }

// edge leads from an expression to a successor, under each character of a
// range that may run across the surrogates.
type edge struct {
	lo, hi rune
	to     Expr
}

const nodeBits = 6

type nodeBlock [1 << nodeBits]node

// The expressions that every Store has.
const (
	exprEmpty   Expr = 0
	exprEpsilon Expr = 1
	exprAll     Expr = 2 // any one character
	exprAny     Expr = 3 // all strings
)

// Store holds expressions. It may be shared: its methods lock it, and so does a Machine
// of it to add a state.
//
// It consists of layers, each of which uses only those below it: the expressions
// ([exprs]), the [shapes] built from them without regard to languages, the [algebra] of
// unions, intersections, complements and derivatives, and [searches] through
// derivatives.
type Store struct {
	mu sync.Mutex
	searches

	user     *User // of the Store's own operations
	patterns map[string]Expr
	formats  map[string]Expr
	machines map[Expr]*Machine
	states   *states
}

// exprs holds expressions, each once (hash-consed), with the properties that follow
// from their structure.
type exprs struct {
	limits Limits
	work   int   // of the current operation, see spend
	told   int   // how much of work has been reported to the user
	asker  *User // of the current operation
	before mark  // the state before it
	failed bool  // it has failed, or User.Step is running, which may end it
	err    error

	blocks   []*nodeBlock // never moved, so that pointers to nodes stay valid
	size     int
	slots    []int32 // open addressing: number of a node plus one
	ranges   []runes.Range
	args     []Expr
	ascii    [128]Expr // the classes of one ASCII character, once created
	edges    [][]edge
	automata []automaton // shared with other Stores

	letters     map[Expr]letters // where it depends on operands
	autoLetters []letters        // by index in automata, once known

	openRecs int // equations without a right side yet
	scratch  scratch
}

// shapes builds concatenations and repetitions in a normal form.
type shapes struct{ exprs }

// algebra builds unions, intersections and complements in a normal form, and
// derivatives, which depend on them and which they depend on.
type algebra struct{ shapes }

// searches answers questions that need derivatives: whether a language is empty, what
// its shortest strings are, and which characters can always follow.
type searches struct {
	algebra
	heads map[Expr]head
}

// scratch holds buffers used as stacks: a function uses the part beyond the length that
// it finds, and restores that length.
type scratch struct {
	exprs         []Expr
	classes, nots []Expr
	edges         []edge
	ranges        []runes.Range
	lists         [][]edge
}

// NewStore returns an empty Store. It costs a microsecond or two.
func NewStore(limits Limits) *Store {
	s := new(Store)
	s.limits = limits.orDefaults()
	s.slots = make([]int32, 128)
	s.ranges = append(make([]runes.Range, 0, 64), runes.All...)
	s.args = make([]Expr, 0, 32)
	one := lengths{1, 1, 1, 1}
	for _, n := range [...]node{
		exprEmpty:   {op: opEmpty, flags: plain, live: dead, derived: true, lengths: lengths{lo: maxCount}.noInner()},
		exprEpsilon: {op: opEpsilon, flags: plain | nullable, live: live, derived: true},
		exprAll:     {op: opClass, flags: plain, live: live, a: 0, b: 1, lengths: one},
		exprAny: {op: opRepeat, flags: plain | nullable, live: live, a: int32(exprAll), most: infinite,
			lengths: repeatLengths(one, 0, infinite)},
	} {
		s.add(n)
	}
	s.enter(exprAll, hashRanges(runes.All))
	s.enter(exprAny, hashNode(s.node(exprAny)))
	return s
}

// Err returns the *LimitError of the first limit that was exceeded while building
// expressions. Expressions built since then are unreliable.
func (s *Store) Err() error {
	s.lock()
	defer s.done()
	return s.err
}

// Nodes returns the number of expressions built so far.
func (s *Store) Nodes() int {
	s.lock()
	defer s.done()
	return s.size
}

func (s *exprs) fail(limit string, most int) {
	if s.err == nil {
		s.err = &LimitError{limit, most}
	}
}

func (s *exprs) node(e Expr) *node { return &s.blocks[e>>nodeBits][e&(1<<nodeBits-1)] }

func (s *exprs) op(e Expr) op            { return s.node(e).op }
func (s *exprs) is(e Expr, f flags) bool { return s.node(e).flags&f != 0 }

func (s *exprs) operands(e Expr) []Expr {
	n := s.node(e)
	return s.args[n.a : n.a+n.b : n.a+n.b]
}

func (s *exprs) set(e Expr) []runes.Range {
	n := s.node(e)
	return s.ranges[n.a : n.a+n.b : n.a+n.b]
}

func (s *exprs) successorsOf(n *node) []edge {
	if n.edges.to == 0 {
		return nil
	}
	return s.edges[n.edges.block][n.edges.from:n.edges.to:n.edges.to]
}

const (
	hashSeed  = 0x9E3779B1
	hashPrime = 0x85EBCA6B
)

func mix(h, v uint32) uint32 {
	h = (h ^ v) * hashPrime
	return h ^ h>>15
}

func hashNode(n *node) uint32 {
	h := mix(hashSeed, uint32(n.op))
	h = mix(h, uint32(n.a))
	h = mix(h, uint32(n.b))
	h = mix(h, uint32(n.least))
	return mix(h, uint32(n.most))
}

func hashRanges(rs []runes.Range) uint32 {
	h := mix(hashSeed, uint32(opClass))
	for _, r := range rs {
		h = mix(h, uint32(r.Lo)<<11^uint32(r.Hi))
	}
	return h
}

func hashExprs(o op, list []Expr) uint32 {
	h := mix(hashSeed, uint32(o))
	for _, e := range list {
		h = mix(h, uint32(e))
	}
	return h
}

// enter puts a node into the table.
func (s *exprs) enter(e Expr, hash uint32) {
	s.node(e).hash = hash
	if s.size*2 > len(s.slots) {
		s.slots = make([]int32, 4*len(s.slots))
		for i := range Expr(s.size) {
			if n := s.node(i); n.op > opEpsilon && n.op != opRec {
				s.place(int32(i), n.hash)
			}
		}
		return
	}
	s.place(int32(e), hash)
}

func (s *exprs) place(i int32, hash uint32) {
	mask := uint32(len(s.slots) - 1)
	at := hash & mask
	for s.slots[at] != 0 {
		at = (at + 1) & mask
	}
	s.slots[at] = i + 1
}

// add appends a node, unless the Store is full.
func (s *exprs) add(n node) Expr {
	if s.size >= s.limits.Nodes {
		s.fail("Nodes", s.limits.Nodes)
		return exprEmpty
	}
	if u := s.asker; u != nil {
		if u.added++; u.Nodes > 0 && u.added > u.Nodes {
			s.fail("Nodes", u.Nodes)
			return exprEmpty
		}
	}
	if s.size>>nodeBits == len(s.blocks) {
		s.blocks = append(s.blocks, new(nodeBlock))
	}
	e := Expr(s.size)
	s.size++
	*s.node(e) = n
	return e
}

// intern returns the expression with the operator and operands of n. Its flags and
// lengths are computed only if it is new.
func (s *exprs) intern(n node) Expr {
	hash := hashNode(&n)
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; s.slots[at] != 0; at = (at + 1) & mask {
		m := s.node(Expr(s.slots[at] - 1))
		if m.hash == hash && m.op == n.op && m.a == n.a && m.b == n.b && m.least == n.least && m.most == n.most {
			return Expr(s.slots[at] - 1)
		}
	}
	a := s.node(Expr(n.a))
	switch n.op {
	case opConcat:
		b := s.node(Expr(n.b))
		n.flags = a.flags&b.flags&(nullable|plain) | (a.flags|b.flags)&recursive
		n.lengths = concatLengths(a.lengths, b.lengths)
	case opRepeat:
		n.flags = a.flags
		if n.least == 0 {
			n.flags |= nullable
		}
		n.lengths = repeatLengths(a.lengths, n.least, n.most)
	case opState:
		final, l := s.automata[n.a].about(n.b)
		n.flags, n.live, n.lengths = plain, live, l
		if final {
			n.flags |= nullable
		}
	case opNot:
		n.flags = a.flags&recursive | ^a.flags&nullable
		n.lengths = lengths{lo: 0, hi: infinite}.noInner()
		if n.flags&nullable == 0 {
			n.lengths.lo = 1
		}
	}
	e := s.add(n)
	if e != exprEmpty {
		s.enter(e, hash)
	}
	return e
}

// internList is intern for opOr and opAnd.
func (s *exprs) internList(o op, list []Expr) Expr {
	hash := hashExprs(o, list)
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; s.slots[at] != 0; at = (at + 1) & mask {
		e := Expr(s.slots[at] - 1)
		if m := s.node(e); m.hash == hash && m.op == o && slices.Equal(s.operands(e), list) {
			return e
		}
	}
	first := s.node(list[0])
	n := node{op: o, flags: first.flags, lengths: first.lengths, a: int32(len(s.args)), b: int32(len(list))}
	for _, x := range list[1:] {
		m := s.node(x)
		if o == opOr {
			n.flags = (n.flags|m.flags)&(nullable|recursive) | n.flags&m.flags&plain
			n.lengths = orLengths(n.lengths, m.lengths)
		} else {
			n.flags = (n.flags|m.flags)&recursive | n.flags&m.flags&nullable
			n.lengths.lo = max(n.lengths.lo, m.lengths.lo)
			n.lengths.hi = min(n.lengths.hi, m.lengths.hi)
		}
	}
	if o == opAnd {
		n.lengths = s.andInner(n.lengths, list)
	}
	e := s.add(n)
	if e != exprEmpty {
		s.args = append(s.args, list...)
		s.enter(e, hash)
	}
	return e
}

// andInner adds to the lengths of an intersection those that surely occur: the ones of
// a single operand within a bound on the length.
func (s *exprs) andInner(l lengths, list []Expr) lengths {
	l = l.noInner()
	if len(list) != 2 {
		return l
	}
	for i, x := range list {
		if other := s.node(list[1-i]).lengths; s.isLength(x) && other.exact() {
			n := s.node(x)
			l.inLo, l.inHi = max(other.inLo, n.least), min(other.inHi, n.most)
		}
	}
	return l
}

// isLength reports whether e is a bound on the length and nothing else.
func (s *exprs) isLength(e Expr) bool {
	n := s.node(e)
	return n.op == opRepeat && Expr(n.a) == exprAll
}

// class returns the expression of one character of a normalised set.
func (s *exprs) class(rs []runes.Range) Expr {
	if len(rs) == 0 {
		return exprEmpty
	}
	single := len(rs) == 1 && rs[0].Lo == rs[0].Hi && rs[0].Lo < 128
	if single && s.ascii[rs[0].Lo] != 0 {
		return s.ascii[rs[0].Lo]
	}
	hash := hashRanges(rs)
	mask := uint32(len(s.slots) - 1)
	for at := hash & mask; s.slots[at] != 0; at = (at + 1) & mask {
		e := Expr(s.slots[at] - 1)
		if m := s.node(e); m.hash == hash && m.op == opClass && slices.Equal(s.set(e), rs) {
			return e
		}
	}
	e := s.add(node{op: opClass, flags: plain, live: live, a: int32(len(s.ranges)), b: int32(len(rs)), lengths: lengths{1, 1, 1, 1}})
	if e == exprEmpty {
		return e
	}
	s.ranges = append(s.ranges, rs...)
	s.enter(e, hash)
	if single {
		s.ascii[rs[0].Lo] = e
	}
	return e
}

func (s *exprs) char(r rune) Expr {
	if r >= 0 && r < 128 && s.ascii[r] != 0 {
		return s.ascii[r]
	}
	one := [1]runes.Range{{Lo: r, Hi: r}}
	return s.class(one[:])
}

// literal returns text followed by tail. Bytes that are not UTF-8 become U+FFFD, as in
// a range over the string.
func (s *shapes) literal(text string, tail Expr) Expr {
	for len(text) > 0 {
		r, n := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-n]
		tail = s.concat(s.char(r), tail)
	}
	return tail
}

// concat returns a followed by b.
func (s *shapes) concat(a, b Expr) Expr {
	if a == exprEmpty || b == exprEmpty {
		return exprEmpty
	}
	if a == exprEpsilon {
		return b
	}
	if b == exprEpsilon {
		return a
	}
	na := s.node(a)
	if na.op == opConcat {
		head, rest := Expr(na.a), Expr(na.b)
		return s.concat(head, s.concat(rest, b))
	}
	if a == exprAny || b == exprAny {
		if a, b = s.swallow(a, b); a == exprEpsilon || b == exprEpsilon {
			return exprAny
		}
		na = s.node(a)
	}
	// Counts of the same expression that are adjacent add up.
	head, tail := b, exprEpsilon
	nb := s.node(b)
	if nb.op == opConcat {
		head, tail = Expr(nb.a), Expr(nb.b)
		nb = s.node(head)
	}
	if na.op == opRepeat || nb.op == opRepeat {
		ra, la, ma := s.counted(a)
		rb, lb, mb := s.counted(head)
		if least := satAdd(la, lb); ra == rb && least < infinite {
			return s.concat(s.repeat(ra, least, satAdd(ma, mb)), tail)
		}
	}
	return s.intern(node{op: opConcat, a: int32(a), b: int32(b)})
}

// swallow shortens expressions next to Any: of a repetition only the least count
// matters there, and a nullable expression does not matter at all.
func (s *shapes) swallow(a, b Expr) (Expr, Expr) {
	if a == exprAny {
		if s.is(b, nullable) {
			return a, exprEpsilon
		}
		t := s.term(b)
		if t.of != exprAll && t.most > t.least {
			t.most = t.least
			b = s.untermed(t)
		}
		return a, b
	}
	if s.is(a, nullable) {
		return exprEpsilon, b
	}
	if of, least, most := s.counted(a); of != exprAll && most > least {
		a = s.repeat(of, least, least)
	}
	return a, b
}

// counted returns e in the form of a repetition.
func (s *exprs) counted(e Expr) (of Expr, least, most int32) {
	if n := s.node(e); n.op == opRepeat {
		return Expr(n.a), n.least, n.most
	}
	return e, 1, 1
}

// repeat returns e, least to most times.
func (s *shapes) repeat(e Expr, least, most int32) Expr {
	if most < least {
		return exprEmpty
	}
	if most == 0 || e == exprEpsilon {
		return exprEpsilon
	}
	if e == exprEmpty {
		if least == 0 {
			return exprEpsilon
		}
		return exprEmpty
	}
	if least == 1 && most == 1 {
		return e
	}
	if s.is(e, nullable) {
		if most == 1 {
			return e
		}
		least = 0
	}
	if n := s.node(e); n.op == opRepeat {
		// The counts k*a..k*b of the two loops, for k from least to most, form one
		// interval if adjacent ones touch.
		a, b := int64(n.least), int64(n.most)
		k := int64(max(least, 1))
		lo, hi := satMul(n.least, least), satMul(n.most, most)
		if lo < infinite && (a <= 1 || k*(b-a) >= a-1 || least == most) {
			if least == 0 && a > 1 {
				// 0 does not touch k*a.
				inner := s.repeat(Expr(n.a), n.least, hi)
				return s.intern(node{op: opRepeat, a: int32(inner), least: 0, most: 1})
			}
			return s.repeat(Expr(n.a), lo, hi)
		}
	}
	return s.intern(node{op: opRepeat, a: int32(e), least: least, most: most})
}

// newRec returns an expression that setRec defines later. The caller states in advance
// whether it contains the empty string.
func (s *exprs) newRec(hasEmpty bool) Expr {
	n := node{op: opRec, flags: recursive, lengths: lengths{lo: 1, hi: infinite}.noInner()}
	if hasEmpty {
		n.flags |= nullable
		n.lengths.lo = 0
	}
	s.openRecs++
	return s.add(n)
}

// setRec defines an expression that newRec returned. Wherever rec occurs in e, at least
// one character must have been read before it.
func (s *exprs) setRec(rec, e Expr) {
	s.openRecs--
	if rec != exprEmpty {
		s.node(rec).a = int32(e)
	}
}

// isOpen reports whether the successors of e may still be unknown.
func (s *exprs) isOpen(e Expr) bool { return s.openRecs > 0 && s.is(e, recursive) }

// maybe returns e or the empty string.
func (s *shapes) maybe(e Expr) Expr { return s.repeat(e, 0, 1) }

// length returns the strings of least to most characters.
func (s *shapes) length(least, most int32) Expr { return s.repeat(exprAll, least, most) }

// Empty returns the expression without strings.
func (s *Store) Empty() Expr { return exprEmpty }

// Epsilon returns the expression of the empty string.
func (s *Store) Epsilon() Expr { return exprEpsilon }

// Any returns the expression of all strings, including those with line ends.
func (s *Store) Any() Expr { return exprAny }

// Literal returns the expression of one string.
func (s *Store) Literal(text string) Expr {
	s.lock()
	defer s.done()
	return s.literal(text, exprEpsilon)
}

// Class returns the expression of the one-character strings in ranges, which may
// overlap and need not be sorted. Surrogates are excluded.
func (s *Store) Class(ranges []runes.Range) Expr {
	s.lock()
	defer s.done()
	return s.class(runes.Normalise(slices.Clone(ranges)))
}

// Concat returns the concatenations of one string of each expression, in order.
func (s *Store) Concat(list ...Expr) Expr {
	s.lock()
	defer s.done()
	e := exprEpsilon
	for _, x := range slices.Backward(list) {
		e = s.concat(x, e)
	}
	return e
}

// Repeat returns the concatenations of least to most strings of e. A negative most
// means no bound.
func (s *Store) Repeat(e Expr, least, most int) Expr {
	s.lock()
	defer s.done()
	lo, hi := counts(least, most)
	return s.repeat(e, lo, hi)
}

// Length returns the strings of least to most characters (code points). A
// negative most means no bound.
func (s *Store) Length(least, most int) Expr { return s.Repeat(exprAll, least, most) }

func counts(least, most int) (int32, int32) {
	lo := int32(min(max(least, 0), maxCount))
	if most < 0 || most > maxCount {
		return lo, infinite
	}
	return lo, int32(most)
}
