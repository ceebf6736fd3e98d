package engine

import "github.com/stencil-json/stencil/backend"

// draft appends the first n guesses to a batch and returns how many of them are not forced.
func (d *drafter) draft(b *backend.Batch, s *sequence, n int) (drafted int) {
	at := int32(len(s.slot.tokens) + s.taken)
	d.begun, d.used, d.rows, d.logits = int(at), n, d.rows[:0], d.logits[:0]
	for i, g := range d.all[:n] {
		answer := i+1 == n || !d.all[i+1].forced
		d.rows = append(d.rows, b.Add(s.slot.id, at+int32(i), g.token, answer))
		if !g.forced {
			drafted++
		}
	}
	d.drafted += drafted
	return drafted
}

// came returns how many of the guesses in the last batch came true.
func (d *drafter) came(tokens []int32) int {
	n := 0
	for n < d.used && d.begun+n < len(tokens) && d.all[n].token == tokens[d.begun+n] {
		n++
	}
	return n
}

// after returns the logits after the last token if it was a guess in the batch, else nil.
func (d *drafter) after(tokens []int32) []float32 {
	n := len(tokens) - d.begun
	if n < 1 || n > d.used || d.came(tokens) < n {
		return nil
	}
	return d.logits[n-1]
}

// takeLogits borrows the requested rows of logits.
func (d *drafter) takeLogits(c backend.Context) {
	for _, row := range d.rows {
		var logits []float32
		if row >= 0 {
			logits = c.Logits(row)
		}
		d.logits = append(d.logits, logits)
	}
}

// draft adds guesses to a batch that holds the last tokens of generating sequences, as long as
// they are worth their places.
func (l *loop) draft() {
	l.drafted = false
	if l.crowded || l.cfg.Draft < 1 || !l.slots.rewinds {
		l.crowded = false
		return
	}
	for _, s := range l.inBatch {
		if s.row < 0 || !s.primed || s.job.req.Solo || len(s.stops) > 0 {
			continue
		}
		if s.drafter == nil {
			s.drafter = newDrafter(s.vocab, l.cfg.Draft, l.learnt)
		}
		d := s.drafter
		room := min(l.context.MaxBatch()-l.batch.Len(), s.left()-1, inlinePending)
		guard(s, func(s *sequence) {
			if err := d.guess(s.tokens, s.matcher, !s.job.req.NoForced, room); err != nil {
				s.fail(s.constraintError(err))
			}
		})
		if s.ended {
			continue
		}
		n := l.prices.worth(d.all, l.batch.Len(), len(l.inBatch))
		if l.cfg.draftAll {
			n = len(d.all)
		}
		if n > 0 {
			l.counts.DraftTokens += uint64(d.draft(&l.batch, s, n))
			l.drafted = true
		}
	}
}

// judge discards wrong guesses.
func (l *loop) judge() {
	for _, s := range l.inBatch {
		l.judgeOne(s)
	}
}

func (l *loop) judgeOne(s *sequence) {
	d := s.drafter
	if s.changed {
		s.changed = false
		d.restart()
		if n := min(commonPrefix(s.slot.tokens, s.tokens), len(s.tokens)-1); n < len(s.slot.tokens) {
			if n < s.prompt { // else the prompt stays as it was read
				n = s.job.cutting.Usable(s.slot.spans, n)
			}
			l.slots.cut(s.slot, n)
		}
		return
	}
	if d == nil || s.row < 0 {
		return
	}
	if s.emptied {
		d.reset()
		return
	}
	before := len(s.slot.tokens) - d.used
	d.heard(s.tokens[before:])
	if d.used == 0 {
		return
	}
	n := d.came(s.tokens)
	for _, g := range d.all[:n] {
		if !g.forced {
			d.accepted++
			l.counts.AcceptedTokens++
		}
	}
	if !s.ended {
		n = min(n, len(s.tokens)-before-1) // the last token is still to be decoded
	}
	l.slots.cut(s.slot, before+n)
	d.used = 0
}

// reset drops the guesses of the last batch.
func (d *drafter) reset() {
	if d != nil {
		d.all, d.used, d.place = d.all[:0], 0, ""
	}
}

// restart drops the text, since the prompt and text in the context have been replaced.
func (d *drafter) restart() {
	if d == nil {
		return
	}
	d.reset()
	d.used, d.filed, d.source.at = 0, 0, -1
	d.text, d.ends = d.text[:0], d.ends[:0]
	clear(d.heads[:])
}
