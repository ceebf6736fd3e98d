package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

// A Stream is a text being generated. It is not safe for concurrent use.
type Stream struct {
	client *Client
	ctx    context.Context
	body   io.ReadCloser
	raw    *allowance
	events *Events
	sum    Completion // received so far
	text   strings.Builder
	calls  callSum
	ended  bool
	left   int // bytes that may still arrive
}

// A Piece is a part of a text.
type Piece struct {
	Text      string
	Reasoning string
	Tokens    []Token
}

// Stream requests a text in pieces. Failures before the first piece are
// retried as by Complete; later ones are not, since the caller already has the
// start of the text.
func (c *Client) Stream(ctx context.Context, r *Request) (*Stream, error) {
	body, err := c.body(r, true)
	if err != nil {
		return nil, &Error{Kind: Malformed, Cause: err}
	}
	var resp *http.Response
	tries, err := c.try(ctx, func(ctx context.Context) (err error) {
		resp, err = c.post(ctx, "/chat/completions", body)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &Stream{client: c, ctx: ctx, body: resp.Body, raw: newAllowance(resp.Body, r.MaxTokens), left: r.most()}
	s.events = NewEvents(s.raw)
	s.sum.Tries = tries
	return s, nil
}

// Close ends the request.
func (s *Stream) Close() error { return s.body.Close() }

// Next returns the next piece; after the last one io.EOF, an *Error if the
// stream broke, or the context's cause.
func (s *Stream) Next() (Piece, error) {
	for {
		data, err := s.events.Next()
		if err != nil {
			return Piece{}, s.broken(err)
		}
		if string(data) == "[DONE]" {
			s.ended = true
			return Piece{}, s.broken(io.EOF)
		}
		var a wireAnswer
		if err := json.Unmarshal(data, &a); err != nil {
			return Piece{}, s.fail(&Error{Kind: Malformed, Message: excerpt(s.client.hide(data)), Cause: err})
		}
		if a.Error != nil {
			e := &Error{Kind: Unavailable}
			e.words(s.client.hide(data))
			return Piece{}, s.fail(e)
		}
		if a.Model != "" {
			s.sum.Model = a.Model
		}
		if a.Usage != nil {
			s.sum.Usage = s.client.usage(a.Usage) // of the whole text, regardless of when it comes
		}
		if len(a.Choices) == 0 {
			continue
		}
		first := a.Choices[0]
		if first.Finish != "" {
			s.sum.Finish = first.Finish
		}
		p := Piece{Tokens: first.Logprobs.tokens()}
		if d := first.Delta; d != nil {
			p.Text, p.Reasoning = string(d.Content), d.reasoning()
			s.sum.Refusal += d.Refusal
			s.calls.add(d.Calls)
		}
		if first.size() > 0 || len(p.Tokens) > 0 {
			s.raw.silent = mostSilent
		}
		if s.left -= first.size() + perCall*len(p.Tokens); s.left < 0 {
			return Piece{}, s.fail(tooMuch(0))
		}
		s.text.WriteString(p.Text)
		s.sum.Reasoning += p.Reasoning
		s.sum.Tokens = append(s.sum.Tokens, p.Tokens...)
		if p.Text != "" || p.Reasoning != "" || len(p.Tokens) > 0 {
			return p, nil
		}
	}
}

// broken returns the error for the end of the events.
func (s *Stream) broken(err error) error {
	var e *Error
	switch {
	case s.ctx.Err() != nil:
		return context.Cause(s.ctx)
	case err == io.EOF && s.sum.Finish == "" && !s.ended, err == io.ErrUnexpectedEOF:
		return s.fail(&Error{Kind: Cut, Message: "the stream ended before the text did"})
	case err == io.EOF:
		s.client.count(s.sum.Usage)
		return io.EOF
	case errors.As(err, &e):
		return s.fail(e)
	case errors.Is(err, errLongEvent), errors.Is(err, errFlood):
		return s.fail(&Error{Kind: Malformed, Cause: err})
	}
	return s.fail(&Error{Kind: Cut, Cause: err})
}

func (s *Stream) fail(e *Error) error {
	s.client.count(s.sum.Usage)
	s.client.redact(e)
	e.Tries = s.sum.Tries
	return e
}

// Completion returns what has been received; it is complete after Next has
// returned io.EOF.
func (s *Stream) Completion() *Completion {
	out := s.sum
	out.Calls = s.calls.calls()
	if out.Text = s.text.String(); out.Finish == "" {
		out.Finish = "stop"
	}
	return &out
}
