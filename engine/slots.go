package engine

import "stencil/backend"

// A slot is one of the backend's sequences and what is known to be in it.
type slot struct {
	id     int32
	tokens []int32 // what its cells hold
	busy   bool
	used   uint64 // when it last changed hands, by slots.clock
}

// slots is the KV cache as the scheduler sees it. Only the loop uses it.
type slots struct {
	ctx   backend.Context
	all   []*slot
	clock uint64
}

func newSlots(ctx backend.Context) *slots {
	s := &slots{ctx: ctx}
	for id := range int32(ctx.MaxSeqs()) {
		s.all = append(s.all, &slot{id: id})
	}
	return s
}

// acquire makes a slot ready for a prompt and returns it with as much of the
// prompt in its cells as some slot already has; at least the last token is
// left over, since the logits come from decoding it. It returns nil when no
// slot is idle.
func (s *slots) acquire(prompt []int32) *slot {
	best, common := s.longest(prompt)
	target := s.choose(best, common)
	if target == nil {
		return nil
	}
	switch {
	case best == nil:
		s.clear(target)
	case target == best:
		s.cut(target, common)
	default:
		s.clear(target)
		s.ctx.SeqCopy(best.id, target.id, 0, int32(common))
		if s.ctx.SeqLen(target.id) == int32(common) {
			target.tokens = append(target.tokens, prompt[:common]...)
		} else {
			s.clear(target) // a state that can't be copied in part
		}
	}
	target.busy = true
	s.touch(target)
	return target
}

// longest returns the slot that holds the longest beginning of the prompt, an
// idle one among equals, and that length; nil when none holds any.
func (s *slots) longest(prompt []int32) (best *slot, common int) {
	for _, x := range s.all {
		n := commonPrefix(x.tokens, prompt[:len(prompt)-1])
		if n > common || n == common && n > 0 && best.busy && !x.busy {
			best, common = x, n
		}
	}
	return best, common
}

// choose returns the idle slot to use. The one with the prefix itself is taken
// when hardly anything else is in it, as when a conversation goes on; else an
// empty one, or the one that was not used for longest.
func (s *slots) choose(best *slot, common int) *slot {
	if best != nil && !best.busy && len(best.tokens)-common <= common/2 {
		return best
	}
	var target *slot
	for _, x := range s.all {
		if !x.busy && (target == nil || givesUpBefore(x, target, best)) {
			target = x
		}
	}
	return target
}

// givesUpBefore reports whether a is to be given up rather than b: an empty
// slot first, the one with the prefix last, the one unused for longest
// otherwise.
func givesUpBefore(a, b, best *slot) bool {
	if emptyA, emptyB := len(a.tokens) == 0, len(b.tokens) == 0; emptyA != emptyB {
		return emptyA
	}
	if a == best || b == best {
		return b == best
	}
	return a.used < b.used
}

// release makes a slot idle; its cells stay as they are.
func (s *slots) release(x *slot) {
	x.busy = false
	s.touch(x)
}

// evict empties the idle slot that was not used for longest and reports
// whether there was one.
func (s *slots) evict() bool {
	var oldest *slot
	for _, x := range s.all {
		if !x.busy && len(x.tokens) > 0 && (oldest == nil || x.used < oldest.used) {
			oldest = x
		}
	}
	if oldest == nil {
		return false
	}
	s.clear(oldest)
	return true
}

func (s *slots) touch(x *slot) {
	s.clock++
	x.used = s.clock
}

func (s *slots) clear(x *slot) {
	s.ctx.SeqRemove(x.id, 0, -1)
	x.tokens = x.tokens[:0]
}

// cut leaves the first n tokens in a slot, or none where the model can't
// forget a part.
func (s *slots) cut(x *slot, n int) {
	if n < len(x.tokens) {
		if !s.ctx.SeqRemove(x.id, int32(n), -1) {
			s.clear(x)
			return
		}
		x.tokens = x.tokens[:n]
	}
}

// resync reads from the backend how much of a slot is left after a decode that
// failed.
func (s *slots) resync(x *slot) {
	n := int(s.ctx.SeqLen(x.id))
	if n > len(x.tokens) {
		s.clear(x)
		return
	}
	x.tokens = x.tokens[:n]
}

// cached returns the number of tokens in idle slots.
func (s *slots) cached() int {
	n := 0
	for _, x := range s.all {
		if !x.busy {
			n += len(x.tokens)
		}
	}
	return n
}

func commonPrefix(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
