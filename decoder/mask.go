package decoder

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/stencil-json/stencil/vocab"
)

// A Mask is the set of tokens that may come next: a base set, shared by many masks,
// and a list of further tokens. Most masks contain either nearly all tokens (inside
// a string) or very few (between values); neither kind needs a set of its own over
// the whole vocabulary. A Mask is immutable and safe for concurrent use.
type Mask struct {
	base  vocab.Bitset
	extra []int32 // not in base, no duplicates
	eog   bool
}

// Has reports whether token tok may come next.
func (m *Mask) Has(tok int32) bool {
	if tok < 0 {
		return false
	}
	if m.base != nil && int(tok) < len(m.base)<<6 && m.base.Has(tok) {
		return true
	}
	return slices.Contains(m.extra, tok)
}

// Len returns the number of allowed tokens. If there is a base set, it counts bits.
func (m *Mask) Len() int { return m.base.Count() + len(m.extra) }

// EOG reports whether the end-of-generation tokens are allowed.
func (m *Mask) EOG() bool { return m.eog }

// Parts returns the two parts of the mask: the allowed tokens are those of base,
// which may be nil, and those of extra; no token is in both. The caller must not
// modify either.
func (m *Mask) Parts() (base vocab.Bitset, extra []int32) { return m.base, m.extra }

// Fill overwrites dst, a set over the whole vocabulary, with the mask.
func (m *Mask) Fill(dst vocab.Bitset) {
	if m.base != nil {
		copy(dst, m.base)
	} else {
		clear(dst)
	}
	for _, t := range m.extra {
		dst.Set(t)
	}
}

// AppendTokens appends the allowed tokens to dst in ascending order.
func (m *Mask) AppendTokens(dst []int32) []int32 {
	n := len(dst)
	if m.base != nil {
		dst = m.base.AppendTo(dst)
	}
	dst = append(dst, m.extra...)
	slices.Sort(dst[n:])
	return dst
}

// sparseLimit is the number of extra tokens above which a mask gets a set of its
// own: for 128k tokens, the set is then smaller than the list.
const sparseLimit = 4096

// maskBuilder computes masks over one automaton. It is scratch space, used
// under the grammar's lock.
type maskBuilder struct {
	t     *tables
	v     *vocab.Vocab
	trie  *vocab.Trie
	base  vocab.Bitset // union of the bases so far; shared while owned is false
	owned bool
	twice bool // extra may hold a token twice
	*scratch

	locals map[localKey]*local
	into   *local // the one being computed, or nil
	size   int    // bytes held by locals

	slab []int32 // the rest of a block of memory for lists of finished masks
	room int     // the initial length of slab
}

// scratch is the memory that computing a mask takes, whatever the grammar.
type scratch struct {
	levels [][]int32 // states of the current walks, which can nest
	extra  []int32
	ended  []int32      // stacks already visited because the frame above may end
	doubts []int32      // tokens to check one by one
	seen   vocab.Bitset // empty between uses
}

// scratches has those not in use. One is lost where a panic ends a mask.
var scratches = sync.Pool{New: func() any { return &scratch{} }}

func newMaskBuilder(t *tables, v *vocab.Vocab) *maskBuilder {
	trie := v.Trie()
	return &maskBuilder{t: t, v: v, trie: trie, locals: map[localKey]*local{}}
}

// computed is the mask of a configuration, except for tokens in doubt: whether these
// are allowed depends on the text.
type computed struct {
	mask   Mask
	doubts []int32 // not in mask
}

// masks is the computed masks of a grammar, by configuration.
type masks struct {
	at    [2][]int32 // by c&1 and c>>1: 1 + the number of the mask, or 0
	pages []*[masksPerPage]computed
	n     int
	size  int // bytes of lists
}

// masksPerPage is chosen for pages of less than 1 KiB.
const masksPerPage = 8

// find returns the mask of configuration c, nil if it has not been computed.
func (m *masks) find(c int32) *computed {
	at := m.at[c&1]
	if int(c>>1) >= len(at) || at[c>>1] == 0 {
		return nil
	}
	i := at[c>>1] - 1
	return &m.pages[i/masksPerPage][i%masksPerPage]
}

// add adds an empty mask for configuration c, which must not have one.
func (m *masks) add(c int32) *computed {
	at := &m.at[c&1]
	if n := int(c>>1) + 1; n > len(*at) {
		longer := make([]int32, max(n, 2*len(*at), 64))
		copy(longer, *at)
		*at = longer
	}
	if m.n%masksPerPage == 0 {
		m.pages = append(m.pages, new([masksPerPage]computed))
	}
	m.n++
	(*at)[c>>1] = int32(m.n)
	return m.find(c)
}

func (m *masks) bytes() int {
	return m.size + 4*len(m.at[0]) + 4*len(m.at[1]) + len(m.pages)*masksPerPage*80
}

// keepList returns an immutable copy of a list. Short lists share blocks of memory.
func (w *maskBuilder) keepList(list []int32) []int32 {
	n := len(list)
	if n == 0 {
		return nil
	}
	if n > len(w.slab) {
		if n > largeList {
			return slices.Clone(list)
		}
		w.room = max(smallSlab, min(2*w.room, 8*largeList))
		w.slab = make([]int32, max(n, w.room))
	}
	out := w.slab[:n:n]
	w.slab = w.slab[n:]
	copy(out, list)
	return out
}

const (
	largeList = 512 // lists longer than this get memory of their own
	smallSlab = 512
)

// with returns the mask with further tokens.
func (m *Mask) with(tokens []int32) *Mask {
	if len(tokens) == 0 {
		return m
	}
	return &Mask{base: m.base, extra: append(slices.Clip(m.extra), tokens...), eog: m.eog}
}

// build computes the mask of configuration c and adds it to m. It returns nil if a
// limit was exceeded.
func (w *maskBuilder) build(c int32, m *masks) *computed {
	w.scratch = scratches.Get().(*scratch)
	w.extra, w.base, w.owned, w.twice, w.doubts, w.ended = w.extra[:0], nil, false, false, w.doubts[:0], w.ended[:0]
	w.t.work = 0
	parts := 0
	w.t.stacks(c, func(s int32) bool {
		parts++
		w.stack(s)
		return w.t.err == nil
	})
	if w.t.tokens != nil {
		w.tokenEdges(c)
	}
	eog := w.t.accepting(c)
	if eog {
		w.extra = append(w.extra, w.v.EOG()...)
	}
	if parts > 1 || w.twice || len(w.doubts) > 0 {
		w.dedupe()
	}
	if len(w.extra) > sparseLimit {
		w.own()
		for _, t := range w.extra {
			w.base.Set(t)
		}
		w.extra = w.extra[:0]
	}
	defer func() {
		scratches.Put(w.scratch)
		w.scratch, w.base = nil, nil
	}()
	if w.t.err != nil || w.t.src.Err() != nil {
		return nil
	}
	out := m.add(c)
	out.mask = Mask{base: w.base, extra: w.keepList(w.extra), eog: eog}
	out.doubts = w.keepList(w.doubts)
	m.size += 4 * (len(w.extra) + len(w.doubts))
	if w.owned {
		m.size += 8 * len(w.base)
	}
	return out
}

// dedupe removes duplicates and the tokens of base from extra, and from doubts the
// tokens that are allowed anyway.
func (w *maskBuilder) dedupe() {
	if len(w.seen)<<6 < w.v.Len() {
		w.seen = vocab.NewBitset(w.v.Len())
	}
	once := func(list []int32) []int32 {
		keep := list[:0]
		for _, t := range list {
			if !w.seen.Has(t) && (w.base == nil || !w.base.Has(t)) {
				w.seen.Set(t)
				keep = append(keep, t)
			}
		}
		return keep
	}
	w.extra = once(w.extra)
	w.doubts = once(w.doubts)
	for _, t := range w.extra {
		w.seen.Clear(t)
	}
	for _, t := range w.doubts {
		w.seen.Clear(t)
	}
}

func (w *maskBuilder) own() {
	if w.owned {
		return
	}
	own := vocab.NewBitset(w.v.Len())
	copy(own, w.base)
	w.base, w.owned = own, true
}

func (w *maskBuilder) addBase(b vocab.Bitset) {
	if w.base == nil {
		w.base = b
		return
	}
	if &w.base[0] == &b[0] {
		return
	}
	w.own()
	w.base.Or(b)
}

// stack adds the tokens that stack s allows.
func (w *maskBuilder) stack(s int32) {
	if s > anyStack && !w.commonStack(s) {
		w.onStack(s)
	}
}

func (w *maskBuilder) onStack(s int32) {
	f := w.t.stackFrame[s]
	p := w.t.src.Prepare(f, w.v)
	if p == nil {
		var first [4]uint64
		w.t.live(s<<1, &first)
		w.roots(s<<1, &first)
		return
	}
	w.twice = w.twice || p.Overlap
	if p.Base != nil {
		w.addBase(p.Base)
	}
	w.keepAll(nil, p.Extra, false)
	w.exits(p, s, nil)
	if p.Parent {
		w.t.stacks(w.t.stackParent[s], func(s int32) bool {
			if !slices.Contains(w.ended, s) {
				w.twice = w.twice || len(w.ended) > 0
				w.ended = append(w.ended, s)
				w.stack(s)
			}
			return w.t.err == nil
		})
	}
	if p.WalkRest {
		var first [4]uint64
		w.t.live(s<<1, &first)
		if p.Skip != nil {
			for i := range first {
				first[i] &^= p.Skip[i]
			}
		}
		w.roots(s<<1, &first)
	}
}

// origin maps the values of a trie to tokens: nil if the values are tokens, else
// the exit that the trie belongs to, whose tokens are in turn mapped by up.
type origin struct {
	x  *Exit
	up *origin
}

// exits adds the tokens of the exits of p from stack s.
func (w *maskBuilder) exits(p *Prepared, s int32, up *origin) {
	for i := range p.Exits {
		x := &p.Exits[i]
		from := &origin{x, up}
		next := w.t.pushAll(x.Frames, w.t.stackParent[s])
		if x.Few != nil {
			for _, v := range x.Few {
				w.rest(x.Rests[v], next, from, v)
			}
			continue
		}
		if next != 0 && x.Trie != nil && x.Trie.Len() > 0 {
			w.left(x.Trie, -1, next, from)
			w.below(x.Trie, -1, next, from)
		}
		w.keepAll(from, x.Bare, false)
	}
}

// rest adds the token of value v if text may follow configuration c.
func (w *maskBuilder) rest(text []byte, c int32, from *origin, v int32) {
	mode := stepMode{}
	for i, b := range text {
		if w.into != nil && w.leaves(c) {
			w.into.leaves = append(w.into.leaves, leave{from: from, text: text[i:], value: v})
		}
		if c = w.t.step(c, b, &mode); c == dead || mode.doubt {
			break
		}
	}
	if c != dead || mode.doubt {
		w.keep(from, v, mode.doubt)
	}
}

// keep adds the token of value v.
func (w *maskBuilder) keep(from *origin, v int32, doubt bool) {
	for ; from != nil; from = from.up {
		x := from.x
		if x.Only != nil && !x.Only.Has(v) {
			return
		}
		if x.Tokens != nil {
			v = x.Tokens[v]
		}
		doubt = doubt || x.Doubt
	}
	switch {
	case doubt && w.into != nil:
		w.into.doubts = append(w.into.doubts, v)
	case doubt:
		w.doubts = append(w.doubts, v)
	case w.into != nil:
		w.into.values = append(w.into.values, v)
	default:
		w.extra = append(w.extra, v)
	}
}

// keepAll adds the tokens of values.
func (w *maskBuilder) keepAll(from *origin, values []int32, doubt bool) {
	if from != nil && from.up != nil {
		for _, v := range values {
			w.keep(from, v, doubt)
		}
		return
	}
	var only vocab.Bitset
	var tokens []int32
	if from != nil {
		only, tokens, doubt = from.x.Only, from.x.Tokens, doubt || from.x.Doubt
	}
	to := &w.extra
	switch {
	case doubt && w.into != nil:
		to = &w.into.doubts
	case doubt:
		to = &w.doubts
	case w.into != nil:
		to = &w.into.values
	}
	if only == nil && tokens == nil {
		*to = append(*to, values...)
		return
	}
	list := *to
	for _, v := range values {
		if only != nil && !only.Has(v) {
			continue
		}
		if tokens != nil {
			v = tokens[v]
		}
		list = append(list, v)
	}
	*to = list
}

// roots walks the subtrees of the vocabulary trie that begin with the given bytes,
// from configuration c.
func (w *maskBuilder) roots(c int32, first *[4]uint64) {
	w.walkRoots(w.trie, c, first, nil)
}

func (w *maskBuilder) walkRoots(trie *vocab.Trie, c int32, first *[4]uint64, from *origin) {
	states := w.level(trie)
	for i, word := range first {
		for word != 0 {
			b := i<<6 + bits.TrailingZeros64(word)
			word &= word - 1
			if node := trie.Child[b]; node >= 0 {
				w.walk(trie, node, c, from, states)
			}
		}
	}
	w.levels = w.levels[:len(w.levels)-1]
}

// level returns memory for the states of one more nested walk.
func (w *maskBuilder) level(trie *vocab.Trie) []int32 {
	n := len(w.levels)
	if cap(w.levels) > n {
		w.levels = w.levels[:n+1]
	} else {
		w.levels = append(w.levels, nil)
	}
	if len(w.levels[n]) < trie.Depth+1 {
		w.levels[n] = make([]int32, max(trie.Depth, w.trie.Depth)+1)
	}
	return w.levels[n]
}

// largeTree is the number of nodes above which walk tries shortcuts for a subtree:
// a local, or PrepareAt of the source.
const largeTree = 24

// walk visits the subtree at node, whose parent was reached in configuration c, and
// adds the tokens of every node that can be reached. It is the hot loop: about one
// table look-up per node once the steps are cached.
func (w *maskBuilder) walk(trie *vocab.Trie, node, c int32, from *origin, states []int32) {
	t := w.t
	nodes := trie.Nodes
	end := nodes[node].End
	base := nodes[node].Depth - 1
	states[0] = c
	mode := stepMode{}
	for i := node; i < end && t.err == nil; {
		t.meter.Step(1)
		n := &nodes[i]
		d := n.Depth - base
		next := t.step(states[d-1], n.Byte, &mode)
		if mode.doubt {
			mode.doubt = false
			w.keepAll(from, trie.Tokens[n.First:nodes[n.End].First], true)
			i = n.End
			continue
		}
		if next == dead {
			i = n.End
			continue
		}
		states[d] = next
		if i+1 < n.End { // else nothing is left to read, and asking whether the frame may end would expand it
			w.left(trie, i, next, from)
		}
		if first, last := n.First, nodes[i+1].First; first != last {
			w.keepAll(from, trie.Tokens[first:last], false)
		}
		if n.End-i > largeTree && (w.common(trie, i, next, from) || w.prepared(trie, i, next, from)) {
			i = n.End
			continue
		}
		i++
	}
}

// prepared adds the values below a node that was reached in configuration c, as the
// source has prepared them. It returns false, having added nothing, unless the
// source covers all stacks of c.
func (w *maskBuilder) prepared(trie *vocab.Trie, node, c int32, from *origin) bool {
	t := w.t
	at, n := t.items(c)
	var one [1]*Prepared
	list := one[:0]
	for i := at; i < at+n; i++ {
		s := t.item(c, i)
		if s <= anyStack {
			return false
		}
		p := t.src.PrepareAt(t.stackFrame[s], w.v, trie, node)
		if p == nil {
			return false
		}
		list = append(list, p)
	}
	for i, p := range list {
		w.twice = w.twice || p.Overlap || n > 1
		w.keepAll(from, p.Extra, false)
		w.exits(p, t.item(c, at+int32(i)), from)
	}
	return true
}
