package engine

import (
	"container/list"
	"slices"

	"github.com/stencil-json/stencil/engine/promptcache"
)

// checkpoints are states of sequences in memory. For models that can't go back
// to an earlier position they are made at marks: without one, a prompt of which
// a slot holds all but the last message would be read from its first token. For
// the others they are what idle slots held that had to be emptied, and any
// beginning of one can be used. The least recently used is given up first. Only
// the loop uses them; nil keeps nothing.
type checkpoints struct {
	rewinds     bool  // the context's Rewinds
	limit, size int64 // bytes
	index       map[uint64]*list.Element
	recent      *list.List // of *checkpoint, the last used first

	// tooLong is a number of tokens whose state is larger than the limit; 0
	// while none is known. States do not shrink with more tokens.
	tooLong int
}

// A checkpoint is what a sequence held after some tokens.
type checkpoint struct {
	hash   uint64
	tokens []int32
	spans  history
	state  []byte
}

func (c *checkpoint) size() int64 { return int64(len(c.state)) + 4*int64(len(c.tokens)) }

func newCheckpoints(limit int64, rewinds bool) *checkpoints {
	return &checkpoints{rewinds: rewinds, limit: limit, index: map[uint64]*list.Element{}, recent: list.New()}
}

// spacing is how many tokens a checkpoint must save, compared with the one
// before it. To read fewer takes about as long as to copy a state twice.
const spacing = 64

// WantsMarks reports whether marks in a prompt of so many tokens are of use; see
// [Request.Marks]. A model that can go back shares prefixes of any length, and
// needs marks only for what is kept on disk.
func (e *Engine) WantsMarks(prompt int) bool {
	return (e.slots.atMarks() != nil || e.shelf != nil) && prompt >= spacing
}

// WantsOpening reports whether the first mark of a prompt of so many tokens is of
// use where the others aren't: a prompt is cut there.
func (e *Engine) WantsOpening(prompt int) bool { return e.slots.grain > 1 && prompt > e.slots.grain }

// longest returns the checkpoint with the longest usable beginning of the tokens
// and that length; nil and 0 if there is none. It is then the last used.
func (c *checkpoints) longest(tokens []int32) (*checkpoint, int) {
	if c == nil {
		return nil, 0
	}
	find := c.longestWhole
	if c.rewinds {
		find = c.longestPart
	}
	best, common := find(tokens)
	if best == nil {
		return nil, 0
	}
	c.recent.MoveToFront(best)
	return best.Value.(*checkpoint), common
}

// longestWhole looks for checkpoints that hold nothing else.
func (c *checkpoints) longestWhole(tokens []int32) (best *list.Element, common int) {
	hash := uint64(0)
	for i, t := range tokens {
		hash = promptcache.Extend(hash, t)
		if el := c.index[hash]; el != nil && slices.Equal(el.Value.(*checkpoint).tokens, tokens[:i+1]) {
			best, common = el, i+1
		}
	}
	return best, common
}

// longestPart looks for any that begin in the same way. There are few: each
// saves tokens that are worth a copy.
func (c *checkpoints) longestPart(tokens []int32) (best *list.Element, common int) {
	for el := c.recent.Front(); el != nil; el = el.Next() {
		if n := commonPrefix(el.Value.(*checkpoint).tokens, tokens); n > common {
			best, common = el, n
		}
	}
	return best, common
}

// reach returns how many of the tokens the checkpoints save.
func (c *checkpoints) reach(tokens []int32) int {
	_, common := c.longest(tokens)
	return common
}

// wants reports whether a state after these tokens would be worth its bytes.
func (c *checkpoints) wants(tokens []int32) bool {
	return c != nil && c.mayFit(len(tokens)) && len(tokens)-c.reach(tokens) >= spacing
}

// mayFit reports whether a state after so many tokens is not known to be larger
// than all that may be kept.
func (c *checkpoints) mayFit(tokens int) bool { return c.tooLong == 0 || tokens < c.tooLong }

// put keeps a state; the bytes must not change any more. It reports false if it
// is larger than all that may be kept.
func (c *checkpoints) put(tokens []int32, spans history, state []byte) bool {
	x := &checkpoint{tokens: slices.Clone(tokens), spans: slices.Clone(spans), state: state}
	if x.size() > c.limit {
		if c.tooLong == 0 || len(tokens) < c.tooLong {
			c.tooLong = len(tokens)
		}
		return false
	}
	for _, t := range tokens {
		x.hash = promptcache.Extend(x.hash, t)
	}
	if old := c.index[x.hash]; old != nil {
		c.forget(old.Value.(*checkpoint))
	}
	if c.rewinds {
		c.forgetWithin(tokens)
	}
	c.index[x.hash] = c.recent.PushFront(x)
	for c.size += x.size(); c.size > c.limit; {
		c.forget(c.recent.Back().Value.(*checkpoint))
	}
	return true
}

// forget gives up a checkpoint, if it is still kept.
func (c *checkpoints) forget(x *checkpoint) {
	el := c.index[x.hash]
	if el == nil || el.Value.(*checkpoint) != x {
		return
	}
	c.recent.Remove(el)
	delete(c.index, x.hash)
	c.size -= x.size()
}

// forgetWithin gives up what a state after these tokens holds too.
func (c *checkpoints) forgetWithin(tokens []int32) {
	for el := c.recent.Front(); el != nil; {
		x := el.Value.(*checkpoint)
		el = el.Next()
		if commonPrefix(x.tokens, tokens) == len(x.tokens) {
			c.forget(x)
		}
	}
}

// forgetAll gives up those of such tokens.
func (c *checkpoints) forgetAll(of func(tokens []int32) bool) {
	if c == nil {
		return
	}
	for el := c.recent.Front(); el != nil; {
		x := el.Value.(*checkpoint)
		if el = el.Next(); of(x.tokens) {
			c.forget(x)
		}
	}
}

// clear gives up all of them.
func (c *checkpoints) clear() {
	for c != nil && c.recent.Len() > 0 {
		c.forget(c.recent.Front().Value.(*checkpoint))
	}
}

// bytes returns how much is kept.
func (c *checkpoints) bytes() int64 {
	if c == nil {
		return 0
	}
	return c.size
}
