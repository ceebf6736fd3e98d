package gbnf

import "slices"

// An item is a position in the program with the counter of the enclosing loop.
type item struct{ pc, counter int32 }

// beginnings is what a rule can begin with.
type beginnings struct {
	chars []item // characters
	calls []item // calls
}

// A goal is a rule that is being read as a whole. Rules at its start are read
// bottom-up: members are the rules that a text of the goal can begin with,
// including the goal.
type goal struct {
	members []int32
	// ups holds, for each member, the items after its occurrences at the start
	// of other members.
	ups map[int32][]item
	// exit is the length of the shortest text from the end of a member to the
	// end of the goal; over is the index in ups of the item that leads there,
	// -1 if the member is the goal.
	exit map[int32]int64
	over map[int32]int32
	// first is the state at the goal's start; done is the state after the goal
	// has been read, which may continue if the rule is left-recursive.
	first, done int32
}

// beginning returns what a rule can begin with.
func (m *machine) beginning(rule int32) *beginnings {
	if b := m.begin[rule]; b != nil {
		return b
	}
	m.closure(-1, []item{{pc: m.p.start[rule]}})
	b := &beginnings{chars: slices.Clone(m.chars), calls: slices.Clone(m.calls)}
	m.begin[rule] = b
	m.size += 64 + 8*(len(b.chars)+len(b.calls))
	return b
}

// goal returns the goal of reading a rule.
func (m *machine) goal(rule int32) *goal {
	if g := m.goals[rule]; g != nil {
		return g
	}
	g := &goal{ups: map[int32][]item{}, exit: map[int32]int64{}, over: map[int32]int32{}, first: -1, done: -1}
	m.goals[rule] = g
	seen := map[int32]bool{rule: true}
	g.members = append(g.members, rule)
	for i := 0; i < len(g.members); i++ {
		for _, call := range m.beginning(g.members[i]).calls {
			in := m.p.insts[call.pc]
			g.ups[in.arg] = append(g.ups[in.arg], item{in.next, m.settle(call.counter)})
			if !seen[in.arg] {
				seen[in.arg] = true
				g.members = append(g.members, in.arg)
			}
		}
	}
	m.size += 150 * len(g.members)
	m.findExits(rule, g)
	return g
}

// findExits computes exit and over, by Dijkstra's algorithm from the goal to
// the rules that it can begin with.
func (m *machine) findExits(rule int32, g *goal) {
	queue := costQueue{{0, rule}}
	g.exit[rule], g.over[rule] = 0, -1
	done := map[int32]bool{}
	for len(queue) > 0 {
		e := queue.take()
		owner := e.pc
		if done[owner] {
			continue
		}
		done[owner] = true
		for _, call := range m.beginning(owner).calls {
			in := m.p.insts[call.pc]
			after := item{in.next, m.settle(call.counter)}
			cost := plus(e.cost, m.rest(after))
			if old, ok := g.exit[in.arg]; ok && old <= cost {
				continue
			}
			g.exit[in.arg] = cost
			m.meter.Step(1 + len(g.ups[in.arg])/16)
			for i, up := range g.ups[in.arg] {
				if up == after {
					g.over[in.arg] = int32(i)
				}
			}
			queue.put(costEntry{cost, in.arg})
		}
	}
}

// firstState returns the state at the start of a goal.
func (m *machine) firstState(rule int32) int32 {
	g := m.goal(rule)
	if g.first >= 0 {
		return g.first
	}
	var chars []item
	for _, member := range g.members {
		chars = append(chars, m.beginning(member).chars...)
	}
	m.chars, m.calls, m.ended = append(m.chars[:0], chars...), m.calls[:0], false
	g.first = m.intern(rule)
	return g.first
}

// doneState returns the state after a goal has been read.
func (m *machine) doneState(rule int32) int32 {
	g := m.goal(rule)
	if g.done < 0 {
		g.done = m.after(rule, []item{{pc: m.endOf[rule]}})
	}
	return g.done
}
