package vocab

// merger merges adjacent symbols, the best pair first, until no pair is left, as BPE and
// SentencePiece both do. Candidates are in a heap, so n symbols take O(n log n) steps. A merger
// is scratch memory that begin resets for reuse.
type merger struct {
	symbols []mergeSymbol
	heap    []candidate
	mode    tokenizeMode
}

// mergeSymbol is an element of a doubly linked list.
type mergeSymbol struct {
	id         int32
	start      int32 // in bytes from the start
	width      int32 // in bytes; 0 once merged into the symbol before it
	prev, next int32 // -1 at the ends
}

// candidate is a pair of adjacent symbols that may be merged.
type candidate struct {
	order       uint64 // rank, then position: the smallest comes first
	left, right int32
	width       int32 // of both together when added; the candidate is outdated if it has changed
	id          int32 // of the merged symbol
}

func (m *merger) begin(mode tokenizeMode) {
	m.symbols, m.heap, m.mode = m.symbols[:0], m.heap[:0], mode
}

// append adds a symbol of width bytes at the end.
func (m *merger) append(id, width int32) {
	n := int32(len(m.symbols))
	s := mergeSymbol{id: id, width: width, prev: n - 1, next: -1}
	if n > 0 {
		last := &m.symbols[n-1]
		last.next = n
		s.start = last.start + last.width
	}
	m.symbols = append(m.symbols, s)
}

// merge merges symbols. rank returns the merged symbol of two adjacent ones and the rank of the
// merge; the lowest rank is merged first.
func (m *merger) merge(rank func(left, right *mergeSymbol) (rank uint32, id int32, ok bool)) {
	propose := func(left, right int32) {
		if left < 0 || right < 0 {
			return
		}
		l, r := &m.symbols[left], &m.symbols[right]
		if k, id, ok := rank(l, r); ok {
			m.push(candidate{uint64(k)<<32 | uint64(uint32(left)), left, right, l.width + r.width, id})
		}
	}
	for i := range int32(len(m.symbols) - 1) {
		propose(i, i+1)
	}
	for i := 0; len(m.heap) > 0 && !m.mode.stops(i); i++ {
		c := m.pop()
		left, right := &m.symbols[c.left], &m.symbols[c.right]
		if left.width == 0 || right.width == 0 || left.width+right.width != c.width {
			continue
		}
		left.id, left.width, left.next = c.id, c.width, right.next
		right.width = 0
		if right.next >= 0 {
			m.symbols[right.next].prev = c.left
		}
		propose(left.prev, c.left)
		propose(c.left, left.next)
	}
}

func (m *merger) push(c candidate) {
	h := append(m.heap, c)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if h[up].order <= c.order {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = c
	m.heap = h
}

func (m *merger) pop() candidate {
	h := m.heap
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	m.heap = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1].order < h[down].order {
			down++
		}
		if last.order <= h[down].order {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = last
	return top
}
