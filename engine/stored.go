package engine

import (
	"time"

	"github.com/stencil-json/stencil/engine/promptcache"
)

// Bounds of what goes through the disk, in tokens. A state is written if it
// saves at least so many, and a good part of itself, compared with what is
// stored already: a conversation that grows is then written some four times
// its size in all, not once a turn. It is read if it saves so many, and a part
// of itself, compared with what is in memory.
const (
	writeSpacing, writePart = 256, 4
	readSpacing, readPart   = 128, 8
)

// A stored is the state of a prompt's beginning on its way from disk.
type stored struct {
	tokens  int           // how many it holds
	done    chan struct{} // closed when it has been read
	state   []byte        // nil if it could not be
	refused error         // why the backend did not take it
}

// find looks for the beginning of a job's prompt on disk. It runs on the
// goroutine that submits the job.
func (j *job) find(shelf *promptcache.Shelf) {
	if shelf == nil || j.req.Solo || j.req.NoReuse {
		return
	}
	n := len(j.req.Prompt) - 1
	j.readable, j.known = shelf.Find(j.req.Prompt[:n])
}

// worthReading reports whether a state of so many tokens is worth reading where
// so many are in memory.
func worthReading(tokens, present int) bool {
	return tokens-present >= max(readSpacing, tokens/readPart)
}

// worthWriting is the same for states to be written and what is on disk.
func worthWriting(tokens, known int) bool {
	return tokens-known >= max(writeSpacing, tokens/writePart)
}

// reading reports whether a sequence has to wait for its beginning to be read
// from disk. The first time it is asked, it has that begun if it is worth it.
func (l *loop) reading(s *sequence) bool {
	if s.stored == nil {
		tokens := s.job.readable
		if tokens == 0 || !worthReading(tokens, l.slots.reach(s.tokens, s.job.cutting)) {
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

// read begins to read the first so many tokens of a sequence.
func (l *loop) read(s *sequence, tokens int) {
	if s.started.IsZero() {
		s.started = time.Now()
	}
	r := &stored{tokens: tokens, done: make(chan struct{})}
	s.stored = r
	prefix := s.tokens[:tokens:tokens]
	l.reads.Go(func() {
		r.state, _ = l.shelf.Read(prefix)
		close(r.done)
		l.signal()
	})
}

// arrived returns what was read for a sequence that is about to get its slot, nil
// if there is nothing.
func (s *sequence) arrived() *stored {
	if s.stored == nil || s.stored.state == nil {
		return nil
	}
	return s.stored
}

// placed says that a sequence has its slot, and needs what was read for it no
// more. What could not be read or used is not asked for again.
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
		l.reads.Go(func() { l.shelf.Reject(prefix, reason) })
	}
}

// readsRunning returns how many sequences wait for the disk, or for a slot for
// what came from it.
func (l *loop) readsRunning() (n int) {
	for _, s := range l.waiting {
		if s.stored != nil {
			n++
		}
	}
	return n
}

// A stop is a position in a prompt at which a sequence's state is kept.
type stop struct {
	at     int
	memory bool // as a checkpoint
	disk   bool
}

// plan says where a sequence, which has just got its slot, has to stop.
func (l *loop) plan(s *sequence) {
	s.stops = s.stops[:0]
	kept := l.slots.atMarks()
	if s.job.req.Solo || kept == nil && l.shelf == nil {
		return
	}
	inMemory, onDisk := 0, s.job.known
	consider := func(at int) {
		if l.slots.rewinds {
			at = s.job.cutting.before(at) // where the prompt is cut anyway
		}
		if at <= len(s.slot.tokens) || at >= s.prompt {
			return
		}
		x := stop{at: at}
		if kept.wants(s.tokens[:at]) && at-inMemory >= spacing {
			x.memory, inMemory = true, at
		}
		if l.shelf != nil && l.scales == nil && worthWriting(at, onDisk) && (l.tooLong == 0 || at < l.tooLong) {
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

// keep keeps the state of a sequence that has come to a stop.
func (l *loop) keep(s *sequence) {
	x := s.stops[0]
	s.stops = s.stops[1:]
	tokens := s.slot.tokens
	// Another sequence may have been here in the meantime.
	x.memory = x.memory && l.slots.kept.wants(tokens)
	x.disk = x.disk && !l.shelf.Has(tokens)
	var state []byte
	switch {
	case x.memory:
		state, _ = l.slots.keepState(s.slot)
	case x.disk:
		state = l.slots.state(s.slot)
	}
	if x.disk && state != nil {
		if int64(len(state)) > l.shelf.MaxState() && (l.tooLong == 0 || len(tokens) < l.tooLong) {
			l.tooLong = len(tokens)
			l.cfg.Log.Warn("a prompt is larger than the prompt cache takes", "tokens", len(tokens), "bytes", len(state), "most", l.shelf.MaxState())
		}
		l.shelf.Put(append([]int32(nil), tokens...), state)
	}
}
