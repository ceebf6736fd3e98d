package decoder

import "bytes"

// markFinder finds the first of several marks in a text that comes byte by
// byte. It is the automaton of Aho and Corasick, Efficient string matching
// (1975), that ends with the first mark.
type markFinder struct {
	marks [][]byte
	// next holds for each state the next one by byte, or ^i when mark i is
	// complete with that byte. State 0 is the beginning.
	next [][256]int32
	text [][]byte // what of the marks has been read, by state
}

func newMarkFinder(marks [][]byte) *markFinder {
	f := &markFinder{marks: marks, next: make([][256]int32, 1), text: [][]byte{nil}}
	// First the tree of the marks; 0 is no child.
	ends := []int32{none}
	for i, mark := range marks {
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
	// Then, the shorter texts first, where to go on when there is no child:
	// from fall, the state of the longest end that begins a mark.
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
	return f
}

// none is the mark of a state that ends none.
const none = -1

// takes reports whether text completes a mark, exactly with its last byte, or
// is the beginning of what is left of one.
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

// overlap returns how much of a mark has been read in a state.
func (f *markFinder) overlap(state int32, mark []byte) int {
	read := f.text[state]
	for n := min(len(read), len(mark)-1); n > 0; n-- {
		if bytes.HasSuffix(read, mark[:n]) {
			return n
		}
	}
	return 0
}

// prefix returns how much of the first mark has been read in a state.
func (f *markFinder) prefix(state int32) int32 { return int32(f.overlap(state, f.marks[0])) }
