package engine

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/stencil-json/stencil/backend"
)

// A slot is one of the backend's sequences and what is known to be in it.
type slot struct {
	id     int32
	tokens []int32 // what its cells hold
	spans  history // how they were computed
	busy   bool
	used   uint64 // when it last changed hands, by slots.clock

	first  bool      // its cells are the first ones, in order
	answer []float32 // the logits after the first answered tokens, a prompt and what was forced after it
	whole  int
}

// again reports whether a slot holds the whole of what some prompt came to that
// begins with these tokens, with the logits after it.
func (x *slot) again(prompt []int32) bool {
	return x.answer != nil && x.whole >= len(prompt) && commonPrefix(x.tokens, prompt) == len(prompt)
}

// slots is the KV cache as the scheduler sees it. Only the loop uses it.
type slots struct {
	ctx     backend.Context
	rewinds bool // the context's Rewinds
	grain   int  // the context's Grain, 1 where it has none
	all     []*slot
	clock   uint64
	kept    *checkpoints // nil where the model rewinds, or none are to be kept
	log     *slog.Logger
}

func newSlots(ctx backend.Context, kept *checkpoints, log *slog.Logger) *slots {
	s := &slots{ctx: ctx, rewinds: ctx.Rewinds(), grain: grainOf(ctx), kept: kept, log: log}
	for id := range int32(ctx.MaxSeqs()) {
		s.all = append(s.all, &slot{id: id})
	}
	return s
}

// atMarks returns the checkpoints if they are made at marks, else nil.
func (s *slots) atMarks() *checkpoints {
	if s.rewinds {
		return nil // any beginning can be had from what comes after it
	}
	return s.kept
}

// An origin is where the beginning of a prompt comes from.
type origin uint8

const (
	fromSlot       origin = iota // shared with another slot, or left in this one; nothing at all is from here too
	fromCheckpoint               // a state in memory
	fromStore                    // a state on disk
)

// acquire makes a slot ready for a prompt and returns it with as much of the
// prompt in its cells as some slot already has, a checkpoint, or what was read
// from disk; at least the last token is left over, since the logits come from
// decoding it, unless the slot has those from an earlier time: see [slot.again].
// It returns nil when no slot is idle.
func (s *slots) acquire(prompt []int32, read *stored, c cutting) (*slot, origin) {
	best, common := s.longest(prompt, c)
	from, at := fromSlot, common
	var state []byte
	var held []int32 // by the state: all of prompt[:at], and perhaps more
	var spans history
	var saved *checkpoint
	if x, n := s.kept.longest(prompt[:len(prompt)-1]); n > at {
		if s.rewinds {
			n = c.usable(x.spans, n)
		}
		if n > at {
			from, at, state, held, spans, saved = fromCheckpoint, n, x.state, x.tokens, x.spans, x
		}
	}
	if read != nil && read.tokens > at {
		from, at, state, held = fromStore, read.tokens, read.state, prompt[:read.tokens]
		spans = history{}.add(at, blocks)
	}
	if state != nil {
		best, common = nil, 0
	}
	target := s.choose(best, common)
	if target == nil {
		return nil, from
	}
	target.busy = true // so that no one takes it when room is made
	s.touch(target)
	switch {
	case target == best:
		s.cut(target, common)
	case best == nil:
		s.giveUp(target)
	default:
		s.giveUp(target)
		s.ctx.SeqCopy(best.id, target.id, 0, int32(common))
		if s.ctx.SeqLen(target.id) == int32(common) {
			target.tokens = append(target.tokens, best.tokens[:common]...)
			target.spans = slices.Clone(best.spans).cut(common)
			target.answer, target.whole = best.answer, best.whole
		} else {
			s.clear(target) // a state that can't be copied in part
		}
	}
	if state != nil {
		err := s.restore(target, held, spans, state)
		if err != nil && from == fromStore {
			read.refused = err
		}
		s.cut(target, at)
		if s.rewinds && from == fromCheckpoint && err == nil && goesOn(len(held), at) {
			s.kept.forget(saved) // it is in the cells again
		}
	}
	s.park(target, len(prompt))
	return target, from
}

// acquireEmpty returns an empty slot, nil when none is idle.
func (s *slots) acquireEmpty() *slot {
	target := s.choose(nil, 0)
	if target != nil {
		target.busy = true
		s.touch(target)
		s.giveUp(target)
	}
	return target
}

// restore puts a state into a slot, which is empty and busy. If that fails the
// slot stays empty, and a state that is itself at fault is not tried again; the
// error is nil unless it is.
func (s *slots) restore(x *slot, tokens []int32, spans history, state []byte) error {
	err := s.ctx.SetSeqState(x.id, state)
	for errors.Is(err, backend.ErrNoSlot) && s.evict() {
		err = s.ctx.SetSeqState(x.id, state)
	}
	if n := s.ctx.SeqLen(x.id); err == nil && int(n) != len(tokens) {
		err = fmt.Errorf("%w: it holds %d tokens, not %d", backend.ErrState, n, len(tokens))
	}
	if err == nil {
		x.tokens = append(x.tokens[:0], tokens...)
		x.spans = slices.Clone(spans)
		if !s.rewinds && s.kept.wants(tokens) { // it is from disk
			s.kept.put(tokens, spans, state)
		}
		return nil
	}
	s.clear(x)
	s.log.Warn("a saved prompt cannot be restored; it is read again", "tokens", len(tokens), "bytes", len(state), "error", err)
	if errors.Is(err, backend.ErrNoSlot) && s.others(x) {
		return nil // it is they who take the room
	}
	if c, n := s.kept.longest(tokens); c != nil && n == len(c.tokens) && n == len(tokens) {
		s.kept.forget(c)
	}
	return err
}

// others reports whether there is anything in the slots beside x.
func (s *slots) others(x *slot) bool {
	return slices.ContainsFunc(s.all, func(y *slot) bool { return y != x && len(y.tokens) > 0 })
}

// reach returns how many tokens of a prompt need not be read, as things are.
func (s *slots) reach(prompt []int32, c cutting) int {
	_, common := s.longest(prompt, c)
	return max(common, s.kept.reach(prompt[:len(prompt)-1]))
}

// longest returns the slot that holds the longest beginning of the prompt, an
// idle one among equals, and that length; nil when none holds any. If the model
// can't go back, only slots count that hold nothing else. A slot that may hold the
// whole prompt and the logits after it comes with all of that.
func (s *slots) longest(prompt []int32, c cutting) (best *slot, common int) {
	for _, x := range s.all {
		n := commonPrefix(x.tokens, prompt[:len(prompt)-1])
		if n < len(x.tokens) && !s.rewinds {
			continue
		}
		if n = c.usable(x.spans, n); x.again(prompt) {
			n = x.whole
		}
		if n > common || n == common && n > 0 && best.busy && !x.busy {
			best, common = x, n
		}
	}
	return best, common
}

// holding returns a slot that holds these tokens and no others, nil if there is none.
func (s *slots) holding(tokens []int32) *slot {
	for _, x := range s.all {
		if slices.Equal(x.tokens, tokens) {
			return x
		}
	}
	return nil
}

// choose returns the idle slot to use. The one with the prefix itself is taken
// when hardly anything else is in it, as when a conversation goes on; else an
// empty one, or the one that was not used for longest.
func (s *slots) choose(best *slot, common int) *slot {
	if best != nil && !best.busy && goesOn(len(best.tokens), common) {
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

// goesOn reports whether a prompt with so many of the tokens in common is likely
// to be the same conversation, so that nobody will want the others again.
func goesOn(tokens, common int) bool { return tokens-common <= common/2 }

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

// alone empties all other slots, none of which is busy, and has a slot's cells be
// the first ones. What is worth it is kept in memory. It does nothing where that
// has no influence on results, or where nothing may be kept.
func (s *slots) alone(x *slot) {
	if s.grain <= 1 || s.kept == nil {
		return
	}
	for _, y := range s.all {
		if y == x || len(y.tokens) == 0 {
			continue
		}
		if s.saves(y, []*slot{x}) {
			s.keep(y)
		}
		s.clear(y)
	}
	if len(x.tokens) > 0 && !x.first {
		tokens, spans, answer, whole := slices.Clone(x.tokens), slices.Clone(x.spans), x.answer, x.whole
		state := s.state(x)
		s.clear(x)
		if state != nil && s.restore(x, tokens, spans, state) == nil {
			x.answer, x.whole = answer, whole
		}
	}
	x.first = true
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
	s.giveUp(oldest)
	return true
}

func (s *slots) touch(x *slot) {
	s.clock++
	x.used = s.clock
}

// giveUp empties a slot. If its tokens may be wanted again and only a checkpoint
// could bring them back, there is one afterwards.
func (s *slots) giveUp(x *slot) {
	if s.kept.wants(x.tokens) && (!s.rewinds || s.saves(x, s.all)) {
		s.keep(x)
	}
	s.clear(x)
}

// park empties idle slots, so that attention does not have to look at their
// cells: it looks at all up to the last that is used, and llama.cpp's kernel for
// one token deals them out evenly among its threads, whosever they are. A thread
// that gets those of idle prompts alone leaves the work to the others. What is
// worth it is kept in memory; a few cells, the latest, may stay.
func (s *slots) park(target *slot, prompt int) {
	if s.kept == nil || !s.rewinds {
		return
	}
	live := prompt
	var staying, idle []*slot
	for _, x := range s.all {
		switch {
		case x.busy:
			staying = append(staying, x)
			if x != target {
				live += len(x.tokens)
			}
		case len(x.tokens) > 0:
			idle = append(idle, x)
		}
	}
	slices.SortFunc(idle, func(a, b *slot) int { return cmp.Compare(b.used, a.used) })
	room := live/idlePart + spacing
	for _, x := range idle {
		own := len(x.tokens) - sharedWith(x, staying)
		switch {
		case own <= room:
			room -= own
			staying = append(staying, x)
		case s.saves(x, staying) && !s.keep(x):
			staying = append(staying, x) // it is too large to be kept
		default:
			s.clear(x)
		}
	}
}

// idlePart is the part of the cells in use that those of idle slots may have
// beyond spacing: so much that few states are saved in vain, so little that
// attention is hardly slower.
const idlePart = 16

// sharedWith returns how many of a slot's first tokens others hold too.
func sharedWith(x *slot, others []*slot) (most int) {
	for _, y := range others {
		if y != x {
			most = max(most, commonPrefix(x.tokens, y.tokens))
		}
	}
	return most
}

// keptPart is the part of its tokens that a state must save to be kept. To save
// and restore a token takes a thousandth of the time in which it is read.
const keptPart = 16

// saves reports whether a checkpoint of a slot would save enough, compared with
// what some other slots and the checkpoints have.
func (s *slots) saves(x *slot, others []*slot) bool {
	n := len(x.tokens)
	return n-max(sharedWith(x, others), s.kept.reach(x.tokens)) >= max(spacing, n/keptPart)
}

// keep makes a checkpoint of what a slot holds. It reports false if it is larger
// than all checkpoints may be.
func (s *slots) keep(x *slot) bool {
	if !s.kept.mayFit(len(x.tokens)) {
		return false
	}
	_, ok := s.keepState(x)
	return ok
}

// keepState is keep, and returns the state; nil if the backend can't say.
func (s *slots) keepState(x *slot) (state []byte, ok bool) {
	if state = s.state(x); state == nil {
		return nil, true
	}
	if ok = s.kept.put(x.tokens, x.spans, state); !ok {
		s.log.Warn("a prompt is larger than all checkpoints may be", "tokens", len(x.tokens), "bytes", len(state), "checkpoint_bytes", s.kept.limit)
	}
	return state, ok
}

// state returns what a slot holds, nil if the backend can't say.
func (s *slots) state(x *slot) []byte {
	state, err := s.ctx.SeqState(x.id)
	if err != nil {
		s.log.Warn("a prompt cannot be saved", "tokens", len(x.tokens), "error", err)
		return nil
	}
	return state
}

func (s *slots) clear(x *slot) {
	s.ctx.SeqRemove(x.id, 0, -1)
	x.tokens = x.tokens[:0]
	x.spans, x.first, x.answer = x.spans[:0], false, nil
}

// cut leaves the first n tokens in a slot, or none where the model can't
// forget a part.
func (s *slots) cut(x *slot, n int) {
	if n < len(x.tokens) {
		if !s.ctx.SeqRemove(x.id, int32(n), -1) {
			s.clear(x)
			return
		}
		x.tokens, x.spans = x.tokens[:n], x.spans.cut(n)
		if x.whole > n {
			x.answer = nil
		}
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
	x.tokens, x.spans = x.tokens[:n], x.spans.cut(n)
	if x.whole > n {
		x.answer = nil
	}
}

// recall brings back what a slot has lost of a sequence's tokens, as far as there
// is a checkpoint.
func (s *slots) recall(x *slot, tokens []int32) {
	if c, n := s.kept.longest(tokens[:len(tokens)-1]); n > len(x.tokens) {
		s.clear(x)
		s.restore(x, c.tokens, c.spans, c.state)
		s.cut(x, n)
	}
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
