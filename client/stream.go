package client

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
)

// An Event is a part of a streamed answer: a piece of text, a completed field, or at the end the whole answer. Exactly
// one of the three is set.
type Event struct {
	Token string
	Field *StreamedField
	Done  *Answer
}

// A StreamedField is a value that is complete while the rest of the document is still being generated.
type StreamedField struct {
	Pointer    string          `json:"pointer"` // empty: the whole document
	Value      json.RawMessage `json:"value"`
	Confidence float64         `json:"confidence"`
}

// Stream requests a document and yields its parts as they arrive. The last event has Done set, unless an error ends the
// stream. Leaving the loop early cancels the request.
func (c *Client) Stream(ctx context.Context, r Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		if r.Model == "" {
			r.Model = c.Model
		}
		body, err := r.body(true)
		if err != nil {
			yield(Event{}, fmt.Errorf("stencil: %w", err))
			return
		}
		answer, err := c.send(ctx, "/generate_json", body)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer answer.Body.Close()
		in := bufio.NewScanner(answer.Body)
		in.Buffer(nil, 1<<26)
		kind, done := "", false
		for in.Scan() {
			if name, ok := strings.CutPrefix(in.Text(), "event: "); ok {
				kind = name
				continue
			}
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !ok {
				continue
			}
			event, err := decodeEvent(kind, []byte(data))
			if !yield(event, err) || err != nil {
				return
			}
			done = done || event.Done != nil
		}
		if err := in.Err(); err != nil {
			yield(Event{}, fmt.Errorf("stencil: %w", err))
		} else if !done {
			yield(Event{}, fmt.Errorf("stencil: the stream ended before the answer did"))
		}
	}
}

// decodeEvent decodes the data of an event of the given kind.
func decodeEvent(kind string, data []byte) (e Event, err error) {
	var token struct{ Text string }
	var failed struct{ Error *Error }
	switch kind {
	case "token":
		err = json.Unmarshal(data, &token)
		e.Token = token.Text
	case "field":
		e.Field = new(StreamedField)
		err = json.Unmarshal(data, e.Field)
	case "done":
		e.Done = new(Answer)
		err = json.Unmarshal(data, e.Done)
	case "error":
		if err = json.Unmarshal(data, &failed); err == nil && failed.Error != nil {
			return Event{}, failed.Error
		}
	}
	if err != nil {
		return Event{}, fmt.Errorf("stencil: the event %s can't be read: %w", kind, err)
	}
	return e, nil
}
