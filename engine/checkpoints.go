package engine

import (
	"container/list"
	"slices"

	"stencil/engine/promptcache"
)

// checkpoints are states of sequences in memory, for models that can't go back
// to an earlier position: without one, a prompt of which a slot holds all but
// the last message would be read from its first token. The least recently used
// is given up first. Only the loop uses them; nil keeps nothing.
type checkpoints struct {
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
	state  []byte
}

func (c *checkpoint) size() int64 { return int64(len(c.state)) + 4*int64(len(c.tokens)) }

func newCheckpoints(limit int64) *checkpoints {
	return &checkpoints{limit: limit, index: map[uint64]*list.Element{}, recent: list.New()}
}

// spacing is how many tokens a checkpoint must save, compared with the one
// before it. To read fewer takes about as long as to copy a state twice.
const spacing = 64

// longest returns the checkpoint of the longest prefix of the tokens, nil if
// there is none, and makes it the last used.
func (c *checkpoints) longest(tokens []int32) *checkpoint {
	if c == nil {
		return nil
	}
	var best *list.Element
	hash := uint64(0)
	for i, t := range tokens {
		hash = promptcache.Extend(hash, t)
		if el := c.index[hash]; el != nil && slices.Equal(el.Value.(*checkpoint).tokens, tokens[:i+1]) {
			best = el
		}
	}
	if best == nil {
		return nil
	}
	c.recent.MoveToFront(best)
	return best.Value.(*checkpoint)
}

// reach returns how many of the tokens the longest checkpoint holds.
func (c *checkpoints) reach(tokens []int32) int {
	if x := c.longest(tokens); x != nil {
		return len(x.tokens)
	}
	return 0
}

// wants reports whether a state after these tokens would be worth its bytes.
func (c *checkpoints) wants(tokens []int32) bool {
	return c != nil && (c.tooLong == 0 || len(tokens) < c.tooLong) && len(tokens)-c.reach(tokens) >= spacing
}

// put keeps a state; the bytes must not change any more. It reports false if it
// is larger than all that may be kept.
func (c *checkpoints) put(tokens []int32, state []byte) bool {
	x := &checkpoint{tokens: slices.Clone(tokens), state: state}
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

// bytes returns how much is kept.
func (c *checkpoints) bytes() int64 {
	if c == nil {
		return 0
	}
	return c.size
}
