package decoder

import (
	"bytes"
	"slices"
)

// markFinder finds the first of several marks in a stream of bytes. It is the
// automaton of Aho and Corasick, Efficient string matching (1975), which stops at the
// first mark.
type markFinder struct {
	marks [][]byte
	// next holds, by state and byte, the next state, or ^i if the byte completes
	// mark i. State 0 is the initial one.
	next [][256]int32
	text [][]byte // by state: the part of the marks that has been read

	openings string // the openings, as part of the key of the cached tables
	live     []bool // by state: part of an opening has been read; nil without openings
	begun    []bool // by state: the last byte was the first one of an opening
}

// newMarkFinder returns the finder of marks. Marks with atStart count only at the
// start of the text.
func newMarkFinder(marks [][]byte, atStart []bool) *markFinder {
	f := &markFinder{marks: marks, next: make([][256]int32, 1), text: [][]byte{nil}}
	// First the tree of the marks; 0 is no child.
	ends := []int32{none}
	for i, mark := range marks {
		if atStart[i] || len(mark) == 0 {
			continue
		}
		at := int32(0)
		for n, b := range mark {
			if f.next[at][b] == 0 {
				f.next[at][b] = int32(len(f.next))
				f.next = append(f.next, [256]int32{})
				f.text = append(f.text, mark[:n+1])
				ends = append(ends, none)
			}
			at = f.next[at][b]
		}
		if ends[at] == none {
			ends[at] = int32(i)
		}
	}
	// Then, in order of length, the next states where there is no child: those
	// of fall, the state of the longest suffix that is a prefix of a mark.
	fall := make([]int32, len(f.next))
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for b := range f.next[at] {
			child, other := f.next[at][b], int32(0)
			if at != 0 {
				other = f.next[fall[at]][b]
			}
			switch {
			case child == 0:
				f.next[at][b] = other
			case ends[child] != none:
				f.next[at][b] = ^ends[child]
			case other < 0:
				f.next[at][b] = other
			default:
				fall[child] = other
				queue = append(queue, child)
			}
		}
	}
	if slices.Contains(atStart, true) {
		f.anchor(atStart)
	}
	return f
}

// anchor adds the marks that count only at the start of the text: a tree of states
// from a new initial state. Where no child matches, it continues in the other states.
func (f *markFinder) anchor(atStart []bool) {
	for i := range f.next { // the new state 0 shifts all others
		for b, to := range f.next[i] {
			if to >= 0 {
				f.next[i][b]++
			}
		}
	}
	f.next = append([][256]int32{f.next[0]}, f.next...)
	f.text = append([][]byte{nil}, f.text...)
	type edge struct {
		from int32
		b    byte
	}
	children := map[edge]int32{}
	plain := map[int32]int32{0: 1} // by state of the tree: the state without the tree
	for i, mark := range f.marks {
		if !atStart[i] {
			continue
		}
		at := int32(0)
		for n, b := range mark {
			if f.next[at][b] < 0 {
				break // a shorter mark comes first
			}
			if n == len(mark)-1 {
				f.next[at][b] = ^int32(i)
				break
			}
			to, ok := children[edge{at, b}]
			if !ok {
				to = int32(len(f.next))
				children[edge{at, b}] = to
				plain[to] = f.next[plain[at]][b]
				f.next = append(f.next, f.next[plain[to]])
				f.text = append(f.text, mark[:n+1])
				f.next[at][b] = to
			}
			at = to
		}
	}
}

// none is the mark of a state that completes no mark.
const none = -1

// takes reports whether text completes a mark with its last byte, or is a prefix of
// the rest of one.
func (f *markFinder) takes(state int32, text []byte) bool {
	for i, b := range text {
		to := f.next[state][b]
		if to < 0 {
			return i == len(text)-1
		}
		state = to
	}
	return bytes.HasSuffix(f.text[state], text)
}

// follow returns the state after text, or ^i if mark i is completed within it.
func (f *markFinder) follow(state int32, text []byte) int32 {
	for _, b := range text {
		if state = f.next[state][b]; state < 0 {
			break
		}
	}
	return state
}

// overlap returns how many bytes of a mark have been read in a state.
func (f *markFinder) overlap(state int32, mark []byte) int {
	read := f.text[state]
	for n := min(len(read), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(read, mark[:n]) {
			return n
		}
	}
	return 0
}

// prefix returns how many bytes of the first mark have been read in a state.
func (f *markFinder) prefix(state int32) int32 { return int32(f.overlap(state, f.marks[0])) }

// A markTree reads exactly one of several marks.
type markTree struct {
	marks [][]byte
	nodes []markNode // the first is the root
}

// markNode is a node of the tree; text is the bytes on the path to it.
type markNode struct {
	text  []byte
	moves []markMove
}

// markMove leads over a byte to a node or, if to is ^i, to the end of mark i.
type markMove struct {
	b  byte
	to int32
}

func newMarkTree(marks [][]byte) *markTree {
	t := &markTree{marks: marks, nodes: []markNode{{}}}
	for i, mark := range marks {
		at := int32(0)
		for n, b := range mark {
			if n == len(mark)-1 {
				t.nodes[at].moves = append(t.nodes[at].moves, markMove{b, ^int32(i)})
				break
			}
			to := int32(none)
			for _, m := range t.nodes[at].moves {
				if m.b == b && m.to >= 0 {
					to = m.to
				}
			}
			if to == none {
				to = int32(len(t.nodes))
				t.nodes[at].moves = append(t.nodes[at].moves, markMove{b, to})
				t.nodes = append(t.nodes, markNode{text: mark[:n+1]})
			}
			at = to
		}
	}
	return t
}

// rests calls yield for each mark below a node, with the rest of the mark.
func (t *markTree) rests(node int32, yield func(i int, rest []byte)) {
	read := t.nodes[node].text
	for i, mark := range t.marks {
		if rest, ok := bytes.CutPrefix(mark, read); ok && len(rest) > 0 {
			yield(i, rest)
		}
	}
}

// follow calls yield for the node after text and, as ^i, for each mark i that ends
// there.
func (t *markTree) follow(node int32, text []byte, yield func(to int32)) {
	for _, m := range t.nodes[node].moves {
		switch {
		case m.b != text[0]:
		case len(text) == 1:
			yield(m.to)
		case m.to >= 0:
			t.follow(m.to, text[1:], yield)
		}
	}
}
