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
	n     int
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

// Len returns the number of allowed tokens.
func (m *Mask) Len() int { return m.n }

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

// bytes returns the memory that belongs to the mask alone, approximately.
func (m *Mask) bytes() int { return 64 + 4*cap(m.extra) }

// sparseLimit is the number of extra tokens from which a set of its own is
// written: then the set is smaller than the list for 128k tokens.
const sparseLimit = 4096

// maskBuilder computes masks over one automaton. It is scratch space, used
// under the grammar's lock.
type maskBuilder struct {
	t      *tables
	v      *vocab.Vocab
	trie   *vocab.Trie
	states []int32
	extra  []int32
	base   vocab.Bitset // union of the bases so far; shared while owned is false
	owned  bool
	twice  bool    // extra may hold a token twice
	doubts []int32 // tokens to be checked one by one
	seen   vocab.Bitset
	found  []int32
}

func newMaskBuilder(t *tables, v *vocab.Vocab) *maskBuilder {
	trie := v.Trie()
	return &maskBuilder{t: t, v: v, trie: trie, states: make([]int32, trie.Depth+2)}
}

// build computes the mask of configuration c. certain is false when the mask
// holds for the present text only; check decides tokens in doubt.
func (w *maskBuilder) build(c int32, check func(tok int32) bool) (m *Mask, certain bool) {
	w.extra, w.base, w.owned, w.twice, w.doubts = w.extra[:0], nil, false, false, w.doubts[:0]
	parts := 0
	w.t.stacks(c, func(s int32) bool {
		parts++
		w.stack(s)
		return w.t.err == nil
	})
	certain = len(w.doubts) == 0
	if !certain {
		slices.Sort(w.doubts)
		w.doubts = slices.Compact(w.doubts)
		for _, tok := range w.doubts {
			if check(tok) {
				w.extra = append(w.extra, tok)
			}
		}
	}
	m = &Mask{}
	if w.t.accepting(c) {
		m.eog = true
		w.extra = append(w.extra, w.v.EOG()...)
	}
	if parts > 1 || !certain || w.twice {
		w.dedupe()
	}
	if len(w.extra) > sparseLimit {
		w.own()
		for _, t := range w.extra {
			w.base.Set(t)
		}
		w.extra = w.extra[:0]
	}
	m.base = w.base
	m.extra = slices.Clone(w.extra)
	m.n = len(m.extra)
	for _, x := range m.base {
		m.n += bits.OnesCount64(x)
	}
	w.base = nil
	return m, certain
}

// dedupe removes from extra what is in base or there twice.
func (w *maskBuilder) dedupe() {
	if w.seen == nil {
		w.seen = vocab.NewBitset(w.v.Len())
	}
	keep := w.extra[:0]
	for _, t := range w.extra {
		if !w.seen.Has(t) && (w.base == nil || !w.base.Has(t)) {
			w.seen.Set(t)
			keep = append(keep, t)
		}
	}
	w.extra = keep
	for _, t := range keep {
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
	if s == 0 {
		return
	}
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
	w.extra = append(w.extra, p.Extra...)
	for i := range p.Exits {
		x := &p.Exits[i]
		next := w.t.pushAll(x.Frames, w.t.stackParent[s])
		w.found = w.found[:0]
		if next != 0 && x.Trie != nil {
			var first [4]uint64
			w.t.live(next<<1, &first)
			w.walkRoots(x.Trie, next<<1, &first, x)
		}
		w.keep(x, x.Bare)
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

// keep adds the tokens of an exit's values.
func (w *maskBuilder) keep(x *Exit, values []int32) {
	for _, v := range values {
		if x.Only != nil && !x.Only.Has(v) {
			continue
		}
		if x.Tokens != nil {
			v = x.Tokens[v]
		}
		if x.Doubt {
			w.doubts = append(w.doubts, v)
		} else {
			w.extra = append(w.extra, v)
		}
	}
}

// roots walks the vocabulary from configuration c, below the first bytes
// given.
func (w *maskBuilder) roots(c int32, first *[4]uint64) {
	w.walkRoots(w.trie, c, first, nil)
}

func (w *maskBuilder) walkRoots(trie *vocab.Trie, c int32, first *[4]uint64, x *Exit) {
	for i, word := range first {
		for word != 0 {
			b := i<<6 + bits.TrailingZeros64(word)
			word &= word - 1
			if node := trie.Child[b]; node >= 0 {
				w.walk(trie, node, c, x)
			}
		}
	}
}

// walk visits the sub-tree at node, whose parent was reached in
// configuration c, and adds the tokens of every node that is alive. It is
// the hot loop: about one table look-up a node when the steps are known.
func (w *maskBuilder) walk(trie *vocab.Trie, node, c int32, x *Exit) {
	t := w.t
	nodes := trie.Nodes
	end := nodes[node].End
	base := nodes[node].Depth - 1
	states := w.states
	states[0] = c
	mode := stepMode{}
	for i := node; i < end; {
		n := &nodes[i]
		d := n.Depth - base
		next := t.step(states[d-1], n.Byte, &mode)
		if mode.doubt {
			mode.doubt = false
			w.doubt(trie, i, x)
			i = n.End
			continue
		}
		if next == dead {
			i = n.End
			continue
		}
		states[d] = next
		if first, last := n.First, nodes[i+1].First; first != last {
			if x == nil {
				w.extra = append(w.extra, trie.Tokens[first:last]...)
			} else {
				w.keep(x, trie.Tokens[first:last])
			}
		}
		i++
	}
}

// doubt marks all tokens of the sub-tree at node.
func (w *maskBuilder) doubt(trie *vocab.Trie, node int32, x *Exit) {
	for _, v := range trie.Tokens[trie.Nodes[node].First:trie.Nodes[trie.Nodes[node].End].First] {
		if x != nil {
			if x.Only != nil && !x.Only.Has(v) {
				continue
			}
			if x.Tokens != nil {
				v = x.Tokens[v]
			}
		}
		w.doubts = append(w.doubts, v)
	}
}
