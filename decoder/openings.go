package decoder

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A Step is a part of an opening: one of several texts, of which one may be empty, or a
// run of white space, which may be empty too.
type Step struct {
	Texts  []string
	Blanks bool
}

// An opening is a mark that can be written in several ways: a sequence of steps. It
// counts only at the start of the text or, with atLine, of a line.
type opening struct {
	steps  []Step
	atLine bool
	mark   int
}

// maxOpeningStates bounds the tables of a finder with openings: a kilobyte for each
// state.
const maxOpeningStates = 1 << 13

// openingNode is a state of the nondeterministic automaton that reads openings.
type openingNode struct {
	blanks bool // reads white space without leaving the state
	moves  map[byte][]int32
	free   []int32 // targets reached without input
	mark   int32   // the mark completed here, or none
}

// openings is that automaton. Openings with a common prefix of steps share its nodes.
type openings struct {
	nodes  []openingNode
	shared map[string]int32
}

func (o *openings) node() int32 {
	o.nodes = append(o.nodes, openingNode{moves: map[byte][]int32{}, mark: none})
	return int32(len(o.nodes) - 1)
}

// add adds an opening.
func (o *openings) add(x opening) {
	key := fmt.Sprint(x.atLine)
	at, ok := o.shared[key]
	if !ok {
		at = o.node()
		o.shared[key] = at
	}
	for _, s := range x.steps {
		key += fmt.Sprintf("\x00%t%q", s.Blanks, s.Texts)
		to, ok := o.shared[key]
		if !ok {
			to = o.node()
			o.shared[key] = to
			if s.Blanks {
				o.nodes[to].blanks = true
				o.nodes[at].free = append(o.nodes[at].free, to)
			}
			for _, text := range s.Texts {
				o.chain(at, text, to)
			}
		}
		at = to
	}
	o.nodes[at].mark = int32(x.mark)
}

// chain adds a path that reads text from one node to another.
func (o *openings) chain(from int32, text string, to int32) {
	for i := range len(text) {
		next := to
		if i+1 < len(text) {
			next = o.node()
		}
		o.nodes[from].moves[text[i]] = append(o.nodes[from].moves[text[i]], next)
		from = next
	}
	if text == "" {
		o.nodes[from].free = append(o.nodes[from].free, to)
	}
}

// closed returns a set of nodes together with all nodes reached from it without input.
func (o *openings) closed(set []int32) []int32 {
	for i := 0; i < len(set); i++ {
		for _, to := range o.nodes[set[i]].free {
			if !slices.Contains(set, to) {
				set = append(set, to)
			}
		}
	}
	slices.Sort(set)
	return set
}

// step returns the nodes after a byte, and the mark that the byte completes, or none.
func (o *openings) step(set []int32, b byte) (next []int32, mark int32) {
	for _, n := range set {
		x := &o.nodes[n]
		if x.blanks && (b == ' ' || b == '\n' || b == '\t' || b == '\r') && !slices.Contains(next, n) {
			next = append(next, n)
		}
		for _, to := range x.moves[b] {
			if !slices.Contains(next, to) {
				next = append(next, to)
			}
		}
	}
	next = o.closed(next)
	for _, n := range next {
		if m := o.nodes[n].mark; m != none {
			return nil, m
		}
	}
	return next, none
}

// moves returns the bytes that any of the nodes reads.
func (o *openings) moves(set []int32) (reads [256]bool) {
	for _, n := range set {
		x := &o.nodes[n]
		for b := range x.moves {
			reads[b] = true
		}
		for _, b := range " \n\t\r" {
			reads[b] = reads[b] || x.blanks
		}
	}
	return reads
}

// withOpenings returns a finder that looks for openings as well. Where both a mark and
// an opening end, the mark wins. Only one opening is followed at a time: the one that
// begins first. The result is nil if it would take too many states.
func (f *markFinder) withOpenings(list []opening) *markFinder {
	o := &openings{shared: map[string]int32{}}
	for _, x := range list {
		o.add(x)
	}
	var first, line []int32 // where openings can begin
	for _, atLine := range []bool{false, true} {
		if root, ok := o.shared[fmt.Sprint(atLine)]; ok {
			first = append(first, root)
			if atLine {
				line = o.closed([]int32{root})
			}
		}
	}
	out := &markFinder{marks: f.marks, openings: fmt.Sprint(list)}
	type state struct {
		base int32
		set  []int32
		live bool // part of an opening has been read
		new  bool // the last byte began it
		line bool // the last byte was a line break
	}
	index := map[string]int32{}
	var states []state
	number := func(s state) int32 {
		key := binary.AppendVarint(nil, int64(s.base))
		for i, is := range []bool{s.live, s.new, s.line} {
			if is {
				key = append(key, byte(i))
			}
		}
		key = append(key, 0xff)
		for _, n := range s.set {
			key = binary.AppendVarint(key, int64(n))
		}
		id, ok := index[string(key)]
		if !ok {
			id = int32(len(states))
			index[string(key)] = id
			states = append(states, s)
		}
		return id
	}
	plain := make([][2]int32, len(f.next)) // 1 + the states in no opening, which are most, by base and whether a line begins
	number(state{set: o.closed(first), line: line != nil})
	for at := 0; at < len(states); at++ {
		if at == maxOpeningStates {
			return nil
		}
		s := states[at]
		var row [256]int32
		moves := o.moves(s.set)
		if s.line {
			for b, is := range o.moves(line) {
				moves[b] = moves[b] || is
			}
		}
		for b := range 256 {
			base := f.next[s.base][b]
			if base < 0 {
				row[b] = base
				continue
			}
			to := state{base: base, line: b == '\n' && line != nil}
			if !moves[b] {
				id := &plain[base][0]
				if to.line {
					id = &plain[base][1]
				}
				if *id == 0 {
					*id = 1 + number(to)
				}
				row[b] = *id - 1
				continue
			}
			mark := int32(none)
			if len(s.set) > 0 {
				to.set, mark = o.step(s.set, byte(b))
				to.new = !s.live
			}
			if len(to.set) == 0 && mark == none && s.line {
				to.set, mark = o.step(line, byte(b))
				to.new = true
			}
			if mark != none {
				row[b] = ^mark
				continue
			}
			to.live = len(to.set) > 0
			to.new = to.new && to.live
			row[b] = number(to)
		}
		out.next = append(out.next, row)
		out.text = append(out.text, f.text[s.base])
		out.live, out.begun = append(out.live, s.live), append(out.begun, s.new)
	}
	return out
}
