package engine

import (
	"time"

	"github.com/stencil-json/stencil/engine/promptcache"
)

// Bounds for disk access, in tokens. A state is written if it saves at least
// writeSpacing tokens and a quarter of its own, compared with what is on disk: a
// growing conversation is then written about four times in all, not once a turn.
// It is read if it saves at least readSpacing tokens and an eighth of its own,
// compared with what is in memory.
const (
	writeSpacing, writePart = 256, 4
	readSpacing, readPart   = 128, 8
)

// A stored is the state of a prefix of a prompt, being read from disk.
type stored struct {
	tokens  int           // tokens in the state
	done    chan struct{} // closed when it has been read
	state   []byte        // nil if reading failed
	refused error         // why the backend refused it
}

// find looks for prefixes of a job's prompt on disk. It runs on the goroutine
// that submits the job.
func (j *job) find(shelf *promptcache.Shelf) {
	if j.shelf = shelf.Of(j.owner); j.shelf == nil || j.req.Solo || j.req.NoReuse {
		return
	}
	n := len(j.req.Prompt) - 1
	j.readable, j.known = j.shelf.Find(j.req.Prompt[:n])
}

// worthReading reports whether a state of the given number of tokens is worth
// reading if present tokens are in memory.
func worthReading(tokens, present int) bool {
	return tokens-present >= max(readSpacing, tokens/readPart)
}

// worthWriting is the counterpart for writing, with known tokens on disk.
func worthWriting(tokens, known int) bool {
	return tokens-known >= max(writeSpacing, tokens/writePart)
}

// reading reports whether a sequence must wait for its prefix to be read from
// disk. The first call starts reading if that is worthwhile.
func (l *loop) reading(s *sequence) bool {
	if s.stored == nil {
		tokens := s.job.readable
		if tokens == 0 || !worthReading(tokens, l.slots.reach(s.run(), s.job.cutting)) {
			return false
		}
		l.read(s, tokens)
		return true
	}
	select {
	case <-s.stored.done:
		return false
	default:
		return true
	}
}

// read starts to read the state of the first tokens of a sequence.
func (l *loop) read(s *sequence, tokens int) {
	if s.started.IsZero() {
		s.started = time.Now()
	}
	r := &stored{tokens: tokens, done: make(chan struct{})}
	s.stored = r
	prefix := s.tokens[:tokens:tokens]
	l.reads.Go(func() {
		r.state, _ = s.job.shelf.Read(prefix)
		close(r.done)
		l.signal()
	})
}

// arrived returns what was read for a sequence that is about to get its slot, or
// nil.
func (s *sequence) arrived() *stored {
	if s.stored == nil || s.stored.state == nil {
		return nil
	}
	return s.stored
}

// placed drops what was read for a sequence, which now has its slot. What could
// not be read or used is not requested again.
func (l *loop) placed(s *sequence) {
	r := s.stored
	if r == nil {
		return
	}
	s.stored = nil
	if r.state == nil || r.refused != nil {
		s.job.readable, s.job.known = 0, 0
	}
	if reason := r.refused; reason != nil {
		prefix := s.tokens[:r.tokens:r.tokens]
		l.reads.Go(func() { s.job.shelf.Reject(prefix, reason) })
	}
}

// readsRunning returns how many sequences wait for the disk, or for a slot after
// reading from it.
func (l *loop) readsRunning() (n int) {
	for _, s := range l.waiting {
		if s.stored != nil {
			n++
		}
	}
	return n
}

// A stop is a position in a prompt at which a sequence's state is saved.
type stop struct {
	at     int
	memory bool // as a checkpoint
	disk   bool
}

// plan sets the stops of a sequence that has just got its slot.
func (l *loop) plan(s *sequence) {
	s.stops = s.stops[:0]
	kept := l.slots.atMarks()
	if s.job.req.Solo || kept == nil && s.job.shelf == nil {
		return
	}
	inMemory, onDisk := 0, s.job.known
	consider := func(at int) {
		if l.slots.rewinds {
			at = s.job.cutting.Before(at) // where the prompt is split anyway
		}
		if at <= len(s.slot.tokens) || at >= s.prompt {
			return
		}
		x := stop{at: at}
		if kept.wants(s.run().to(at)) && at-inMemory >= spacing {
			x.memory, inMemory = true, at
		}
		if s.job.shelf != nil && l.scales == nil && worthWriting(at, onDisk) && (l.tooLong == 0 || at < l.tooLong) {
			x.disk, onDisk = true, at
		}
		if x.memory || x.disk {
			s.stops = append(s.stops, x)
		}
	}
	for _, at := range s.job.req.Marks {
		consider(at)
	}
	consider(s.prompt - 1)
}

// keep saves the state of a sequence that has reached a stop.
func (l *loop) keep(s *sequence) {
	x := s.stops[0]
	s.stops = s.stops[1:]
	tokens := s.slot.tokens
	// Another sequence may have saved it in the meantime.
	x.memory = x.memory && l.slots.kept.wants(s.slot.run)
	x.disk = x.disk && !s.job.shelf.Has(tokens)
	var state []byte
	switch {
	case x.memory:
		state, _ = l.slots.keepState(s.slot)
	case x.disk:
		state = l.slots.state(s.slot)
	}
	if x.disk && state != nil {
		if int64(len(state)) > s.job.shelf.MaxState() && (l.tooLong == 0 || len(tokens) < l.tooLong) {
			l.tooLong = len(tokens)
			l.cfg.Log.Warn("a prompt is larger than the prompt cache takes", "tokens", len(tokens), "bytes", len(state), "most", s.job.shelf.MaxState())
		}
		s.job.shelf.Put(append([]int32(nil), tokens...), state)
	}
}
