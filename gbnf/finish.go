package gbnf

import (
	"slices"
	"unicode/utf8"
)

// rest returns the length of the shortest text from an item to the end of its
// rule.
func (m *machine) rest(x item) int64 {
	cost := m.p.cost[x.pc]
	for c := x.counter; c != 0; c = m.list[c].up {
		l := &m.p.loops[m.list[c].loop]
		if n := m.missing(c); n > 0 && m.list[c].lo >= 0 {
			cost = plus(cost, times(m.p.cost[l.body], n))
		}
		cost = plus(cost, m.p.cost[l.exit])
	}
	return cost
}

// hostOf returns the rule that contains an item.
func (m *machine) hostOf(x item) int32 { return m.p.insts[x.pc].host }

// finish implements automaton.
func (m *machine) finish(q int32) []byte {
	s := &m.states[q]
	if s.ended {
		return nil
	}
	g := m.goal(s.goal)
	best, least := item{}, int64(never)
	for _, list := range [][]item{s.chars, s.calls} {
		for _, x := range list {
			if cost := plus(m.rest(x), g.exit[m.hostOf(x)]); cost < least {
				best, least = x, cost
			}
		}
	}
	if least == never {
		return nil
	}
	out := m.appendRest(nil, best)
	for rule := m.hostOf(best); rule != s.goal; {
		up := g.ups[rule][g.over[rule]]
		out = m.appendRest(out, up)
		rule = m.hostOf(up)
	}
	return out
}

// appendRest appends the shortest text from an item to the end of its rule.
func (m *machine) appendRest(out []byte, x item) []byte {
	out = m.appendShortest(out, x.pc)
	for c := x.counter; c != 0; c = m.list[c].up {
		l := &m.p.loops[m.list[c].loop]
		if n := m.missing(c); n > 0 && m.list[c].lo >= 0 {
			out = append(out, m.rounds(l.body, n)...)
		}
		out = m.appendShortest(out, l.exit)
	}
	return out
}

// rounds returns the shortest text of n rounds of a loop.
func (m *machine) rounds(body int32, n int64) []byte {
	one := m.appendShortest(nil, body)
	if int64(len(one))*n > int64(m.limits.Text) {
		m.failText()
		return nil
	}
	return slices.Repeat(one, int(n))
}

func (m *machine) failText() {
	if m.failed == nil {
		m.failed = &LimitError{Limit: "Text", Max: m.limits.Text}
	}
}

// appendShortest appends the shortest text from an instruction to the end of
// its rule or round. Rules can be nested as deeply as the text is long, so
// return addresses are kept in a list.
func (m *machine) appendShortest(out []byte, pc int32) []byte {
	var returns []int32
	for {
		m.meter.Step(1)
		in := &m.p.insts[pc]
		switch in.op {
		case instChar:
			if r := pick(m.p.classes[in.arg]); isToken(r) {
				out = append(out, m.tokens[r-firstToken].spelt...)
			} else {
				out = utf8.AppendRune(out, r)
			}
			pc = in.next
		case instCall:
			returns = append(returns, in.next)
			pc = m.p.start[in.arg]
		case instAlt:
			pc = m.p.alts[in.arg][m.p.choice[pc]]
		case instEnter:
			l := &m.p.loops[in.arg]
			if n := m.p.least(l); n > 0 {
				out = append(out, m.rounds(l.body, int64(n))...)
			}
			pc = l.exit
		default:
			if len(returns) == 0 {
				return out
			}
			pc = returns[len(returns)-1]
			returns = returns[:len(returns)-1]
		}
		if len(out) > m.limits.Text {
			m.failText()
			return nil
		}
	}
}
