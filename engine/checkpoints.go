package engine

import (
	"container/list"

	"github.com/stencil-json/stencil/engine/prefix"
	"github.com/stencil-json/stencil/engine/promptcache"
)

// checkpoints are states of sequences in memory. For models that can't rewind
// they are taken at marks; without one, a prompt of which a slot holds all but
// the last message would be prefilled from its first token. For other models they
// are the contents of idle slots that had to be emptied, and any prefix of one is
// usable. The least recently used is evicted first. Only the loop uses
// checkpoints; a nil value stores nothing.
type checkpoints struct {
	rewinds     bool  // the context's Rewinds
	limit, size int64 // bytes
	index       map[uint64]*list.Element
	recent      *list.List // of *checkpoint, most recently used first

	// tooLong is a number of tokens whose state exceeds the limit; 0 if none is
	// known. States do not shrink with more tokens.
	tooLong int
}

// A checkpoint is the state of a sequence after some tokens.
type checkpoint struct {
	hash uint64
	contents
	state []byte
}

func (c *checkpoint) size() int64 {
	return int64(len(c.state)) + 4*int64(len(c.tokens)+len(c.answer))
}

func newCheckpoints(limit int64, rewinds bool) *checkpoints {
	return &checkpoints{rewinds: rewinds, limit: limit, index: map[uint64]*list.Element{}, recent: list.New()}
}

// spacing is how many tokens a checkpoint must save, compared with the one before
// it. Prefilling fewer takes about as long as copying a state twice.
const spacing = 64

// WantsMarks reports whether marks are useful in a prompt of the given number of
// tokens; see [Request.Marks]. A model that can rewind shares prefixes of any
// length and needs marks only for the prompt cache on disk.
func (e *Engine) WantsMarks(prompt int) bool {
	return (e.slots.atMarks() != nil || e.shelf != nil) && prompt >= spacing
}

// WantsOpening reports whether the first mark of a prompt of the given number of
// tokens is useful even if the others aren't, because the prompt is split there.
func (e *Engine) WantsOpening(prompt int) bool { return e.slots.grain > 1 && prompt > e.slots.grain }

// longest returns the checkpoint with the longest usable prefix of the tokens and
// that length, or nil and 0. It marks the checkpoint as used.
func (c *checkpoints) longest(of run) (*checkpoint, int) {
	if c == nil {
		return nil, 0
	}
	find := c.longestWhole
	if c.rewinds {
		find = c.longestPart
	}
	best, shared := find(of)
	if best == nil {
		return nil, 0
	}
	c.recent.MoveToFront(best)
	return best.Value.(*checkpoint), shared
}

// fitting returns the checkpoint of which a prompt can reuse most, and how many
// tokens that is, nil and 0 if there is none: all that one holds of a prompt that it
// holds whole, with the logits after it, else at most all but the last token.
func (c *checkpoints) fitting(prompt run, of prefix.Cutting) (*checkpoint, int) {
	if c == nil {
		return nil, 0
	}
	for el := c.recent.Front(); c.rewinds && el != nil; el = el.Next() {
		if x := el.Value.(*checkpoint); x.again(prompt) {
			c.recent.MoveToFront(el)
			return x, x.whole
		}
	}
	x, n := c.longest(prompt.to(len(prompt.tokens) - 1))
	if x != nil && c.rewinds {
		n = of.Usable(x.spans, n)
	}
	return x, n
}

// hash returns the key of a run in the index.
func (r run) hash() (hash uint64) {
	for _, b := range []byte(r.owner) {
		hash = promptcache.Extend(hash, int32(b))
	}
	for _, t := range r.tokens {
		hash = promptcache.Extend(hash, t)
	}
	return hash
}

// longestWhole considers only checkpoints that are prefixes of the tokens.
func (c *checkpoints) longestWhole(of run) (best *list.Element, shared int) {
	hash := of.to(0).hash()
	for i, t := range of.tokens {
		hash = promptcache.Extend(hash, t)
		if el := c.index[hash]; el != nil && len(el.Value.(*checkpoint).tokens) == i+1 && common(el.Value.(*checkpoint).run, of) == i+1 {
			best, shared = el, i+1
		}
	}
	return best, shared
}

// longestPart considers every checkpoint with a common prefix. They are few: each
// saves enough tokens to be worth a copy.
func (c *checkpoints) longestPart(of run) (best *list.Element, shared int) {
	for el := c.recent.Front(); el != nil; el = el.Next() {
		if n := common(el.Value.(*checkpoint).run, of); n > shared {
			best, shared = el, n
		}
	}
	return best, shared
}

// reach returns how many of the tokens the checkpoints cover.
func (c *checkpoints) reach(of run) int {
	_, shared := c.longest(of)
	return shared
}

// wants reports whether a state after these tokens is worth its memory.
func (c *checkpoints) wants(of run) bool {
	return c != nil && c.mayFit(len(of.tokens)) && len(of.tokens)-c.reach(of) >= spacing
}

// mayFit reports whether a state after the given number of tokens may be within
// the limit.
func (c *checkpoints) mayFit(tokens int) bool { return c.tooLong == 0 || tokens < c.tooLong }

// put stores a state, whose bytes must not change afterwards. It returns false if
// the state exceeds the limit.
func (c *checkpoints) put(held contents, state []byte) bool {
	x := &checkpoint{contents: held.clone(), state: state}
	tokens := x.tokens
	if x.size() > c.limit {
		if c.tooLong == 0 || len(tokens) < c.tooLong {
			c.tooLong = len(tokens)
		}
		return false
	}
	x.hash = x.run.hash()
	if old := c.index[x.hash]; old != nil {
		c.forget(old.Value.(*checkpoint))
	}
	if c.rewinds {
		c.forgetWithin(x.run)
	}
	c.index[x.hash] = c.recent.PushFront(x)
	for c.size += x.size(); c.size > c.limit; {
		c.forget(c.recent.Back().Value.(*checkpoint))
	}
	return true
}

// forget drops a checkpoint, if it is still stored.
func (c *checkpoints) forget(x *checkpoint) {
	el := c.index[x.hash]
	if el == nil || el.Value.(*checkpoint) != x {
		return
	}
	c.recent.Remove(el)
	delete(c.index, x.hash)
	c.size -= x.size()
}

// forgetWithin drops the checkpoints that a state after these tokens includes.
func (c *checkpoints) forgetWithin(of run) {
	for el := c.recent.Front(); el != nil; {
		x := el.Value.(*checkpoint)
		el = el.Next()
		if common(x.run, of) == len(x.tokens) {
			c.forget(x)
		}
	}
}

// forgetAll drops the checkpoints that satisfy of.
func (c *checkpoints) forgetAll(of func(run) bool) {
	if c == nil {
		return
	}
	for el := c.recent.Front(); el != nil; {
		x := el.Value.(*checkpoint)
		if el = el.Next(); of(x.run) {
			c.forget(x)
		}
	}
}

// clear drops all checkpoints.
func (c *checkpoints) clear() {
	for c != nil && c.recent.Len() > 0 {
		c.forget(c.recent.Front().Value.(*checkpoint))
	}
}

// bytes returns the memory in use.
func (c *checkpoints) bytes() int64 {
	if c == nil {
		return 0
	}
	return c.size
}
