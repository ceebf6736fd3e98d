package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine/prefix"
)

// A loop is the goroutine that owns the model's context.
type loop struct {
	*Engine
	active  []*sequence // with a slot, the longest running first
	waiting []*sequence // without a slot: preempted sequences, and those that wait for a read from disk
	full    bool        // KV cells ran out: admit nothing until an active sequence has ended
	turn    int         // the active sequence that is first in the next batch
	batch   backend.Batch
	inBatch []*sequence
	away    away
	scales  []float32 // of adapters, in force; nil: as loaded
	seats   seats
	leaving []leave
	counts  Stats          // since the last publish
	reads   sync.WaitGroup // of goroutines that access the disk
	tooLong int            // tokens whose state is too large for the disk; 0 while none is known

	running   context.Context // of decodes; replaced when it has ended
	stop      context.CancelFunc
	begun     time.Time     // when the last step started
	stepped   time.Time     // the same for tracing
	sampling  time.Duration // recent mean duration of a sequence's advance
	lastBatch time.Duration // duration of the last decode

	learnt  *learnt // by drafters
	prices  prices
	chunks  chunks
	shares  shares
	suspect []*sequence // of a batch that failed to decode, to be decoded one by one
	drafted bool        // the batch has guesses
	crowded bool        // a batch with guesses did not fit: the next has none

	unmasked, sampled []*sequence // scratch of step
}

// inlinePending is the number of undecoded tokens up to which a sequence
// counts as generating rather than prefilling: a sampled token and a run of
// forced text.
const inlinePending = 32

// worthHelp is how much work must be pending before a worker is woken for part of it.
const worthHelp = 30 * time.Microsecond

// run is the loop.
func (l *loop) run() {
	l.away.loop, l.seats.loop = l, l
	l.away.watch.timer = time.AfterFunc(time.Hour, l.away.tick)
	l.away.watch.timer.Stop()
	l.shares = shares{l, make(map[string]time.Time)}
	l.away.drive(func() bool { return true })
}

// stepOn runs a step, or what is left of one. A failure in it that is not due to one sequence ends the running sequences,
// not the engine. It returns false if another goroutine has become the loop.
func (l *loop) stepOn(step func() bool) (still bool) {
	defer func() {
		if r := recover(); r != nil {
			err := fmt.Errorf("engine: internal error: %v\n%s", r, debug.Stack())
			l.cfg.Log.Error("step failed", "error", err)
			l.announce(nil)
			l.away.collect(nil)
			failed := slices.Clone(l.active)
			for _, s := range failed {
				l.slots.clear(s.slot)
				s.fail(err)
			}
			l.settle(failed)
			still = true
		}
	}()
	return step()
}

// finished reports whether the loop may return.
func (l *loop) finished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closing && len(l.queue.clients) == 0 && len(l.waiting) == 0 && len(l.away.list) == 0
}

// publish adds the counts of the last step to the engine's.
func (l *loop) publish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, c := &l.stats, &l.counts
	s.Add(*c)
	s.Active, s.Waiting, s.CachedTokens = len(l.active)+len(l.away.list), len(l.waiting)+l.queue.further, l.slots.cached()
	s.CheckpointBytes = l.slots.kept.bytes()
	*c = Stats{}
}

// reap drops every job that has been cancelled.
func (l *loop) reap() {
	// Jobs with sequences that are away end when these are back, which is soon.
	gone := func(j *job) bool { return j.ctx.Err() != nil && j.away == 0 }
	l.mu.Lock()
	dropped := l.queue.remove(gone)
	l.mu.Unlock()
	for _, list := range [...][]*sequence{l.active, l.waiting} {
		for _, s := range list {
			if gone(s.job) && !slices.Contains(dropped, s.job) {
				dropped = append(dropped, s.job)
			}
		}
	}
	if len(dropped) == 0 {
		return
	}
	for _, j := range dropped {
		l.counts.Cancelled++
		l.drop(j, context.Cause(j.ctx))
	}
	l.publish()
	l.sayGoodbye()
}

// drop ends a job early.
func (l *loop) drop(j *job, err error) {
	if j.lost != nil {
		return
	}
	l.shares.left(j.req.Client, time.Now())
	mine := func(s *sequence) bool { return s.job == j }
	l.mu.Lock()
	l.queue.remove(func(x *job) bool { return x == j })
	l.mu.Unlock()
	for _, s := range l.active {
		if mine(s) {
			l.release(s)
		}
	}
	for _, s := range j.sequences {
		l.seats.rise(s)
	}
	l.full = false
	l.active = slices.DeleteFunc(l.active, mine)
	l.waiting = slices.DeleteFunc(l.waiting, mine)
	if j.away > 0 {
		j.lost = err
		j.cancel(err)
		return
	}
	l.leaving = append(l.leaving, leave{j, err})
}

// admit gives slots to waiting sequences while there are slots and KV cells.
func (l *loop) admit() {
	if l.full = l.full && len(l.active) > 0; l.full {
		return
	}
	var fresh []*sequence
	for len(l.active) < l.cfg.Parallel {
		s := l.next()
		if s == nil {
			break
		}
		l.seats.sit(s)
		if !s.ready {
			s.ready = true
			if !l.slots.rewinds {
				s.recast = nil
			}
			if s.started.IsZero() {
				s.started = time.Now()
			}
			if s.job.req.Started != nil && s.choice == 0 {
				s.job.req.Started()
			}
			l.tracing.span(PartQueue, s.job.submitted, s, 0)
			fresh = append(fresh, s)
		} else {
			s.fit(l.slots) // it has lost its slot, and got another one
		}
		l.active = append(l.active, s)
	}
	if len(fresh) > 0 {
		fresh, _ = l.away.attend(fresh, (*sequence).begin, stageBegun, true) // on workers
		for _, s := range fresh {
			l.confirm(s)
		}
		l.settle(fresh)
	}
}

// next returns the sequence to run next, with a slot; nil if there is none or no room
// for it.
func (l *loop) next() *sequence {
	if s := l.head(); s != nil && s.job.req.Aside { // sequences that are away wait for it
		if !l.place(s) {
			return nil
		}
		l.dequeue(s)
		return s
	}
	if len(l.away.list) >= mostAway*l.cfg.Parallel {
		return nil
	}
	for i, s := range l.waiting {
		if l.reading(s) {
			continue
		}
		if !l.place(s) {
			return nil
		}
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return s
	}
	for len(l.active)+l.readsRunning() < l.cfg.Parallel {
		s := l.head()
		if s == nil {
			return nil
		}
		if l.reading(s) { // others may go first
			l.dequeue(s)
			l.waiting = append(l.waiting, s)
			continue
		}
		if !l.place(s) {
			return nil
		}
		l.dequeue(s)
		return s
	}
	return nil
}

// head returns the sequence whose turn it is, or nil. It stays the head of the queue
// until dequeue or reap, regardless of what is submitted.
func (l *loop) head() *sequence {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue.peek(func(s *sequence) bool {
		// A further choice starts from the first one's prompt.
		first := s.job.sequences[0]
		return (s == first || first.primed || !first.outside && first.ended) && (s.job.req.Aside || l.shares.mayStart(s.job.req.Client))
	})
}

func (l *loop) dequeue(s *sequence) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue.pop(s)
}

// headroom is how many KV cells beyond its prompt should be free before a sequence
// starts. Without it, sequences that have just started would be preempted.
const headroom = 32

// place gives s a slot unless its tokens don't fit beside those of the active
// sequences. A single sequence always fits.
func (l *loop) place(s *sequence) bool {
	if !l.adapt(s.job) {
		return false
	}
	if len(l.active) > 0 {
		need := len(s.tokens) - l.sharedWithBusy(s, nil) + min(headroom, s.left())
		for _, a := range l.active {
			need += len(a.tokens) - a.shared
		}
		for _, a := range l.away.list {
			if a.slot != nil {
				need += len(a.slot.tokens)
			}
		}
		if need > l.limit {
			return false
		}
	}
	if s.job.req.Solo || s.job.req.NoReuse {
		if s.slot = l.slots.acquireEmpty(); s.slot == nil && l.away.takeSlot() {
			s.slot = l.slots.acquireEmpty()
		}
		l.accompany(s.slot)
		return s.slot != nil
	}
	slot, from := l.slots.acquire(s.run(), s.arrived(), s.job.cutting)
	if slot == nil && l.away.takeSlot() {
		slot, from = l.slots.acquire(s.run(), s.arrived(), s.job.cutting)
	}
	l.accompany(slot)
	if slot == nil {
		return false
	}
	s.slot, s.shared = slot, 0
	if from == fromSlot {
		s.shared = min(len(slot.tokens), l.sharedWithBusy(s, slot))
	}
	s.from = from
	l.placed(s)
	l.plan(s)
	return true
}

// accompany makes the cells of a newly acquired slot the first ones if its sequence
// is alone. Otherwise it marks all slots as not starting at the first cell.
func (l *loop) accompany(x *slot) {
	if x == nil {
		return
	}
	if len(l.active)+len(l.away.list) == 0 {
		l.slots.alone(x)
		return
	}
	x.first = false
	for _, s := range l.away.list {
		if s.slot != nil {
			s.slot.first = false
		}
	}
	for _, s := range l.active {
		s.slot.first = false
	}
}

// confirm fits a new sequence's slot to it, now that the text forced at its start is known, and counts what is reused. A
// sequence that has ended needs no slot.
func (l *loop) confirm(s *sequence) {
	s.fit(l.slots)
	s.cached = min(len(s.slot.tokens), s.prompt)
	l.countOrigin(s.from, s.cached)
}

// fit keeps the usable part of a sequence's slot: all of it, with the logits after it, or a prefix.
func (s *sequence) fit(all *slots) {
	x := s.slot
	switch n := commonPrefix(x.tokens, s.tokens); {
	case n == len(s.tokens) && n == len(x.tokens) && n == x.whole && x.answer != nil:
		s.given = x.answer
	case n < len(x.tokens) || n == len(s.tokens):
		all.cut(x, s.job.cutting.Usable(x.spans, min(n, len(s.tokens)-1)))
	}
}

// countOrigin counts the reused tokens of a prompt by origin.
func (l *loop) countOrigin(from origin, tokens int) {
	n := uint64(tokens)
	l.counts.ReusedTokens += n
	switch from {
	case fromCheckpoint:
		l.counts.CheckpointTokens += n
	case fromStore:
		l.counts.StoredTokens += n
	}
}

// sharedWithBusy returns the length of the longest prefix of s in a busy slot other
// than own.
func (l *loop) sharedWithBusy(s *sequence, own *slot) int {
	most := 0
	for _, x := range l.slots.all {
		if x.busy && x != own {
			most = max(most, common(x.run, s.run()))
		}
	}
	return most
}

// step decodes one batch and advances the sequences that got logits. It returns false if another goroutine has become the
// loop.
func (l *loop) step() bool {
	now := time.Now()
	expected := now.Sub(l.begun) // about as long as the last one
	l.begun = now
	for _, s := range l.active {
		s.drafter.reset()
	}
	prompts := l.fill()
	if len(l.inBatch) == 0 {
		panic("no active sequence has anything to decode") // an endless loop otherwise
	}
	if prompts > 0 {
		expected = math.MaxInt64
	} else {
		l.draft()
	}
	l.tell(now, expected)
	if l.running == nil || l.running.Err() != nil {
		l.running, l.stop = context.WithCancel(l.base)
	}
	if !l.announce(l.stop) {
		return true // every job has ended; reap drops them
	}
	l.stepped = l.tracing.clock()
	l.startMasks()
	for _, s := range l.inBatch {
		s.progress(now, s.cached)
	}
	start, began := l.tracing.clock(), time.Now()
	var err error
	if l.batch.Len() > 0 {
		err = l.context.Decode(l.running, &l.batch)
		l.counts.Decodes++
		l.counts.Steps += uint64(len(l.inBatch))
	}
	decoded := time.Now()
	l.tracing.span(PartForward, start, nil, l.batch.Len())
	l.lastBatch = decoded.Sub(began)
	l.announce(nil)
	if err != nil {
		l.away.collect(nil)
		l.decodeFailed(err)
		return true
	}
	switch {
	case prompts > 0:
		l.chunks.learn(prompts, l.batch.Len(), decoded.Sub(began))
	case l.batch.Len() > 0:
		l.prices.learn(l.batch.Len(), decoded.Sub(began))
	}
	l.sampled = l.sampled[:0]
	for _, s := range l.inBatch {
		s.emptied = false
		pending := s.pending()[:s.taken]
		if before := len(s.slot.tokens); before < s.prompt && !s.primed {
			l.counts.PromptTokens += uint64(min(len(pending), s.prompt-before))
		}
		s.slot.tokens = append(s.slot.tokens, pending...)
		s.slot.spans = s.slot.spans.Add(len(s.slot.tokens), s.kind)
		l.counts.LongestText = max(l.counts.LongestText, len(s.slot.tokens))
		s.progress(decoded, len(s.slot.tokens))
		if !s.primed && len(s.slot.tokens) >= s.prompt {
			s.primed = true
			// Forced text after the prompt is in the batch, but does not count as prompt.
			forced := len(s.slot.tokens) - s.prompt
			s.prefilled = decoded.Add(-decoded.Sub(began) * time.Duration(forced) / time.Duration(max(1, l.batch.Len())))
		}
		if len(s.stops) > 0 && len(s.slot.tokens) == s.stops[0].at {
			l.keep(s)
		}
		switch {
		case s.given != nil:
			s.logits, s.given = s.given, nil
			l.sampled = append(l.sampled, s)
		case s.row >= 0:
			s.logits = l.context.Logits(s.row)
			l.sampled = append(l.sampled, s)
			if l.slots.grain > 1 && s.kind != prefix.Written {
				s.slot.answer, s.slot.whole = slices.Clone(s.logits), len(s.slot.tokens)
			}
		}
		if d := s.drafter; d != nil && d.used > 0 {
			l.counts.DraftSteps++
			d.takeLogits(l.context)
			for _, g := range d.all[:d.used] {
				s.slot.tokens = append(s.slot.tokens, g.token)
			}
			s.slot.spans = s.slot.spans.Add(len(s.slot.tokens), prefix.Written)
		}
	}
	l.sampled = l.away.collect(l.sampled)
	help := time.Duration(len(l.sampled)-1)*l.sampling > worthHelp
	return l.conclude(l.away.attend(l.sampled, (*sequence).advance, stageAdvanced, help))
}

// conclude ends a step with the sequences that have been advanced.
func (l *loop) conclude(advanced []*sequence, still bool) bool {
	if !still {
		return false
	}
	l.sampled = advanced
	for _, s := range advanced {
		s.logits = nil // the next ones may be in other memory
		l.sampling = recent(l.sampling, s.advancing)
	}
	l.judge()
	l.settle(l.inBatch)
	l.tracing.span(PartStep, l.stepped, nil, l.batch.Len())
	return true
}

// startMasks has workers compute the masks after this batch while it is decoded,
// unless they are so quick that waking a worker doesn't pay; then advance computes
// them.
func (l *loop) startMasks() {
	l.unmasked = l.unmasked[:0]
	var expected time.Duration
	for _, s := range l.inBatch {
		if s.matcher != nil && !s.masked {
			l.unmasked = append(l.unmasked, s)
			if expected += s.masking; s.limits.Masks == 0 {
				expected += worthHelp // the first one may be of a new grammar
			}
		}
	}
	if expected < worthHelp {
		return
	}
	for _, s := range l.unmasked {
		l.away.give(s, (*sequence).prepare, stageMasked)
	}
}

// recent returns an exponential moving average over about the last eight durations.
func recent(mean, latest time.Duration) time.Duration {
	if mean == 0 {
		return latest
	}
	return mean + (latest-mean)/8
}

// fill builds the next batch: first the tokens of generating sequences, then prompts,
// which share a chunk evenly, in whole blocks. It returns how many tokens of prompts the
// batch contains.
func (l *loop) fill() int {
	l.batch.Reset()
	l.inBatch = l.inBatch[:0]
	room := l.context.MaxBatch()
	prompts := func(n int) int {
		if n <= inlinePending {
			return 0
		}
		return n
	}
	if s := l.nextSuspect(); s != nil {
		return prompts(l.take(s, room))
	}
	first := l.active[l.turn%len(l.active)]
	if first.job.req.Solo {
		l.turn++
		l.batch.Steady = true
		if l.slots.grain > 1 { // else the result would depend on the chunks
			room = l.chunks.room(false, room)
		}
		return prompts(l.take(first, room))
	}
	var prefilling []*sequence
	generating := false
	for i := range l.active {
		s := l.active[(l.turn+i)%len(l.active)]
		if s.job.req.Solo {
			continue // its turn comes
		}
		if len(s.pending()) > inlinePending {
			prefilling = append(prefilling, s)
			continue
		}
		generating = true
		l.take(s, room-l.batch.Len())
	}
	l.turn++
	if len(prefilling) == 0 {
		return 0
	}
	rest, read := l.chunks.room(generating && len(l.inBatch) > 0, room-l.batch.Len()), 0
	for i, s := range prefilling {
		n := l.take(s, min(max(rest/(len(prefilling)-i), l.chunks.unit), rest))
		rest, read = rest-n, read+n
	}
	return read
}

// nextSuspect returns a sequence that gets a batch of its own, nil if there is none.
func (l *loop) nextSuspect() *sequence {
	for len(l.suspect) > 0 {
		s := l.suspect[0]
		l.suspect = l.suspect[1:]
		if slices.Contains(l.active, s) && len(s.pending()) > 0 {
			return s
		}
	}
	return nil
}

// take puts at most room tokens of s into the batch and returns the number.
func (l *loop) take(s *sequence, room int) int {
	pending := s.pending()
	s.taken, s.row = 0, -1
	if s.given != nil {
		l.inBatch = append(l.inBatch, s)
		return 0
	}
	n := min(len(pending), room)
	s.kind = prefix.Written
	switch at := len(s.slot.tokens); {
	case !l.slots.rewinds:
	case !s.primed:
		n, s.kind = s.job.cutting.Next(at, len(s.tokens), room)
	case at < s.prompt: // its cells were given up
		n, s.kind = s.job.cutting.Next(at, s.prompt, room)
	}
	if len(s.stops) > 0 {
		n = min(n, s.stops[0].at-len(s.slot.tokens))
	}
	if n <= 0 {
		return 0
	}
	s.taken = n
	s.row = l.batch.AddTokens(s.slot.id, int32(len(s.slot.tokens)), pending[:n], n == len(pending))
	l.inBatch = append(l.inBatch, s)
	return n
}

// announce records for jobEnded the jobs in the running batch, or with nil that none
// is running. It reports whether any of the jobs is still wanted.
func (l *loop) announce(abort context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.decoding, l.abort = l.decoding[:0], abort
	if abort == nil {
		clear(l.decoding[:cap(l.decoding)])
		return false
	}
	wanted := false
	for _, s := range l.inBatch {
		l.decoding = append(l.decoding, s.job)
		wanted = wanted || s.job.ctx.Err() == nil
	}
	return wanted
}

// decodeFailed recovers from a batch that was not decoded.
func (l *loop) decodeFailed(err error) {
	for _, s := range l.active {
		before := len(s.slot.tokens)
		l.slots.resync(s.slot)
		if len(s.slot.tokens) < before && s.job.ctx.Err() == nil {
			l.slots.recall(s.slot, s.run())
		}
	}
	switch {
	case errors.Is(err, backend.ErrAborted):
	case errors.Is(err, backend.ErrNoSlot) && l.drafted:
		l.crowded = true
	case errors.Is(err, backend.ErrNoSlot) && (l.makeRoom() || l.away.takeCells()):
	case errors.Is(err, backend.ErrNoSlot) && len(l.active) > 1:
		l.preempt(l.active[len(l.active)-1])
	case len(l.inBatch) > 1:
		// One of them may be at fault and must not make the others fail.
		l.cfg.Log.Warn("decode failed, the sequences go on one by one", "error", err, "sequences", len(l.inBatch))
		l.suspect = append(l.suspect[:0], l.inBatch...)
	default:
		l.cfg.Log.Error("decode failed", "error", err, "entries", l.batch.Len(), "sequences", len(l.inBatch))
		for _, s := range l.inBatch {
			s.fail(err)
		}
		l.settle(l.inBatch)
	}
}

// makeRoom finds KV cells for a batch that did not fit: new ones while they are
// cheap, else those of prompts kept only for reuse, else new ones.
func (l *loop) makeRoom() bool {
	grower, _ := l.context.(backend.Grower)
	return grower != nil && grower.Grow(false) || l.slots.evict() || grower != nil && grower.Grow(true)
}

// preempt empties and releases the slot of a sequence. The sequence restarts from its
// tokens once there is room.
func (l *loop) preempt(s *sequence) {
	l.counts.Preempted++
	l.full = true
	l.emit(s, time.Now())
	l.slots.clear(s.slot)
	l.slots.release(s.slot)
	s.slot = nil
	l.active = slices.DeleteFunc(l.active, func(x *sequence) bool { return x == s })
	l.waiting = slices.Insert(l.waiting, 0, s)
}

// settle sends the events of sequences that advanced and removes those that have
// ended. Slots are freed and counts published before the last event is sent, so that
// clients see the new state.
func (l *loop) settle(list []*sequence) {
	now := time.Now()
	for _, s := range list {
		switch {
		case s.err != nil:
			l.drop(s.job, s.err)
		case s.ended && slices.Contains(l.active, s):
			l.release(s)
			l.seats.rise(s)
			l.full = false
			l.active = slices.DeleteFunc(l.active, func(x *sequence) bool { return x == s })
			l.counts.GeneratedTokens += uint64(s.generated())
			l.counts.ForcedTokens += uint64(s.limits.ForcedTokens)
			if !s.prefilled.IsZero() {
				l.counts.PromptTime += s.prefilled.Sub(s.started)
				l.counts.GenerateTime += now.Sub(s.prefilled)
			}
			s.job.open--
			l.shares.left(s.job.req.Client, now)
		}
	}
	l.publish()
	for _, s := range list {
		if j := s.job; s.ended {
			if l.emit(s, now); j.open == 0 {
				l.leaving = append(l.leaving, leave{j, io.EOF})
			}
		}
	}
	l.sayGoodbye()
}

// A leave is a job that has ended but whose stream is still open.
type leave struct {
	job *job
	err error
}

// sayGoodbye ends the streams of the jobs in leaving.
func (l *loop) sayGoodbye() {
	if len(l.leaving) == 0 {
		return
	}
	now := time.Now()
	for _, x := range l.leaving {
		for _, s := range x.job.sequences {
			l.emit(s, now)
		}
		x.job.stream.finish(x.err)
		x.job.forget()
	}
	clear(l.leaving)
	l.leaving = l.leaving[:0]
}

// patience is how long text may be held before its reader receives it. Waking a
// reader for each token of a small model would cost more than the token.
const patience = 8 * time.Millisecond

// tell sends the text that would exceed patience by the end of a step of the expected
// duration. The first text of a sequence is sent at once.
func (l *loop) tell(now time.Time, expected time.Duration) {
	for _, s := range l.active {
		if expected > patience || now.Sub(s.told) > patience-expected {
			l.emit(s, now)
		}
	}
}

// emit sends the unsent text of a sequence, and its result if it has ended.
func (l *loop) emit(s *sequence, now time.Time) {
	done := s.ended && s.err == nil && !s.done
	if len(s.text) == s.sent && len(s.unsent) == 0 && !done || s.holding && !s.ended {
		return
	}
	start := l.tracing.clock()
	ev := Event{Choice: s.choice, Text: string(s.text[s.sent:]), Passages: s.passages, Tokens: s.unsent}
	s.sent, s.unsent, s.passages, s.told = len(s.text), nil, nil, now
	if done {
		s.done, ev.Done = true, s.summary(now)
	}
	s.job.stream.send(ev)
	l.tracing.span(PartDeliver, start, s, 0)
}
