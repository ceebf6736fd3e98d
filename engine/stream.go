package engine

import (
	"context"
	"io"
	"sync"
)

// A Stream carries the events of one request to its reader. The engine never
// waits for the reader: unread events are buffered. Their size is bounded by
// the request's budget.
type Stream struct {
	mu     sync.Mutex
	events []Event
	err    error // returned after the events; io.EOF on success
	signal chan struct{}
	hangUp context.CancelFunc
}

func newStream() *Stream { return &Stream{signal: make(chan struct{}, 1)} }

// Next returns the next event. After the last one it returns io.EOF or the
// error that ended the request. If ctx ends first, it returns the context's
// cause.
func (s *Stream) Next(ctx context.Context) (Event, error) {
	for {
		s.mu.Lock()
		if len(s.events) > 0 {
			ev := s.events[0]
			s.events[0] = Event{}
			s.events = s.events[1:]
			s.mu.Unlock()
			return ev, nil
		}
		err := s.err
		s.mu.Unlock()
		if err != nil {
			return Event{}, err
		}
		select {
		case <-s.signal:
		case <-ctx.Done():
			return Event{}, context.Cause(ctx)
		}
	}
}

// Close stops the stream; a request still running is cancelled.
func (s *Stream) Close() { s.hangUp() }

// Collect reads all events and returns the results by choice.
func (s *Stream) Collect(ctx context.Context) ([]*Result, error) {
	var out []*Result
	for {
		ev, err := s.Next(ctx)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if ev.Done == nil {
			continue
		}
		for len(out) <= ev.Choice {
			out = append(out, nil)
		}
		out[ev.Choice] = ev.Done
	}
}

// send appends an event. It joins text to unread text of the same choice, so
// that a slow reader gets fewer and larger events.
func (s *Stream) send(ev Event) {
	s.mu.Lock()
	if n := len(s.events); n > 0 && s.err == nil {
		if last := &s.events[n-1]; last.Choice == ev.Choice && last.Done == nil && last.Progress == nil && ev.Progress == nil {
			last.Text += ev.Text
			for _, p := range ev.Passages {
				last.Passages = appendPassage(last.Passages, p)
			}
			last.Tokens = append(last.Tokens, ev.Tokens...)
			last.Done = ev.Done
			s.mu.Unlock()
			return
		}
	}
	if s.err == nil {
		s.events = append(s.events, ev)
	}
	s.mu.Unlock()
	s.wake()
}

// appendPassage appends a passage, or joins it to the last one if it
// continues that.
func appendPassage(list []Passage, p Passage) []Passage {
	if n := len(list); n > 0 && list[n-1].Visit == p.Visit {
		list[n-1].Text += p.Text
		return list
	}
	return append(list, p)
}

// finish ends the stream. Only the first call has an effect.
func (s *Stream) finish(err error) {
	s.mu.Lock()
	if s.err == nil {
		s.err = err
	}
	s.mu.Unlock()
	s.wake()
}

func (s *Stream) wake() {
	select {
	case s.signal <- struct{}{}:
	default:
	}
}
