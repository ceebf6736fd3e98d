package decoder

import (
	"math/bits"
	"slices"

	"stencil/vocab"
)

// A Mask is the set of tokens that may come next: a base set, shared between
// many masks, and a few more. Most masks are either nearly everything (the
// inside of a string) or nearly nothing (between values), so that neither
// kind is ever written out over the whole vocabulary. A Mask is immutable
// and safe for concurrent use.
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

// Len returns the number of allowed tokens. With a base it counts bits.
func (m *Mask) Len() int { return m.base.Count() + len(m.extra) }

// EOG reports whether the end-of-generation tokens are allowed.
func (m *Mask) EOG() bool { return m.eog }

// Parts returns the mask as it is kept: the allowed tokens are those of
// base, which may be nil, and those of extra; none is in both. The caller
// must not change either.
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

// sparseLimit is the number of extra tokens from which a set of its own is
// written: then the set is smaller than the list for 128k tokens.
const sparseLimit = 4096

// maskBuilder computes masks over one automaton. It is scratch space, used
// under the grammar's lock.
type maskBuilder struct {
	t      *tables
	v      *vocab.Vocab
	trie   *vocab.Trie
	levels [][]int32 // states of the walks under way, which can nest
	extra  []int32
	base   vocab.Bitset // union of the bases so far; shared while owned is false
	owned  bool
	twice  bool    // extra may hold a token twice
	ended  []int32 // stacks whose top has ended above
	doubts []int32 // tokens to be checked one by one
	seen   vocab.Bitset

	locals map[localKey]*local
	into   *local // that is being worked out, or nil
	size   int    // bytes held by locals

	slab []int32 // what is left of the room for lists of finished masks
	room int     // its size when it was made
}

func newMaskBuilder(t *tables, v *vocab.Vocab) *maskBuilder {
	trie := v.Trie()
	return &maskBuilder{t: t, v: v, trie: trie, locals: map[localKey]*local{}}
}

// A computed mask belongs to a configuration. Whether the tokens in doubt are
// allowed as well depends on the text.
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

// masksPerPage is chosen for pages of about 2 KiB.
const masksPerPage = 24

// find returns the mask of configuration c, nil if it isn't known.
func (m *masks) find(c int32) *computed {
	at := m.at[c&1]
	if int(c>>1) >= len(at) || at[c>>1] == 0 {
		return nil
	}
	i := at[c>>1] - 1
	return &m.pages[i/masksPerPage][i%masksPerPage]
}

// add returns the place for a mask of configuration c, which hasn't one.
func (m *masks) add(c int32) *computed {
	at := &m.at[c&1]
	if n := int(c>>1) + 1; n > len(*at) {
		longer := make([]int32, max(n, 2*len(*at), 256))
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

// keepList returns a copy of a list that will never change. Many share one
// block of memory.
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
	largeList = 512 // the length from which a list has memory of its own
	smallSlab = 512
)

// with returns the mask with further tokens.
func (m *Mask) with(tokens []int32) *Mask {
	if len(tokens) == 0 {
		return m
	}
	return &Mask{base: m.base, extra: append(slices.Clip(m.extra), tokens...), eog: m.eog}
}

// build computes the mask of configuration c and puts it into m. It is not
// kept if a limit was exceeded.
func (w *maskBuilder) build(c int32, m *masks) *computed {
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
	w.base = nil
	return out
}

// dedupe removes from extra what is in base or there twice, and from the
// tokens in doubt those that there is no doubt about.
func (w *maskBuilder) dedupe() {
	if w.seen == nil {
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

// origin says what the values of a trie stand for: nil for tokens, else
// values of an exit, whose own values may be those of another trie.
type origin struct {
	x  *Exit
	up *origin
}

// exits adds the tokens that leave the top of stack s in prepared ways.
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

// rest adds the token that value v stands for if text may follow
// configuration c.
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

// keep adds the token that value v stands for.
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

// keepAll adds the tokens that values stand for.
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

// roots walks the vocabulary from configuration c, below the first bytes
// given.
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

// level returns room for the states of one more walk.
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

// largeTree is the number of nodes from which a sub-tree is worth asking the
// source about.
const largeTree = 24

// walk visits the sub-tree at node, whose parent was reached in
// configuration c, and adds the tokens of every node that is alive. It is
// the hot loop: about one table look-up a node when the steps are known.
func (w *maskBuilder) walk(trie *vocab.Trie, node, c int32, from *origin, states []int32) {
	t := w.t
	nodes := trie.Nodes
	end := nodes[node].End
	base := nodes[node].Depth - 1
	states[0] = c
	mode := stepMode{}
	for i := node; i < end && t.err == nil; {
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
		w.left(trie, i, next, from)
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

// prepared adds what the source says about the values below a node that was
// reached in configuration c. It does nothing if that doesn't cover all of
// its stacks.
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
