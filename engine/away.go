package engine

import (
	"context"
	"slices"
	"time"
)

// A sequence whose step takes longer than about a batch goes away: a worker continues
// it, and the others don't wait. It keeps its slot unless another sequence needs it, and
// comes back when the step is done. Until then only its slot may be touched.

// A stage is what remains to be done for a sequence once its step is done.
type stage uint8

const (
	stageBegun    stage = iota // confirm
	stageMasked                // advance, if there are logits
	stageAdvanced              // judge
)

// The loop waits for a step as long as the last batch took, within these bounds.
const (
	leastPatience = time.Millisecond
	mostPatience  = 10 * time.Millisecond
)

// A sequence that was too late delays the others again each time that it comes back. For its next steps the loop waits
// only an eighth of the last batch, within these bounds: less than the lower one would be shorter than going away takes,
// with a copy of the logits.
const (
	slowFor           = 16 // steps, two for each token
	leastSlowPatience = 100 * time.Microsecond
	mostSlowPatience  = time.Millisecond
)

// away is the part of a loop that runs steps of sequences on workers and keeps the
// sequences that are away.
type away struct {
	loop  *loop
	list  []*sequence // with a slot, unless others needed it; each is in the hands of a worker
	given []*sequence // to workers and not yet collected

	// The steps that attend has begun.
	attended []*sequence // all of them
	mine     []*sequence // those that the loop has yet to run itself
	step     func(*sequence)
	at       stage
	watch    watch
}

// attend runs a step for every sequence and returns those whose step is done; the others are away. The loop runs steps
// itself that are expected to be short; with help, all but one of these run on workers too. If still is false, another
// goroutine has become the loop, and the caller must return without touching anything.
func (a *away) attend(list []*sequence, step func(*sequence), at stage, help bool) (done []*sequence, still bool) {
	a.given, a.mine = a.given[:0], a.mine[:0]
	a.attended, a.step, a.at = list, step, at
	for _, s := range list {
		if s.toll.wanted() {
			s.slow = max(s.slow, 1) // the rest takes longer than the others should wait
		}
		quick := s.matcher == nil || at == stageAdvanced && s.slow == 0
		if quick && (len(a.mine) == 0 || !help) {
			a.mine = append(a.mine, s)
		} else {
			a.give(s, step, at)
		}
	}
	return a.goOn()
}

// goOn runs the steps that are left to the loop itself, and collects the others.
func (a *away) goOn() (done []*sequence, still bool) {
	for len(a.mine) > 0 {
		s := a.mine[0]
		a.mine = a.mine[1:]
		if s.matcher == nil {
			guard(s, a.step)
		} else if !a.own(s) {
			return nil, false
		}
	}
	return a.collect(a.attended), true
}

// patience is how long the loop waits for a step: as long as the last batch took, within bounds.
func (a *away) patience() time.Duration {
	return min(max(a.loop.lastBatch, leastPatience), mostPatience)
}

// give hands a step of s to a worker. collect or goAway follows.
func (a *away) give(s *sequence, step func(*sequence), at stage) {
	l := a.loop
	s.stage = at
	a.given = append(a.given, s)
	l.workers.give(s, step)
}

// collect waits for the steps given to workers and returns list without the sequences
// that took too long.
func (a *away) collect(list []*sequence) []*sequence {
	l := a.loop
	if len(a.given) == 0 {
		return list
	}
	slow := func(s *sequence) bool { return s.slow > 0 } // lately, and maybe again
	quick := slices.DeleteFunc(slices.Clone(a.given), slow)
	late := l.workers.wait(quick, a.patience())
	if len(quick) < len(a.given) {
		rest := slices.DeleteFunc(slices.Clone(a.given), func(s *sequence) bool { return !slow(s) })
		for _, s := range rest {
			s.slow--
		}
		late = append(late, l.workers.wait(rest, min(max(l.lastBatch/8, leastSlowPatience), mostSlowPatience))...)
	}
	a.given = a.given[:0]
	for _, s := range late {
		a.goAway(s)
	}
	if len(late) == 0 {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(s *sequence) bool { return slices.Contains(late, s) })
}

// goAway removes a sequence from the active ones while a worker continues it. Its logits
// belong to the context and are valid until the next batch, so it gets a copy.
func (a *away) goAway(s *sequence) {
	l := a.loop
	s.keepLogits()
	isIt := func(x *sequence) bool { return x == s }
	l.active = slices.DeleteFunc(l.active, isIt)
	l.inBatch = slices.DeleteFunc(l.inBatch, isIt)
	a.list = append(a.list, s)
	s.job.away++
	s.slow, s.outside = slowFor, true
}

// comeBack takes back the sequences whose steps are done.
func (a *away) comeBack() {
	l := a.loop
	for _, s := range slices.Clone(a.list) {
		select {
		case <-s.back:
		default:
			continue
		}
		j := s.job
		if s.stage == stageMasked && s.logits != nil && !s.ended && j.ctx.Err() == nil {
			s.stage = stageAdvanced
			l.workers.give(s, (*sequence).advance)
			continue
		}
		a.list = slices.DeleteFunc(a.list, func(x *sequence) bool { return x == s })
		j.away--
		s.outside = false
		if j.ctx.Err() != nil { // also if the job was lost
			l.release(s)
			l.full = false
			if j.lost == nil {
				l.counts.Cancelled++
				l.drop(j, context.Cause(j.ctx))
			} else if j.away == 0 {
				l.leaving = append(l.leaving, leave{j, j.lost})
			}
			l.publish()
			l.sayGoodbye()
			continue
		}
		l.active = append(l.active, s)
		switch {
		case s.slot == nil:
			s.drafter.reset()
		case s.stage == stageBegun:
			l.confirm(s)
		case s.stage == stageAdvanced:
			l.judgeOne(s)
		}
		s.logits = nil
		l.settle([]*sequence{s})
		if s.slot == nil && slices.Contains(l.active, s) {
			// Others needed its slot. It continues once another one is free.
			l.active = l.active[:len(l.active)-1]
			l.waiting = slices.Insert(l.waiting, 0, s)
		}
	}
}

// mostAway is how many sequences may be away, as a multiple of Config.Parallel.
const mostAway = 4

// takeSlot takes the slot of the sequence that has been away longest, as preempt does
// for an active one.
func (a *away) takeSlot() bool {
	l := a.loop
	for _, s := range a.list {
		if s.slot != nil {
			l.counts.Preempted++
			l.slots.clear(s.slot)
			l.release(s)
			s.slot = nil
			return true
		}
	}
	return false
}

// release releases the slot of a sequence, if it has one.
func (l *loop) release(s *sequence) {
	if s.slot != nil {
		l.slots.release(s.slot)
	}
}

// takeCells frees KV cells by emptying the fullest slot among the sequences that are
// away. Its tokens are decoded again once the sequence is back.
func (a *away) takeCells() bool {
	l := a.loop
	var most *sequence
	for _, s := range a.list {
		if s.slot != nil && len(s.slot.tokens) > 0 && (most == nil || len(s.slot.tokens) > len(most.slot.tokens)) {
			most = s
		}
	}
	if most == nil {
		return false
	}
	l.counts.Preempted++
	l.slots.clear(most.slot)
	most.emptied = true
	return true
}

// keepLogits copies the logits that the sequence's step may still read.
func (s *sequence) keepLogits() {
	s.looking.Lock()
	defer s.looking.Unlock()
	s.logits = slices.Clone(s.logits)
	if d := s.drafter; d != nil {
		for i, row := range d.logits {
			d.logits[i] = slices.Clone(row)
		}
	}
}
