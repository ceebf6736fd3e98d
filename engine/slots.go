package engine

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine/prefix"
)

// A slot is one of the backend's sequences and its known contents.
type slot struct {
	id int32
	contents
	busy  bool
	used  uint64 // slots.clock when it was last acquired or released
	first bool   // its cells are the first of the cache, in order
}

// A run is a run of tokens and whose it is. One owner's tokens have nothing in common with
// another's, so that neither the time nor the counts of a prompt tell what others sent.
type run struct {
	owner  string // see [Config.Apart]
	tokens []int32
}

// to returns the first n tokens.
func (r run) to(n int) run { return run{r.owner, r.tokens[:n:n]} }

// common returns how many of their first tokens two runs have in common.
func common(a, b run) int {
	if a.owner != b.owner {
		return 0
	}
	return commonPrefix(a.tokens, b.tokens)
}

// contents are what KV cells, or a state made of them, hold.
type contents struct {
	run
	spans  prefix.History // how they were computed
	answer []float32      // the logits after the first whole tokens: a prompt and the text forced after it
	whole  int
}

// clone returns a copy that shares only the logits, which never change.
func (x contents) clone() contents {
	x.tokens, x.spans = slices.Clone(x.tokens), slices.Clone(x.spans)
	return x
}

// again reports whether contents have the prompt and what was forced after it, with
// the logits after that.
func (x *contents) again(prompt run) bool {
	return x.answer != nil && x.whole >= len(prompt.tokens) && common(x.run, prompt) == len(prompt.tokens)
}

// slots is the KV cache as seen by the scheduler. Only the loop uses it.
type slots struct {
	ctx     backend.Context
	rewinds bool // the context's Rewinds
	grain   int  // the context's Grain, 1 where it has none
	all     []*slot
	clock   uint64
	kept    *checkpoints // nil if none are to be kept
	log     *slog.Logger
}

func newSlots(ctx backend.Context, kept *checkpoints, log *slog.Logger) *slots {
	s := &slots{ctx: ctx, rewinds: ctx.Rewinds(), grain: prefix.GrainOf(ctx), kept: kept, log: log}
	for id := range int32(ctx.MaxSeqs()) {
		s.all = append(s.all, &slot{id: id})
	}
	return s
}

// atMarks returns the checkpoints if they are taken at marks, else nil.
func (s *slots) atMarks() *checkpoints {
	if s.rewinds {
		return nil // any prefix of a state is usable
	}
	return s.kept
}

// An origin is where the reused part of a prompt comes from.
type origin uint8

const (
	fromSlot       origin = iota // shared with another slot, or left in this one; also if nothing is reused
	fromCheckpoint               // a state in memory
	fromStore                    // a state on disk
)

// acquire returns a slot for a prompt, filled with the longest prefix found in a
// slot, in a checkpoint or in what was read from disk. At least the last token is
// left over, since the logits come from decoding it, unless the slot still has
// them: see [contents.again]. It returns nil if no slot is idle.
func (s *slots) acquire(prompt run, read *stored, c prefix.Cutting) (*slot, origin) {
	best, shared := s.longest(prompt, c)
	from, at := fromSlot, shared
	var state []byte
	var held contents // of the state: all of prompt[:at], and maybe more
	var saved *checkpoint
	if x, n := s.kept.fitting(prompt, c); n > at {
		from, at, state, held, saved = fromCheckpoint, n, x.state, x.contents, x
	}
	if read != nil && read.tokens > at {
		from, at, state = fromStore, read.tokens, read.state
		held = contents{run: prompt.to(read.tokens), spans: prefix.History{}.Add(at, prefix.Blocks)}
	}
	if state != nil {
		best, shared = nil, 0
	}
	target := s.choose(best, shared)
	if target == nil {
		return nil, from
	}
	target.busy = true // so that it is not evicted when room is made
	s.touch(target)
	switch {
	case target == best:
		s.cut(target, shared)
	case best == nil:
		s.giveUp(target)
	default:
		s.giveUp(target)
		s.ctx.SeqCopy(best.id, target.id, 0, int32(shared))
		if s.ctx.SeqLen(target.id) == int32(shared) {
			target.tokens = append(target.tokens, best.tokens[:shared]...)
			target.spans = slices.Clone(best.spans).Cut(shared)
			target.answer, target.whole = best.answer, best.whole
		} else {
			s.clear(target) // the state can't be copied in part
		}
	}
	if state != nil {
		err := s.restore(target, held, state)
		if err != nil && from == fromStore {
			read.refused = err
		}
		s.cut(target, at)
		if s.rewinds && from == fromCheckpoint && err == nil && goesOn(len(held.tokens), at) {
			s.kept.forget(saved) // its tokens are in the KV cells again
		}
	}
	target.owner = prompt.owner
	s.park(target, len(prompt.tokens))
	return target, from
}

// acquireEmpty returns an empty slot, nil if none is idle.
func (s *slots) acquireEmpty() *slot {
	target := s.choose(nil, 0)
	if target != nil {
		target.busy = true
		s.touch(target)
		s.giveUp(target)
	}
	return target
}

// restore loads a state into a slot, which is empty and busy. If that fails, the
// slot stays empty. The error is nil if only room was lacking; otherwise the state
// is at fault and its checkpoint is dropped.
func (s *slots) restore(x *slot, held contents, state []byte) error {
	tokens := held.tokens
	err := s.ctx.SetSeqState(x.id, state)
	for errors.Is(err, backend.ErrNoSlot) && s.evict() {
		err = s.ctx.SetSeqState(x.id, state)
	}
	if n := s.ctx.SeqLen(x.id); err == nil && int(n) != len(tokens) {
		err = fmt.Errorf("%w: it holds %d tokens, not %d", backend.ErrState, n, len(tokens))
	}
	if err == nil {
		x.contents = held.clone()
		if !s.rewinds && s.kept.wants(held.run) { // it is from disk
			s.kept.put(held, state)
		}
		return nil
	}
	s.clear(x)
	const told = "a saved prompt cannot be restored; it is read again"
	if errors.Is(err, backend.ErrNoSlot) && s.others(x) {
		s.log.Debug(told, "tokens", len(tokens), "bytes", len(state), "error", err)
		return nil // they take up the room
	}
	s.log.Warn(told, "tokens", len(tokens), "bytes", len(state), "error", err)
	if c, n := s.kept.longest(held.run); c != nil && n == len(c.tokens) && n == len(tokens) {
		s.kept.forget(c)
	}
	return err
}

// others reports whether slots other than x hold any tokens.
func (s *slots) others(x *slot) bool {
	return slices.ContainsFunc(s.all, func(y *slot) bool { return y != x && len(y.tokens) > 0 })
}

// reach returns how many tokens of a prompt are currently reusable.
func (s *slots) reach(prompt run, c prefix.Cutting) int {
	_, shared := s.longest(prompt, c)
	return max(shared, s.kept.reach(prompt.to(len(prompt.tokens)-1)))
}

// longest returns the slot with the longest prefix of the prompt and that length,
// preferring idle slots among equals; nil if no slot has any. If the model can't
// rewind, only slots count that hold nothing else. A slot that holds the whole
// prompt and the logits after it is returned with all of that.
func (s *slots) longest(prompt run, c prefix.Cutting) (best *slot, shared int) {
	for _, x := range s.all {
		n := common(x.run, prompt.to(len(prompt.tokens)-1))
		if n < len(x.tokens) && !s.rewinds {
			continue
		}
		if n = c.Usable(x.spans, n); x.again(prompt) {
			n = x.whole
		}
		if n > shared || n == shared && n > 0 && best.busy && !x.busy {
			best, shared = x, n
		}
	}
	return best, shared
}

// holding returns a slot that holds these tokens and no others, nil if there is none.
func (s *slots) holding(held run) *slot {
	for _, x := range s.all {
		if x.owner == held.owner && slices.Equal(x.tokens, held.tokens) {
			return x
		}
	}
	return nil
}

// choose returns the idle slot to use: the one with the prefix if it holds hardly
// anything else, as when a conversation continues; else an empty one, or the least
// recently used.
func (s *slots) choose(best *slot, shared int) *slot {
	if best != nil && !best.busy && goesOn(len(best.tokens), shared) {
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

// goesOn reports whether a prompt with the given number of tokens in common is
// likely the same conversation, so that the other tokens are no longer needed.
func goesOn(tokens, common int) bool { return tokens-common <= common/2 }

// givesUpBefore reports whether a is to be reused before b: an empty slot first,
// the one with the prefix last, otherwise the least recently used.
func givesUpBefore(a, b, best *slot) bool {
	if emptyA, emptyB := len(a.tokens) == 0, len(b.tokens) == 0; emptyA != emptyB {
		return emptyA
	}
	if a == best || b == best {
		return b == best
	}
	return a.used < b.used
}

// release makes a slot idle; its cells are unchanged.
func (s *slots) release(x *slot) {
	x.busy = false
	s.touch(x)
}

// alone empties all other slots, none of which is busy, and moves a slot's
// contents to the first KV cells. It keeps what is worth keeping in checkpoints.
// It does nothing if this has no influence on results, or if there are no
// checkpoints.
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
		held, state := x.contents.clone(), s.state(x)
		s.clear(x)
		if state != nil {
			s.restore(x, held, state)
		}
	}
	x.first = true
}

// evict empties the least recently used idle slot and reports whether there was
// one.
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

// giveUp empties a slot. It makes a checkpoint first if that is worthwhile.
func (s *slots) giveUp(x *slot) {
	if s.kept.wants(x.run) && (!s.rewinds || s.saves(x, s.all)) {
		s.keep(x)
	}
	s.clear(x)
}

// park empties idle slots so that attention need not scan their cells: it scans
// all cells up to the last one in use, and llama.cpp's kernel for one token
// divides them evenly among its threads, regardless of their sequence. A thread
// that gets only cells of idle slots leaves the work to the others. What is worth
// keeping becomes a checkpoint; a few cells, the most recent, may stay.
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

// idlePart limits the cells that idle slots may keep, beyond spacing, to this part
// of the cells in use: enough that few states are saved in vain, and so few that
// attention is hardly slower.
const idlePart = 16

// sharedWith returns how many of a slot's first tokens other slots hold too.
func sharedWith(x *slot, others []*slot) (most int) {
	for _, y := range others {
		if y != x {
			most = max(most, common(x.run, y.run))
		}
	}
	return most
}

// keptPart is the part of its tokens that a state must save to be kept. Saving and
// restoring a token takes a thousandth of the time of prefilling it.
const keptPart = 16

// saves reports whether a checkpoint of a slot would save enough tokens, compared
// with the given slots and the checkpoints.
func (s *slots) saves(x *slot, others []*slot) bool {
	n := len(x.tokens)
	return n-max(sharedWith(x, others), s.kept.reach(x.run)) >= max(spacing, n/keptPart)
}

// keep makes a checkpoint of a slot. It returns false if that exceeds the limit of
// all checkpoints.
func (s *slots) keep(x *slot) bool {
	if !s.kept.mayFit(len(x.tokens)) {
		return false
	}
	_, ok := s.keepState(x)
	return ok
}

// keepState is keep, and returns the state; nil if the backend fails to.
func (s *slots) keepState(x *slot) (state []byte, ok bool) {
	if state = s.state(x); state == nil {
		return nil, true
	}
	if ok = s.kept.put(x.contents, state); !ok {
		s.log.Warn("a prompt is larger than all checkpoints may be", "tokens", len(x.tokens), "bytes", len(state), "checkpoint_bytes", s.kept.limit)
	}
	return state, ok
}

// state returns the state of a slot, nil if the backend fails to.
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

// cut removes all but the first n tokens from a slot, or all if the model can't
// rewind.
func (s *slots) cut(x *slot, n int) {
	if n < len(x.tokens) {
		if !s.ctx.SeqRemove(x.id, int32(n), -1) {
			s.clear(x)
			return
		}
		x.tokens, x.spans = x.tokens[:n], x.spans.Cut(n)
		if x.whole > n {
			x.answer = nil
		}
	}
}

// resync updates a slot after a failed decode from the backend's length of its
// sequence.
func (s *slots) resync(x *slot) {
	n := int(s.ctx.SeqLen(x.id))
	if n > len(x.tokens) {
		s.clear(x)
		return
	}
	x.tokens, x.spans = x.tokens[:n], x.spans.Cut(n)
	if x.whole > n {
		x.answer = nil
	}
}

// recall restores the lost tokens of a sequence from a checkpoint, as far as there
// is one.
func (s *slots) recall(x *slot, lost run) {
	if c, n := s.kept.longest(lost.to(len(lost.tokens) - 1)); n > len(x.tokens) {
		s.clear(x)
		s.restore(x, c.contents, c.state)
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
