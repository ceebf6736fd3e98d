package regular

import (
	"slices"

	"github.com/stencil-json/stencil/regular/runes"
)

// This file translates patterns that look around: anchors that are not at the
// ends of the pattern, word boundaries, look-ahead and look-behind.
//
// Looking ahead is simple in a language of whole strings: an assertion (?=r)
// followed by the rest k of the pattern is the intersection of r·Any and k. So
// every subtree is translated together with what follows it, its continuation,
// up to the end of the string.
//
// For looking behind, the preceding text must be known when a subtree is
// entered. One small automaton over the text read so far follows all the
// assertions of a pattern that look behind; its states are called contexts
// here. A subtree is translated for one context at its start, and its
// continuation has an expression for each context at its end.
//
// A repetition whose body looks around can't be one opRepeat, because its body
// sees the rest of the repetition. It becomes an equation: X is the
// continuation, or the body continued by X.

// maxContexts bounds the automaton of the preceding text. Word boundaries and ^
// together make three contexts.
const maxContexts = 32

// unrollLimit bounds the copies of a counted body that looks around.
const unrollLimit = 1000

// cont is a continuation: an expression for each context, and one for the case
// that the subtree read nothing, in which the context has not changed.
type cont struct {
	zero  Expr
	after []Expr
}

// uniform returns the expression that follows in every case, if it is the same.
func (k *cont) uniform() (Expr, bool) {
	e, ok := k.alike()
	return e, ok && e == k.zero
}

// alike returns the expression that follows if anything was read, if it is the
// same in every context.
func (k *cont) alike() (Expr, bool) {
	if len(k.after) < 2 {
		return k.zero, true
	}
	// The context of the start is never entered again.
	for _, e := range k.after[2:] {
		if e != k.after[1] {
			return exprEmpty, false
		}
	}
	return k.after[1], true
}

// move leads from one context to another over a range of characters.
type move struct {
	lo, hi rune
	to     int
}

// around translates one pattern.
type around struct {
	s     *Store
	tests []Expr // each a language of texts that may precede
	truth [][]bool
	moves [][]move
	local bool // the context depends on the last character only

	conts  map[string]*cont
	memo   map[memoKey]Expr
	loops  map[memoKey][]Expr
	unroll map[*tree]*tree
	steps  int
	err    error
}

type memoKey struct {
	t     *tree
	index int
	c     int
	k     *cont
}

// foundAround returns the strings in which t matches somewhere and end follows
// the match.
func (s *Store) foundAround(t *tree, end Expr) (Expr, error) {
	a := &around{s: s, conts: map[string]*cont{}, memo: map[memoKey]Expr{}, loops: map[memoKey][]Expr{}, unroll: map[*tree]*tree{}}
	a.collect(t)
	a.contexts(t.offset)
	if a.err != nil {
		return exprEmpty, a.err
	}
	last := a.same(end)
	at := make([]Expr, len(a.moves))
	for c := range at {
		at[c] = a.tree(t, c, last)
	}
	if a.err != nil {
		return exprEmpty, a.err
	}
	later := cont{at[0], at}
	if e, ok := later.uniform(); ok {
		return s.concat(exprAny, e), nil
	}
	if e, ok := later.alike(); ok {
		return s.or2(at[0], s.concat(s.length(1, infinite), e)), nil
	}
	// The match may start in any context: read on until it does.
	search := make([]Expr, len(at))
	for c := 1; c < len(at); c++ {
		search[c] = s.newRec(s.is(at[c], nullable))
	}
	body := make([]Expr, len(at))
	for c := range at {
		body[c] = s.or2(at[c], a.class(runes.All, c, search))
	}
	for c := 1; c < len(at); c++ {
		s.setRec(search[c], body[c])
	}
	return body[0], nil
}

// collect finds the assertions that look behind, and stores in each the number
// of its test.
func (a *around) collect(t *tree) {
	if !t.asserts {
		return
	}
	test := exprEmpty
	switch t.kind {
	case kindStart:
		test = exprEpsilon
	case kindWord:
		test = a.s.concat(exprAny, a.s.class(wordChars))
	case kindBehind:
		if looksAhead(t.subs[0]) {
			a.refuse(t, "looking ahead within a look-behind")
			return
		}
		e, err := a.s.foundAround(t.subs[0], exprEpsilon)
		if err != nil {
			a.err = err
			return
		}
		test = e
	default:
		for _, sub := range t.subs {
			a.collect(sub)
		}
		return
	}
	i := slices.Index(a.tests, test)
	if i < 0 {
		i = len(a.tests)
		a.tests = append(a.tests, test)
	}
	t.least = int32(i)
}

func looksAhead(t *tree) bool {
	switch t.kind {
	case kindEnd, kindAhead, kindWord:
		return true
	}
	return slices.ContainsFunc(t.subs, looksAhead)
}

func (a *around) refuse(t *tree, reason string) {
	if a.err == nil {
		a.err = &UnsupportedError{t.offset, reason}
	}
}

// contexts builds the automaton of the preceding text: the tests, run in
// parallel over the text. Context 0 is the start of the text.
func (a *around) contexts(offset int) {
	type tuple = []Expr
	start := append(tuple{}, a.tests...)
	// Whether anything was read is part of the context, so that context 0 is
	// distinct.
	known := []tuple{start}
	find := func(t tuple) int {
		for i := 1; i < len(known); i++ {
			if slices.Equal(known[i], t) {
				return i
			}
		}
		known = append(known, t)
		return len(known) - 1
	}
	for c := 0; c < len(known); c++ {
		if len(known) > maxContexts {
			a.err = &UnsupportedError{offset, "look-behind that tells too many cases apart"}
			return
		}
		truth := make([]bool, len(a.tests))
		cuts := []rune{0, runes.Max + 1}
		for i, e := range known[c] {
			truth[i] = a.s.is(e, nullable)
			for _, d := range a.s.derive(e) {
				cuts = append(cuts, d.lo, d.hi+1)
			}
		}
		a.truth = append(a.truth, truth)
		slices.Sort(cuts)
		cuts = slices.Compact(cuts)
		var moves []move
		for i, lo := range cuts[:len(cuts)-1] {
			next := make(tuple, len(known[c]))
			for j, e := range known[c] {
				next[j] = target(a.s.derive(e), lo)
			}
			hi := cuts[i+1] - 1
			if lo, hi := runes.Clip(lo, hi); lo <= hi {
				moves = append(moves, move{lo, hi, find(next)})
			}
		}
		a.moves = append(a.moves, moves)
	}
	a.local = true
	for _, moves := range a.moves {
		a.local = a.local && slices.Equal(moves, a.moves[0])
	}
}

func target(list []edge, r rune) Expr {
	for _, d := range list {
		if d.lo <= r && r <= d.hi {
			return d.to
		}
	}
	return exprEmpty
}

// same returns the continuation by one expression in every context.
func (a *around) same(e Expr) *cont {
	after := make([]Expr, len(a.moves))
	for i := range after {
		after[i] = e
	}
	return a.cont(e, after)
}

// cont returns the continuation with the given expressions; equal ones are the
// same.
func (a *around) cont(zero Expr, after []Expr) *cont {
	key := make([]byte, 0, 4*len(after)+4)
	for _, e := range append(after[:len(after):len(after)], zero) {
		key = append(key, byte(e), byte(e>>8), byte(e>>16), byte(e>>24))
	}
	if k := a.conts[string(key)]; k != nil {
		return k
	}
	k := &cont{zero, after}
	a.conts[string(key)] = k
	return k
}

// tree translates t, entered in context c and followed by k.
func (a *around) tree(t *tree, c int, k *cont) Expr {
	key := memoKey{t, -1, c, k}
	if e, ok := a.memo[key]; ok {
		return e
	}
	if a.steps++; a.steps > a.s.limits.Steps {
		a.refuse(t, "look-around in repetitions this large")
	}
	if a.err != nil || a.s.err != nil {
		return exprEmpty
	}
	e := a.make(t, c, k)
	a.memo[key] = e
	return e
}

func (a *around) make(t *tree, c int, k *cont) Expr {
	s := a.s
	if next, ok := k.uniform(); ok && !t.asserts {
		return s.concat(s.matched(t), next)
	}
	holds := func(left bool) Expr {
		if left != t.negated {
			return k.zero
		}
		return exprEmpty
	}
	switch t.kind {
	case kindText:
		for _, r := range t.text {
			c = a.step(c, r)
		}
		return s.literal(t.text, k.after[c])
	case kindClass:
		return a.class(t.set, c, k.after)
	case kindSeq:
		return a.list(t, t.subs, 0, c, k)
	case kindAlt:
		list := make([]Expr, len(t.subs))
		for i, sub := range t.subs {
			list[i] = a.tree(sub, c, k)
		}
		return s.or(list)
	case kindRepeat:
		return a.repeat(t, c, k)
	case kindStart, kindBehind:
		return holds(a.truth[c][t.least])
	case kindEnd:
		return s.and2(exprEpsilon, k.zero)
	case kindWord:
		word := s.concat(s.class(wordChars), exprAny)
		if a.truth[c][t.least] != t.negated {
			word = s.not(word)
		}
		return s.and2(word, k.zero)
	case kindAhead:
		e := a.tree(t.subs[0], c, a.same(exprAny))
		if t.negated {
			e = s.not(e)
		}
		return s.and2(e, k.zero)
	}
	return exprEmpty
}

func (a *around) step(c int, r rune) int {
	for _, m := range a.moves[c] {
		if m.lo <= r && r <= m.hi {
			return m.to
		}
	}
	return c
}

// class translates one character of a set, followed by the expression of its
// context.
func (a *around) class(set []runes.Range, c int, after []Expr) Expr {
	s := a.s
	var union []Expr
	for to := range after {
		var part []runes.Range
		for _, m := range a.moves[c] {
			if m.to == to {
				part = append(part, runes.Range{Lo: m.lo, Hi: m.hi})
			}
		}
		both := runes.AppendIntersection(nil, set, runes.Join(part))
		union = append(union, s.concat(s.class(both), after[to]))
	}
	if e, ok := (&cont{after: after}).alike(); ok {
		return s.concat(s.class(set), e)
	}
	return s.or(union)
}

// list translates the trees of a sequence from index i on.
func (a *around) list(seq *tree, list []*tree, i, c int, k *cont) Expr {
	if i == len(list) {
		return k.zero
	}
	if i == len(list)-1 {
		return a.tree(list[i], c, k)
	}
	key := memoKey{seq, i, c, k}
	if e, ok := a.memo[key]; ok {
		return e
	}
	after := make([]Expr, len(k.after))
	for to := 1; to < len(after); to++ {
		after[to] = a.list(seq, list, i+1, to, a.cont(k.after[to], k.after))
	}
	zero := a.list(seq, list, i+1, c, k)
	e := a.tree(list[i], c, a.cont(zero, after))
	a.memo[key] = e
	return e
}

// repeat translates a repetition that looks around, or is followed by something
// that does.
func (a *around) repeat(t *tree, c int, k *cont) Expr {
	s, body := a.s, t.subs[0]
	if t.most == 0 {
		return k.zero
	}
	if !body.asserts {
		if e, ok := a.repeatPlain(t, c, k); ok {
			return e
		}
	}
	most := t.most
	if most == infinite {
		most = t.least + 1
	}
	if most > unrollLimit {
		a.refuse(t, "counted repetition with or before a look-around")
		return exprEmpty
	}
	if t.least > 0 {
		return a.tree(a.unrolled(t), c, k)
	}
	if t.most == infinite {
		return s.or2(k.zero, a.tree(body, c, a.cont(exprEmpty, a.loop(t, k))))
	}
	after := k.after
	for range t.most - 1 {
		again := a.cont(exprEmpty, after)
		more := make([]Expr, len(after))
		for to := 1; to < len(more); to++ {
			more[to] = s.or2(k.after[to], a.tree(body, to, again))
		}
		after = more
	}
	return s.or2(k.zero, a.tree(body, c, a.cont(exprEmpty, after)))
}

// unrolled returns the repetition t as its required copies, followed by a
// repetition of the optional ones. The result is cached, because results about
// a tree are keyed by its address.
func (a *around) unrolled(t *tree) *tree {
	if seq := a.unroll[t]; seq != nil {
		return seq
	}
	rest := &tree{kind: kindRepeat, asserts: true, offset: t.offset, subs: t.subs, most: t.most}
	if t.most != infinite {
		rest.most -= t.least
	}
	seq := &tree{kind: kindSeq, asserts: true, offset: t.offset}
	for range t.least {
		seq.subs = append(seq.subs, t.subs[0])
	}
	seq.subs = append(seq.subs, rest)
	a.unroll[t] = seq
	return seq
}

// loop returns, for each context, what follows one turn of an unbounded
// repetition: further turns, each of which reads something, and then k.
func (a *around) loop(t *tree, k *cont) []Expr {
	key := memoKey{t: t, k: a.cont(exprEmpty, k.after)}
	if l := a.loops[key]; l != nil {
		return l
	}
	s := a.s
	vars := make([]Expr, len(k.after))
	for to := 1; to < len(vars); to++ {
		vars[to] = s.newRec(s.is(k.after[to], nullable))
	}
	a.loops[key] = vars
	again := a.cont(exprEmpty, vars)
	sides := make([]Expr, len(vars))
	for to := 1; to < len(vars); to++ {
		sides[to] = s.or2(k.after[to], a.tree(t.subs[0], to, again))
	}
	for to := 1; to < len(vars); to++ {
		s.setRec(vars[to], sides[to])
	}
	return vars
}

// repeatPlain translates a repetition whose body doesn't look around as a
// whole, if the context at its end can be determined.
func (a *around) repeatPlain(t *tree, c int, k *cont) (Expr, bool) {
	s := a.s
	whole := s.matched(t)
	some := s.and2(whole, s.length(1, infinite))
	zero := exprEmpty
	if s.is(whole, nullable) {
		zero = k.zero
	}
	if e, ok := k.alike(); ok {
		return s.or2(zero, s.concat(some, e)), true
	}
	if !a.local {
		return exprEmpty, false
	}
	// The last character determines the context.
	union := []Expr{zero}
	for to := range k.after {
		var last []runes.Range
		for _, m := range a.moves[0] {
			if m.to == to {
				last = append(last, runes.Range{Lo: m.lo, Hi: m.hi})
			}
		}
		if len(last) == 0 {
			continue
		}
		final := s.class(runes.Join(last))
		part := exprEmpty
		if of, least, most := s.counted(some); s.op(of) == opClass {
			part = s.concat(s.repeat(of, max(least-1, 0), lessOne(most)), s.meet(of, final))
		} else {
			part = s.and2(some, s.concat(exprAny, final))
		}
		union = append(union, s.concat(part, k.after[to]))
	}
	return s.or(union), true
}
