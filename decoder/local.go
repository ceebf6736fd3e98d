package decoder

import "github.com/stencil-json/stencil/vocab"

// A local is the part of a mask that depends on the top frame only, not on the stack
// below it: the effect of a subtree of a trie on that frame. Masks after values of
// the same kind, or before the colons of an object, differ in little but the stack
// below, so they share their local.
type local struct {
	values []int32 // values that end within the frame or at its end
	doubts []int32 // values to check one by one
	twice  bool    // values may contain duplicates
	leaves []leave
}

// leave is a place where the frame has ended and the stack below reads the rest: the
// children of a node, or the rest of the text of a value.
type leave struct {
	trie  *vocab.Trie
	node  int32 // -1: before the roots
	from  *origin
	text  []byte
	value int32
}

type localKey struct {
	trie  *vocab.Trie // nil: all tokens
	node  int32
	frame Frame
}

func (w *maskBuilder) forget() {
	clear(w.locals)
	w.size, w.slab, w.room = 0, nil, 0
}

// common adds the values below a node that was reached in configuration c, if c is a
// single stack with a common frame on top. Otherwise it returns false.
func (w *maskBuilder) common(trie *vocab.Trie, node, c int32, from *origin) bool {
	t := w.t
	if c&1 != 0 || c>>1 <= anyStack {
		return false
	}
	f := t.stackFrame[c>>1]
	if !t.frame(f).common {
		return false
	}
	w.replay(w.local(trie, node, f), trie, node, t.stackParent[c>>1], from)
	return true
}

// commonStack adds the tokens that stack s allows if the frame on top is common and
// its local is not better described by a prepared set. Otherwise it returns false.
func (w *maskBuilder) commonStack(s int32) bool {
	t := w.t
	f := t.stackFrame[s]
	if !t.frame(f).common {
		return false
	}
	key := localKey{nil, 0, f}
	l, ok := w.locals[key]
	if !ok {
		if p := t.src.Prepare(f, w.v); p == nil || p.Base == nil && !p.Parent {
			l = w.workOut(key, func(c int32) { w.onStack(c >> 1) })
		} else {
			w.locals[key] = nil
		}
	}
	if l == nil {
		return false
	}
	w.replay(l, nil, 0, t.stackParent[s], nil)
	return true
}

// replay adds the values of a local, for a frame on parent.
func (w *maskBuilder) replay(l *local, trie *vocab.Trie, node, parent int32, from *origin) {
	w.keepAll(from, l.values, false)
	w.keepAll(from, l.doubts, true)
	w.twice = w.twice || l.twice
	for _, x := range l.leaves {
		from := x.from.under(from)
		switch {
		case x.trie == nil:
			w.rest(x.text, parent, from, x.value)
		case x.trie == trie && x.node == node && x.from == nil:
			// The caller has already recorded an exit at this node.
			w.below(trie, node, parent, from)
		default:
			w.left(x.trie, x.node, parent, from)
			w.below(x.trie, x.node, parent, from)
		}
	}
}

// under returns the origin o with up appended to its chain.
func (o *origin) under(up *origin) *origin {
	if o == nil {
		return up
	}
	return &origin{o.x, o.up.under(up)}
}

// local returns the local of frame f for the subtree below a node; -1: the whole
// trie.
func (w *maskBuilder) local(trie *vocab.Trie, node int32, f Frame) *local {
	key := localKey{trie, node, f}
	if l, ok := w.locals[key]; ok {
		return l
	}
	return w.workOut(key, func(c int32) {
		w.left(trie, node, c, nil)
		w.walkBelow(trie, node, c, nil)
	})
}

// workOut computes a local: walk runs with the key's frame on anyStack.
func (w *maskBuilder) workOut(key localKey, walk func(c int32)) *local {
	l := &local{}
	outer, twice := w.into, w.twice
	w.into, w.twice = l, false
	walk(w.t.push(key.frame, anyStack<<1) << 1)
	l.twice = w.twice
	w.into, w.twice = outer, twice
	w.locals[key] = l
	w.size += 160 + 4*cap(l.values) + 4*cap(l.doubts) + 64*cap(l.leaves)
	return l
}

// leaves reports whether, in configuration c, the frame of the local being computed
// may have ended, so that the stack below reads on.
func (w *maskBuilder) leaves(c int32) bool {
	for c >= 0 && c&1 == 0 {
		s := c >> 1
		if s == anyStack {
			return true
		}
		if s == 0 || !w.t.frame(w.t.stackFrame[s]).mayPop {
			return false
		}
		c = w.t.stackParent[s]
	}
	return !w.t.reading(c, func(s int32) bool { return s != anyStack })
}

// left records, while a local is being computed, that its frame has ended at a node
// reached in configuration c, if it has.
func (w *maskBuilder) left(trie *vocab.Trie, node, c int32, from *origin) {
	if w.into != nil && w.leaves(c) {
		w.into.leaves = append(w.into.leaves, leave{trie: trie, node: node, from: from})
	}
}

// below adds the values below a node that was reached in configuration c.
func (w *maskBuilder) below(trie *vocab.Trie, node, c int32, from *origin) {
	if !w.common(trie, node, c, from) {
		w.walkBelow(trie, node, c, from)
	}
}

// walkBelow is below without the shortcut for common frames.
func (w *maskBuilder) walkBelow(trie *vocab.Trie, node, c int32, from *origin) {
	var first [4]uint64
	w.t.live(c, &first)
	if node < 0 {
		w.walkRoots(trie, c, &first, from)
		return
	}
	states := w.level(trie)
	for i := node + 1; i < trie.Nodes[node].End; i = trie.Nodes[i].End {
		if b := trie.Nodes[i].Byte; first[b>>6]>>(b&63)&1 != 0 {
			w.walk(trie, i, c, from, states)
		}
	}
	w.levels = w.levels[:len(w.levels)-1]
}
