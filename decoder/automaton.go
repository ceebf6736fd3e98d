package decoder

import (
	"github.com/stencil-json/stencil/meter"
	"slices"
)

// dead is the configuration without stacks: no text continues it.
const dead = -1

// anyStack is the stack that stands for any other; it has no frame on top.
const anyStack = 1

// The effect of a byte on a frame is packed into one code: zero for no edge,
// else a kind in the low two bits and an argument above them.
const (
	codeNone    = 0
	codeReplace = 1 // argument: the frame that replaces this one
	codePop     = 2 // the frame ends with this byte
	codeGeneral = 3 // argument: index into outcomes

	codeLater = -1 // not computed yet, see Edges.Later
)

// An outcome is the effect of a byte that does not fit into a code: several
// frames, several alternatives, or a capture.
type outcome struct {
	alts    []alternative
	capture bool
	unknown bool // capture without pending frames
}

type alternative struct {
	n      int8 // number of frames; 0: the frame ends
	frames [3]Frame
}

type byteRange struct {
	lo, hi byte
	code   int32
}

type frameInfo struct {
	off      int32 // into tables.ranges
	dense    int32 // 1 + index of the row in tables.dense, or 0
	n        uint16
	expanded bool
	mayPop   bool
	common   bool
}

// denseFrom is the number of ranges from which a table of 256 codes is kept
// beside the list: a linear search over eight pairs costs as much as the
// cache miss.
const denseFrom = 8

// tables is the automaton, built lazily. The package comment draws it. Stacks are
// hash-consed: equal stacks have equal numbers. A configuration is therefore a
// number too, and results for it are found by index. Everything is kept in flat
// arrays of int32 without pointers.
//
// A configuration is a set of stacks. The single stack s is s<<1; set i of several
// is i<<1|1. Stack 0 is the empty stack: the text is complete. Stack 1 stands for
// any other, where only the frames above it matter. Stacks with the same frame on
// top are merged into one whose parent is a configuration, so that a step costs
// the same however many readings led there: a graph-structured stack (Tomita
// 1985). It is canonical: equal sets of stacks have equal numbers.
type tables struct {
	src    Source
	tokens *tokenTable // nil if the source reads text only
	limits Limits
	meter  *meter.Meter
	err    error

	frames   []frameInfo
	ranges   []byteRange
	dense    rows // of codes
	outcomes []outcome

	stackFrame  []Frame
	stackParent []int32 // configurations
	stackCost   []int32 // length of the shortest completion in bytes, -1 while unknown
	stackIndex  []int32 // open-addressing hash table over the stacks
	stackMark   []int32 // the turn in which a stack was last visited
	turn        int32

	setOff   []int32 // set i is setItems[setOff[i]:setOff[i+1]]
	setItems []int32
	setIndex map[uint64][]int32
	setRow   []int32 // 1 + index of the row in setNext, or 0
	setNext  rows    // 0 unknown, else configuration + 2

	stepped steps

	edges   Edges
	scratch []int32
	work    int // stacks visited for the current mask or byte
}

// rowsPerPage is chosen so that allocating a page takes about a microsecond.
const rowsPerPage = 4

// rows is a growing list of rows of 256 values. It grows by pages, so that no row
// is ever copied and no single step takes long.
type rows struct {
	pages []*[rowsPerPage][256]int32
	n     int32
}

func (r *rows) add() (id int32, row *[256]int32) {
	id = r.n
	if id%rowsPerPage == 0 {
		r.pages = append(r.pages, new([rowsPerPage][256]int32))
	}
	r.n++
	return id, r.row(id)
}

func (r *rows) row(id int32) *[256]int32 {
	return &r.pages[uint32(id)/rowsPerPage][uint32(id)%rowsPerPage]
}

func (r *rows) reset() { *r = rows{} }

func (r *rows) bytes() int { return len(r.pages) * rowsPerPage * 1024 }

func newTables(src Source, limits Limits) *tables {
	t := &tables{src: src, limits: limits}
	t.reset()
	return t
}

func (t *tables) reset() {
	t.err = nil
	t.frames, t.ranges = t.frames[:0], t.ranges[:0]
	t.dense.reset()
	t.setNext.reset()
	clear(t.outcomes)
	t.outcomes = t.outcomes[:0]
	if t.frames == nil {
		// First masks rarely need more, and zeroing more would take as long as
		// computing the masks.
		t.frames, t.ranges = make([]frameInfo, 0, 32), make([]byteRange, 0, 64)
		t.stackFrame, t.stackParent, t.stackCost = make([]Frame, 0, 64), make([]int32, 0, 64), make([]int32, 0, 64)
	}
	t.stackFrame = append(t.stackFrame[:0], -1, -1)
	t.stackParent = append(t.stackParent[:0], dead, dead)
	t.stackCost = append(t.stackCost[:0], 0, 0)
	t.stackIndex = make([]int32, 128)
	clear(t.stackMark)
	t.setOff = append(t.setOff[:0], 0)
	t.setItems = t.setItems[:0]
	t.setIndex = map[uint64][]int32{}
	t.setRow = t.setRow[:0]
	clear(t.stepped.list)
	if t.tokens != nil {
		t.tokens.reset()
	}
}

// bytes returns the memory held, approximately.
func (t *tables) bytes() int {
	return cap(t.frames)*16 + cap(t.ranges)*8 + t.dense.bytes() + len(t.outcomes)*64 +
		cap(t.stackFrame)*12 + cap(t.stackMark)*4 + len(t.stackIndex)*4 + cap(t.setItems)*4 + len(t.setOff)*40 + t.setNext.bytes()
}

func (t *tables) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// push returns the stack with frame f on configuration parent.
func (t *tables) push(f Frame, parent int32) int32 {
	mask := uint32(len(t.stackIndex) - 1)
	h := (uint32(f)*0x9E3779B1 ^ uint32(parent)*0x85EBCA77)
	h ^= h >> 15
	for {
		h &= mask
		s := t.stackIndex[h]
		if s == 0 {
			break
		}
		if t.stackFrame[s] == f && t.stackParent[s] == parent {
			return s
		}
		h++
	}
	s := int32(len(t.stackFrame))
	t.stackFrame = append(t.stackFrame, f)
	t.stackParent = append(t.stackParent, parent)
	t.stackCost = append(t.stackCost, -1)
	t.stackIndex[h] = s
	if len(t.stackFrame)*2 > len(t.stackIndex) {
		t.growStacks()
	}
	return s
}

func (t *tables) growStacks() {
	t.stackIndex = make([]int32, 4*len(t.stackIndex))
	mask := uint32(len(t.stackIndex) - 1)
	for s := anyStack + 1; s < len(t.stackFrame); s++ {
		h := (uint32(t.stackFrame[s])*0x9E3779B1 ^ uint32(t.stackParent[s])*0x85EBCA77)
		h ^= h >> 15
		for h &= mask; t.stackIndex[h] != 0; h = (h + 1) & mask {
		}
		t.stackIndex[h] = int32(s)
	}
}

// frame returns the expanded frame f.
func (t *tables) frame(f Frame) *frameInfo {
	if int(f) >= len(t.frames) {
		t.frames = slices.Grow(t.frames, int(f)+1-len(t.frames))
		from := len(t.frames)
		t.frames = t.frames[:f+1]
		clear(t.frames[from:])
	}
	fi := &t.frames[f]
	if !fi.expanded {
		t.expand(f)
		fi = &t.frames[f]
	}
	return fi
}

func (t *tables) expand(f Frame) {
	e := &t.edges
	e.reset()
	t.src.Expand(f, e)
	if e.like >= 0 {
		t.expandLike(f)
		return
	}
	fi := &t.frames[f]
	fi.expanded, fi.mayPop, fi.common, fi.off = true, e.mayPop, e.common, int32(len(t.ranges))
	t.compile(e, fi)
	t.index(fi)
}

// expandLike gives f the edges of the frame passed to [Edges.Like], except over
// the excepted bytes, and the edges collected for f itself.
func (t *tables) expandLike(f Frame) {
	e, like, mayPop, except := t.edges, t.edges.like, t.edges.mayPop, t.edges.except
	if int(like) >= len(t.frames) || !t.frames[like].expanded {
		e.list, e.frames = slices.Clone(e.list), slices.Clone(e.frames)
	}
	model := *t.frame(like)
	fi := &t.frames[f]
	fi.expanded, fi.mayPop, fi.common = true, mayPop || model.mayPop, model.common
	fi.off = int32(len(t.ranges))
	for i, x := range e.list {
		t.ranges = append(t.ranges, byteRange{x.lo, x.hi, t.code(&e, e.list[i:i+1])})
	}
	for _, r := range t.ranges[model.off : model.off+int32(model.n)] {
		if except[r.lo>>6]>>(r.lo&63)&1 == 0 {
			t.ranges = append(t.ranges, r)
		}
	}
	fi.n = uint16(len(t.ranges) - int(fi.off))
	slices.SortFunc(t.ranges[fi.off:], func(a, b byteRange) int { return int(a.lo) - int(b.lo) })
	t.index(fi)
}

// compile turns the collected edges into disjoint ranges of bytes.
func (t *tables) compile(e *Edges, fi *frameInfo) {
	disjoint := true
	for i := 1; i < len(e.list); i++ {
		if e.list[i].lo <= e.list[i-1].hi {
			disjoint = false
			break
		}
	}
	if disjoint {
		for i := range e.list {
			x := &e.list[i]
			t.ranges = append(t.ranges, byteRange{x.lo, x.hi, t.code(e, e.list[i:i+1])})
		}
	} else {
		var cuts [257]bool
		for _, x := range e.list {
			cuts[x.lo], cuts[int(x.hi)+1] = true, true
		}
		var here []edge
		for lo := 0; lo < 256; {
			hi := lo
			for hi < 255 && !cuts[hi+1] {
				hi++
			}
			here = here[:0]
			for _, x := range e.list {
				if int(x.lo) <= lo && lo <= int(x.hi) {
					here = append(here, x)
				}
			}
			if len(here) > 0 {
				t.ranges = append(t.ranges, byteRange{byte(lo), byte(hi), t.code(e, here)})
			}
			lo = hi + 1
		}
	}
	fi.n = uint16(len(t.ranges) - int(fi.off))
}

// index gives a row of codes to a frame with many ranges, or with ranges of several
// bytes whose codes are not computed yet.
func (t *tables) index(fi *frameInfo) {
	many := fi.n >= denseFrom
	for _, r := range t.ranges[fi.off : fi.off+int32(fi.n)] {
		many = many || r.code == codeLater && r.lo != r.hi
	}
	if many {
		id, row := t.dense.add()
		for _, r := range t.ranges[fi.off : fi.off+int32(fi.n)] {
			for b := int(r.lo); b <= int(r.hi); b++ {
				row[b] = r.code
			}
		}
		fi.dense = id + 1
	}
}

// code packs the edges that leave one frame over one byte.
func (t *tables) code(e *Edges, list []edge) int32 {
	if list[0].n == edgeLater {
		return codeLater
	}
	if len(list) == 1 && !list[0].capture {
		switch x := list[0]; x.n {
		case 0:
			return codePop
		case 1:
			return e.frames[x.off]<<2 | codeReplace
		}
	}
	var o outcome
	for _, x := range list {
		o.capture = o.capture || x.capture
		if x.n < 0 {
			o.unknown = true
			continue
		}
		a := alternative{n: x.n}
		copy(a.frames[:], e.frames[x.off:x.off+int32(x.n)])
		if !slices.Contains(o.alts, a) {
			o.alts = append(o.alts, a)
		}
	}
	t.outcomes = append(t.outcomes, o)
	return int32(len(t.outcomes)-1)<<2 | codeGeneral
}

func (t *tables) lookup(f Frame, fi *frameInfo, b byte) int32 {
	if fi.dense != 0 {
		code := &t.dense.row(fi.dense - 1)[b]
		if *code == codeLater {
			*code = t.later(f, b)
		}
		return *code
	}
	off := fi.off
	for i, r := range t.ranges[off : off+int32(fi.n)] {
		if b <= r.hi {
			if b < r.lo {
				return codeNone
			}
			if r.code == codeLater {
				r.code = t.later(f, b)
				t.ranges[off+int32(i)].code = r.code
			}
			return r.code
		}
	}
	return codeNone
}

// later computes the code of an edge that [Edges.Later] recorded.
func (t *tables) later(f Frame, b byte) int32 {
	e := &t.edges
	e.reset()
	t.src.ExpandByte(f, b, e)
	if len(e.list) == 0 {
		return codeNone
	}
	return t.code(e, e.list)
}

// config returns the configuration of the given stacks, which it sorts.
func (t *tables) config(stacks []int32) int32 {
	switch len(stacks) {
	case 0:
		return dead
	case 1:
		return stacks[0] << 1
	}
	slices.Sort(stacks)
	t.work += len(stacks)
	stacks = t.join(slices.Compact(stacks))
	if len(stacks) == 1 {
		return stacks[0] << 1
	}
	if len(stacks) > t.limits.Threads {
		t.fail(&LimitError{Limit: "threads", Max: t.limits.Threads})
		return dead
	}
	h := uint64(len(stacks))
	for _, s := range stacks {
		h = (h ^ uint64(s)) * 0x9E3779B97F4A7C15
		h ^= h >> 29
	}
	for _, i := range t.setIndex[h] {
		if slices.Equal(t.setItems[t.setOff[i]:t.setOff[i+1]], stacks) {
			return i<<1 | 1
		}
	}
	i := int32(len(t.setOff) - 1)
	t.setItems = append(t.setItems, stacks...)
	t.setOff = append(t.setOff, int32(len(t.setItems)))
	t.setRow = append(t.setRow, 0)
	t.setIndex[h] = append(t.setIndex[h], i)
	return i<<1 | 1
}

// join merges stacks with the same frame on top.
func (t *tables) join(stacks []int32) []int32 {
	twice := len(stacks) > 8 // then sorting is cheaper than comparing all
	for i, s := range stacks {
		for _, o := range stacks[:min(i, 8)] {
			twice = twice || t.stackFrame[s] == t.stackFrame[o]
		}
	}
	if !twice {
		return stacks
	}
	slices.SortFunc(stacks, func(a, b int32) int { return int(t.stackFrame[a]) - int(t.stackFrame[b]) })
	out := stacks[:0]
	for i := 0; i < len(stacks); {
		f := t.stackFrame[stacks[i]]
		end := i + 1
		for end < len(stacks) && t.stackFrame[stacks[end]] == f {
			end++
		}
		s := stacks[i]
		if end > i+1 {
			var parents []int32
			for _, x := range stacks[i:end] {
				parents = t.appendStacks(parents, t.stackParent[x])
			}
			s = t.push(f, t.config(parents))
		}
		out = append(out, s)
		i = end
	}
	slices.Sort(out)
	return out
}

// items returns the index of the first stack of configuration c, for item, and the
// number of stacks. Unlike a slice, an index stays valid while sets are added.
func (t *tables) items(c int32) (from, n int32) {
	switch {
	case c < 0:
		return 0, 0
	case c&1 == 0:
		return 0, 1
	}
	from = t.setOff[c>>1]
	return from, t.setOff[c>>1+1] - from
}

func (t *tables) item(c, i int32) int32 {
	if c&1 == 0 {
		return c >> 1
	}
	return t.setItems[i]
}

// appendStacks appends the stacks of configuration c.
func (t *tables) appendStacks(out []int32, c int32) []int32 {
	for i, n := t.items(c); n > 0; i, n = i+1, n-1 {
		out = append(out, t.item(c, i))
	}
	return out
}

// stacks calls yield for each stack of c, until it returns false.
func (t *tables) stacks(c int32, yield func(s int32) bool) bool {
	for i, n := t.items(c); n > 0; i, n = i+1, n-1 {
		if !yield(t.item(c, i)) {
			return false
		}
	}
	return true
}

// reading calls yield for each stack whose top frame may read the next byte: the
// stacks of c, and those below a top frame that may end.
func (t *tables) reading(c int32, yield func(s int32) bool) bool {
	t.begin()
	return t.readingOn(c, yield, deep)
}

// deep is how many frames that may end are followed by recursion.
const deep = 1 << 12

func (t *tables) readingOn(c int32, yield func(s int32) bool, room int) bool {
	if room == 0 {
		return readingDeep(t, c, yield)
	}
	for i, n := t.items(c); n > 0; i, n = i+1, n-1 {
		s := t.item(c, i)
		if !t.meet(s) {
			continue
		}
		if !yield(s) || s > anyStack && t.frame(t.stackFrame[s]).mayPop && !t.readingOn(t.stackParent[s], yield, room-1) {
			return false
		}
	}
	return true
}

// readingDeep is readingOn without recursion, in the same order: stacks may be millions of frames deep.
func readingDeep(t *tables, c int32, yield func(s int32) bool) bool {
	type level struct{ c, i, n int32 }
	first := level{c: c}
	first.i, first.n = t.items(c)
	for todo := []level{first}; len(todo) > 0; {
		l := &todo[len(todo)-1]
		if l.n == 0 {
			todo = todo[:len(todo)-1]
			continue
		}
		s := t.item(l.c, l.i)
		l.i, l.n = l.i+1, l.n-1
		if !t.meet(s) {
			continue
		}
		if !yield(s) {
			return false
		}
		if s > anyStack && t.frame(t.stackFrame[s]).mayPop {
			below := level{c: t.stackParent[s]}
			below.i, below.n = t.items(below.c)
			todo = append(todo, below)
		}
	}
	return true
}

// accepting reports whether the text may end in c.
func (t *tables) accepting(c int32) bool {
	return !t.reading(c, func(s int32) bool { return s != 0 })
}

// live adds to set the bytes that may follow c.
func (t *tables) live(c int32, set *[4]uint64) {
	t.reading(c, func(s int32) bool {
		if s <= anyStack {
			return true
		}
		fi := t.frame(t.stackFrame[s])
		for _, r := range t.ranges[fi.off : fi.off+int32(fi.n)] {
			for b := int(r.lo); b <= int(r.hi); b++ {
				set[b>>6] |= 1 << (b & 63)
			}
		}
		return true
	})
}

// cheapest returns the stack of c with the shortest completion, and the length of
// that completion; -1 and -1 if c has no stacks.
func (t *tables) cheapest(c int32) (best, cost int32) {
	best, cost = -1, -1
	t.stacks(c, func(s int32) bool {
		if n := t.cost(s); cost < 0 || n < cost {
			best, cost = s, n
		}
		return true
	})
	return best, cost
}

// endless is the cost of a stack without a known completion.
const endless = 1 << 30

// cost returns the length of a shortest text that completes stack s. It doesn't recurse: stacks may be millions of frames deep.
func (t *tables) cost(s int32) int32 {
	if t.stackCost[s] >= 0 {
		return t.stackCost[s]
	}
	for todo := []int32{s}; len(todo) > 0; {
		top := todo[len(todo)-1]
		known := len(todo)
		if t.stackCost[top] < 0 {
			t.stacks(t.stackParent[top], func(below int32) bool {
				if t.stackCost[below] < 0 {
					todo = append(todo, below)
				}
				return true
			})
		}
		if len(todo) > known {
			continue // these first
		}
		todo = todo[:known-1]
		if t.stackCost[top] >= 0 {
			continue // it was there twice
		}
		_, below := t.cheapest(t.stackParent[top])
		rest := t.src.Finish(t.stackFrame[top])
		t.stackCost[top] = below + int32(len(rest))
		if rest == nil && !t.frame(t.stackFrame[top]).mayPop || below >= endless {
			t.stackCost[top] = endless
		}
	}
	return t.stackCost[s]
}
