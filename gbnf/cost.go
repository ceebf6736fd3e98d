package gbnf

import (
	"math"
	"unicode/utf8"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/meter"
)

// never is the cost of instructions that no text completes.
const never = math.MaxInt64

// maxCost is the maximum of costs; every limit is lower.
const maxCost = math.MaxInt64 / 4

// findCosts computes for each instruction the length of the shortest text from
// it to the end of its rule, or of its round in a counted loop. It is Knuth's
// generalisation of Dijkstra's algorithm: an instruction is settled once all
// instructions that it needs are settled, the cheapest first.
func (p *program) findCosts(work *meter.Meter) {
	n := len(p.insts)
	p.cost = make([]int64, n)
	p.choice = make([]int32, n)
	for i := range p.cost {
		p.cost[i] = never
		p.choice[i] = -1
	}
	users := p.users()
	var queue costQueue
	settled := make([]bool, n)
	for i, in := range p.insts {
		if in.op == instEnd || in.op == instAgain {
			p.cost[i] = 0
			queue = append(queue, costEntry{0, int32(i)}) // costs are equal, so this is a heap
		}
	}
	for len(queue) > 0 {
		work.Step(1)
		e := queue.take()
		if settled[e.pc] {
			continue
		}
		settled[e.pc] = true
		for _, u := range users.of(e.pc) {
			if settled[u] {
				continue
			}
			cost, way := p.costThrough(u, e.pc, settled)
			if cost < p.cost[u] {
				p.cost[u], p.choice[u] = cost, way
				queue.put(costEntry{cost, u})
			}
		}
	}
}

// costThrough returns the cost of instruction u now that to is settled, and for
// a branch the alternative that leads to it.
func (p *program) costThrough(u, to int32, settled []bool) (cost int64, way int32) {
	need := func(pc int32) int64 {
		if !settled[pc] {
			return never
		}
		return p.cost[pc]
	}
	in := p.insts[u]
	switch in.op {
	case instChar:
		return plus(need(in.next), width(p.classes[in.arg][0].Lo)), 0
	case instCall:
		return plus(need(in.next), need(p.start[in.arg])), 0
	case instAlt:
		if p.cost[to] >= p.cost[u] {
			return never, 0 // the alternative settled first was the cheapest
		}
		for i, t := range p.alts[in.arg] {
			if t == to {
				return p.cost[to], int32(i)
			}
		}
	case instEnter:
		l := p.loops[in.arg]
		cost := need(l.exit)
		if l.min > 0 {
			cost = plus(cost, times(need(l.body), int64(l.min)))
		}
		return cost, 0
	}
	return never, 0
}

// width returns the length of a character in a completion.
func width(r rune) int64 {
	if isToken(r) {
		return int64(len(decoder.SpellToken(0)))
	}
	return int64(utf8.RuneLen(r))
}

func plus(a, b int64) int64 {
	if a == never || b == never {
		return never
	}
	return min(a+b, maxCost)
}

func times(a, n int64) int64 {
	switch {
	case a == never:
		return never
	case a != 0 && n > maxCost/a:
		return maxCost
	}
	return a * n
}

// userLists holds the users of each instruction, in one block.
type userLists struct{ from, list []int32 }

func (u *userLists) of(pc int32) []int32 { return u.list[u.from[pc]:u.from[pc+1]] }

// users lists for each instruction those whose cost depends on it.
func (p *program) users() *userLists {
	each := func(yield func(needed, user int32)) {
		for i, in := range p.insts {
			switch in.op {
			case instChar:
				yield(in.next, int32(i))
			case instCall:
				yield(in.next, int32(i))
				yield(p.start[in.arg], int32(i))
			case instAlt:
				for _, t := range p.alts[in.arg] {
					yield(t, int32(i))
				}
			case instEnter:
				yield(p.loops[in.arg].exit, int32(i))
				yield(p.loops[in.arg].body, int32(i))
			}
		}
	}
	u := &userLists{from: make([]int32, len(p.insts)+1)}
	each(func(needed, _ int32) { u.from[needed+1]++ })
	for i := range p.insts {
		u.from[i+1] += u.from[i]
	}
	u.list = make([]int32, u.from[len(p.insts)])
	fill := append([]int32(nil), u.from...)
	each(func(needed, user int32) {
		u.list[fill[needed]] = user
		fill[needed]++
	})
	return u
}

type costEntry struct {
	cost int64
	pc   int32
}

// costQueue is a binary heap, the cheapest entry first.
type costQueue []costEntry

func (q *costQueue) put(e costEntry) {
	h := append(*q, e)
	for i := len(h) - 1; i > 0 && h[i].cost < h[(i-1)/2].cost; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
	*q = h
}

func (q *costQueue) take() costEntry {
	h := *q
	first := h[0]
	h[0] = h[len(h)-1]
	h = h[:len(h)-1]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].cost < h[c].cost {
			c++
		}
		if h[i].cost <= h[c].cost {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	*q = h
	return first
}
