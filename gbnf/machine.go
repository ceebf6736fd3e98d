package gbnf

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/meter"
)

// A state is a position in the reading of a goal: the items at which characters
// and calls may follow, closed under steps that read nothing.
type state struct {
	goal     int32 // the rule that is being read
	chars    []item
	calls    []item
	ended    bool // the goal may be complete here
	expanded bool
	edges    []edge
}

// machine runs a program. It is an automaton over characters, built on demand.
type machine struct {
	p      *program
	limits Limits
	tokens []boundToken // of the program
	out    *outcomes
	endOf  []int32 // of rules: the instruction at their end
	// behind is what may follow the whole text.
	behind  charSet
	follows []charSet // of rules; nil until needed

	counters
	states     []state
	stateIndex map[string]int32
	begin      map[int32]*beginnings
	goals      map[int32]*goal
	size       int
	failed     error
	meter      *meter.Meter

	// The result of closure, and its scratch space.
	chars, calls []item
	ended        bool
	pending      []item
	visited      int            // number of items visited in this round
	seen         []int32        // by instruction: the round in which it was last visited without a counter
	seenCounted  map[item]int32 // the same for items with a counter
	round        int32
	key          []byte
}

func newMachine(p *program, limits Limits, tokens []boundToken, out *outcomes) *machine {
	m := &machine{p: p, limits: limits, tokens: tokens, out: out, endOf: make([]int32, len(p.start)), seen: make([]int32, len(p.insts))}
	for i, in := range p.insts {
		if in.op == instEnd {
			m.endOf[in.arg] = int32(i)
		}
	}
	m.reset()
	return m
}

// setMeter implements metered.
func (m *machine) setMeter(x *meter.Meter) { m.meter = x }

// reset implements automaton.
func (m *machine) reset() {
	m.counters = newCounters(m.p)
	m.states, m.stateIndex = nil, map[string]int32{}
	m.begin, m.goals = map[int32]*beginnings{}, map[int32]*goal{}
	m.seenCounted, m.pending = map[item]int32{}, nil
	m.size, m.failed = 0, nil
}

// err implements automaton.
func (m *machine) err() error { return m.failed }

// bytes implements automaton.
func (m *machine) bytes() int { return m.size + 48*len(m.list) + 4*len(m.seen) + 24*len(m.seenCounted) }

// start implements automaton. The initial state may end if the root may be
// empty; no other state can have read nothing.
func (m *machine) start() int32 {
	first := m.firstState(m.p.root)
	if !m.p.nullable(m.p.root) {
		return first
	}
	m.chars, m.calls, m.ended = append(m.chars[:0], m.states[first].chars...), m.calls[:0], true
	return m.intern(m.p.root)
}

// closure computes what may follow the given items in the reading of a goal; -1
// means none, at the start of a rule. The result is in m.chars, m.calls and
// m.ended.
func (m *machine) closure(goalRule int32, from []item) {
	var ups map[int32][]item
	if goalRule >= 0 {
		ups = m.goal(goalRule).ups // may itself call closure
	}
	m.chars, m.calls, m.ended, m.visited = m.chars[:0], m.calls[:0], false, 0
	if m.round++; m.round%1024 == 0 {
		clear(m.seenCounted)
	}
	for _, x := range from {
		m.visit(x)
	}
	for len(m.pending) > 0 {
		x := m.pending[len(m.pending)-1]
		m.pending = m.pending[:len(m.pending)-1]
		in := &m.p.insts[x.pc]
		switch in.op {
		case instChar:
			m.chars = append(m.chars, x)
		case instCall:
			m.calls = append(m.calls, x)
			if m.p.nullable(in.arg) {
				m.visit(item{in.next, x.counter})
			}
		case instAlt:
			for _, t := range m.p.alts[in.arg] {
				m.visit(item{t, x.counter})
			}
		case instEnter:
			l := &m.p.loops[in.arg]
			if m.p.cost[l.body] != never {
				m.visit(item{l.body, m.enter(in.arg, x.counter)})
			}
			if m.p.least(l) == 0 {
				m.visit(item{l.exit, x.counter})
			}
		case instAgain:
			l := &m.p.loops[in.arg]
			next, more, leave := m.again(x.counter)
			if more {
				m.visit(item{l.body, next})
			}
			if leave {
				m.visit(item{l.exit, m.list[x.counter].up})
			}
		case instEnd:
			m.ended = m.ended || in.arg == goalRule
			for _, up := range ups[in.arg] {
				m.visit(up)
			}
		}
		if m.visited > visitsPerItem*m.limits.Items {
			m.pending = m.pending[:0]
			m.limit()
		}
	}
}

// visit adds an item to the pending ones if a text can be completed from there.
func (m *machine) visit(x item) {
	if m.p.cost[x.pc] == never {
		return
	}
	if x.counter == 0 {
		if m.seen[x.pc] == m.round {
			return
		}
		m.seen[x.pc] = m.round
	} else {
		if m.seenCounted[x] == m.round {
			return
		}
		m.seenCounted[x] = m.round
	}
	m.pending = append(m.pending, x)
	m.visited++
	m.meter.Step(1)
}

// visitsPerItem is the number of items that may be visited for each item of a
// state.
const visitsPerItem = 2

func (m *machine) limit() {
	if m.failed == nil {
		m.failed = &LimitError{Limit: "Items", Max: m.limits.Items}
	}
}

// after returns the state after the given items of a goal.
func (m *machine) after(goalRule int32, from []item) int32 {
	m.closure(goalRule, from)
	return m.intern(goalRule)
}

// normalise sorts items and merges counters.
func (m *machine) normalise(items []item) []item {
	m.meter.Step(len(items))
	slices.SortFunc(items, func(a, b item) int {
		if c := cmp.Compare(a.pc, b.pc); c != 0 || a.counter == b.counter {
			return c
		}
		x, y := &m.list[a.counter], &m.list[b.counter]
		return cmp.Or(cmp.Compare(x.loop, y.loop), cmp.Compare(x.up, y.up), cmp.Compare(x.lo, y.lo), cmp.Compare(a.counter, b.counter))
	})
	out := items[:0]
	for _, x := range items {
		if n := len(out); n > 0 && out[n-1].pc == x.pc {
			if c, ok := m.merge(out[n-1].counter, x.counter); ok {
				out[n-1].counter = c
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// intern returns the state for the result of closure.
func (m *machine) intern(goalRule int32) int32 {
	m.chars, m.calls = m.normalise(m.chars), m.normalise(m.calls)
	if len(m.chars)+len(m.calls) > m.limits.Items {
		m.limit()
	}
	flags := uint32(len(m.chars)) << 1
	if m.ended {
		flags |= 1
	}
	key := binary.LittleEndian.AppendUint32(m.key[:0], uint32(goalRule))
	key = binary.LittleEndian.AppendUint32(key, flags)
	for _, list := range [][]item{m.chars, m.calls} {
		for _, x := range list {
			key = binary.LittleEndian.AppendUint32(key, uint32(x.pc))
			key = binary.LittleEndian.AppendUint32(key, uint32(x.counter))
		}
	}
	m.key = key
	if id, ok := m.stateIndex[string(key)]; ok {
		return id
	}
	id := int32(len(m.states))
	m.states = append(m.states, state{goal: goalRule, chars: slices.Clone(m.chars), calls: slices.Clone(m.calls), ended: m.ended})
	m.stateIndex[string(key)] = id
	m.size += 160 + 2*len(key)
	return id
}

// final reports whether nothing can follow state q.
func (m *machine) final(q int32) bool {
	s := &m.states[q]
	return len(s.chars) == 0 && len(s.calls) == 0
}

// mayEnd implements automaton.
func (m *machine) mayEnd(q int32) bool { return m.states[q].ended }

// follow implements automaton.
func (m *machine) follow(q int32) charSet {
	if m.follows == nil {
		m.follows = m.p.findFollow(m.behind, m.meter)
	}
	return m.follows[m.states[q].goal]
}

// followed implements automaton.
func (m *machine) followed() { m.behind, m.follows = everyChar, nil }

// edges implements automaton.
func (m *machine) edges(q int32) []edge {
	if !m.states[q].expanded {
		edges := m.expand(q)
		s := &m.states[q]
		s.expanded, s.edges = true, edges
		m.size += 12 * len(edges)
	}
	return m.states[q].edges
}

// A segment is a transition from a state over a range of characters: to an item
// of the same rule, or into a call.
type segment struct {
	lo, hi rune
	to     item  // if alts is nil
	alts   []alt // of the call
}

// expand computes the edges of a state.
func (m *machine) expand(q int32) []edge {
	goalRule := m.states[q].goal
	var segments []segment
	for _, x := range m.states[q].chars {
		in := m.p.insts[x.pc]
		to := item{in.next, m.settle(x.counter)}
		for _, r := range m.p.classes[in.arg] {
			segments = append(segments, segment{lo: r.Lo, hi: r.Hi, to: to})
		}
	}
	for i, calls := 0, m.states[q].calls; i < len(calls); {
		called := m.p.insts[calls[i].pc].arg
		var back []item
		for ; i < len(calls) && m.p.insts[calls[i].pc].arg == called; i++ {
			back = append(back, item{m.p.insts[calls[i].pc].next, m.settle(calls[i].counter)})
		}
		segments = m.appendCall(segments, goalRule, called, back)
	}
	return m.sweep(goalRule, segments)
}

// appendCall appends the transitions into a rule called in the reading of a
// goal; back holds the items to return to.
func (m *machine) appendCall(segments []segment, goalRule, called int32, back []item) []segment {
	first := m.firstState(called)
	ret := m.after(goalRule, back)
	// After a complete goal only the goal's own tail may follow. If the goal
	// itself is called, reading it ends in that tail too, and a repeated tail
	// is equivalent to a single one: returning is unnecessary.
	tail := m.final(ret) || called == goalRule && ret == m.doneState(goalRule)
	for _, e := range m.edges(first) {
		m.meter.Step(1)
		var alts []alt
		for _, a := range m.out.list[e.out] {
			if !tail {
				a = alt{n: a.n + 1, states: [2]int32{ret, a.states[0]}}
			}
			alts = append(alts, a)
		}
		segments = append(segments, segment{lo: e.lo, hi: e.hi, alts: alts})
	}
	return segments
}

// sweep converts overlapping segments to edges.
func (m *machine) sweep(goalRule int32, segments []segment) []edge {
	slices.SortStableFunc(segments, func(a, b segment) int { return cmp.Compare(a.lo, b.lo) })
	var edges []edge
	var active []int32
	var places []item
	for next, at := 0, rune(0); next < len(segments) || len(active) > 0; {
		m.meter.Step(1 + len(active))
		active = slices.DeleteFunc(active, func(i int32) bool { return segments[i].hi < at })
		if len(active) == 0 {
			if next == len(segments) {
				break
			}
			at = segments[next].lo
		}
		for ; next < len(segments) && segments[next].lo <= at; next++ {
			active = append(active, int32(next))
		}
		// Find the end of the range in which the same segments apply.
		end := segments[active[0]].hi
		for _, i := range active {
			end = min(end, segments[i].hi)
		}
		if next < len(segments) {
			end = min(end, segments[next].lo-1)
		}
		places = places[:0]
		var alts []alt
		for _, i := range active {
			if s := &segments[i]; s.alts != nil {
				alts = append(alts, s.alts...)
			} else {
				places = append(places, s.to)
			}
		}
		if len(places) > 0 {
			to := m.after(goalRule, places)
			if m.final(to) {
				alts = append(alts, alt{})
			} else {
				alts = append(alts, alt{n: 1, states: [2]int32{to}})
			}
		}
		out := m.out.intern(alts)
		if n := len(edges); n > 0 && edges[n-1].out == out && edges[n-1].hi+1 == at {
			edges[n-1].hi = end
		} else {
			edges = append(edges, edge{lo: at, hi: end, out: out})
		}
		at = end + 1
	}
	return edges
}

// loosen implements automaton.
func (m *machine) loosen(q int32, n int32) int32 {
	s := &m.states[q]
	counted := false
	for _, x := range s.chars {
		counted = counted || x.counter != 0
	}
	for _, x := range s.calls {
		counted = counted || x.counter != 0
	}
	if !counted {
		return q
	}
	m.chars, m.calls, m.ended = append(m.chars[:0], s.chars...), append(m.calls[:0], s.calls...), s.ended
	for _, list := range [][]item{m.chars, m.calls} {
		for i := range list {
			list[i].counter = m.counters.loosen(list[i].counter, n)
		}
	}
	return m.intern(s.goal)
}

// describe implements automaton.
func (m *machine) describe(q int32) string {
	var words []string
	add := func(word string) {
		if len(words) < maxWords && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	s := &m.states[q]
	for _, x := range s.chars {
		add(m.spell(x.pc))
	}
	for _, x := range s.calls {
		add(m.p.names[m.p.insts[x.pc].arg])
	}
	return joinWords(words)
}

// maxWords is the number of alternatives that a description names.
const maxWords = 6

// spell describes an instruction: the class or text that starts there, and the
// rule that it was written in.
func (m *machine) spell(pc int32) string {
	single := func(pc int32) (rune, bool) {
		in := m.p.insts[pc]
		if in.op != instChar {
			return 0, false
		}
		c := m.p.classes[in.arg]
		return c[0].Lo, len(c) == 1 && c[0].Lo == c[0].Hi && !isToken(c[0].Lo)
	}
	rule := m.p.names[m.p.insts[pc].from]
	r, ok := single(pc)
	if !ok {
		return fmt.Sprintf("%s (%s)", m.p.classText(m.p.insts[pc].arg), rule)
	}
	var text []rune
	for from := m.p.insts[pc].from; ok && len(text) < maxSpelt && m.p.insts[pc].from == from; r, ok = single(pc) {
		text = append(text, r)
		pc = m.p.insts[pc].next
	}
	return fmt.Sprintf("%q (%s)", string(text), rule)
}

// maxSpelt is the number of characters of a text that a description shows.
const maxSpelt = 24

var _ automaton = (*machine)(nil)
