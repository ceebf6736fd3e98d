package gbnf

import "github.com/stencil-json/stencil/meter"

// followRounds bounds the search for the characters that may follow rules.
// Practical grammars need three or four rounds.
const followRounds = 50

// findFollow returns for each rule a set that contains all characters that may
// be read once the rule is complete; after is the set that may follow the root.
// The sets may be too large: all uses of a rule are treated alike.
func (p *program) findFollow(after charSet, work *meter.Meter) []charSet {
	ahead := make([]charSet, len(p.insts)) // what may be read from an instruction on
	follow := make([]charSet, len(p.start))
	follow[p.root] = after
	for range followRounds {
		changed := false
		for i := range p.insts {
			work.Step(1)
			in := &p.insts[i]
			set := &ahead[i]
			if p.cost[i] == never {
				continue
			}
			switch in.op {
			case instChar:
				for _, r := range p.classes[in.arg] {
					set.addRange(r.Lo, r.Hi)
				}
			case instCall:
				changed = set.add(&ahead[p.start[in.arg]]) || changed
				if p.nullable(in.arg) {
					changed = set.add(&ahead[in.next]) || changed
				}
				changed = follow[in.arg].add(&ahead[in.next]) || changed
			case instAlt:
				work.Step(len(p.alts[in.arg]) / 16)
				for _, t := range p.alts[in.arg] {
					changed = set.add(&ahead[t]) || changed
				}
			case instEnter, instAgain:
				l := &p.loops[in.arg]
				changed = set.add(&ahead[l.body]) || changed
				changed = set.add(&ahead[l.exit]) || changed
			case instEnd:
				changed = set.add(&follow[in.arg]) || changed
			}
		}
		if !changed {
			return follow
		}
	}
	for i := range follow {
		follow[i] = everyChar
	}
	return follow
}
