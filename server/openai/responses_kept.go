package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/openai/conversations"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
)

// kept holds the stored responses of one client, identified by its API key.
type kept struct {
	responses *stored.Store
	running   *background.Runs
	owner     string
	log       *slog.Logger
}

// keptFor returns the stored responses of a request's client.
func (s *Handlers) keptFor(r *http.Request) kept {
	return kept{s.Responses, s.Background, access.Owner(r), s.Log.With(slog.String("id", wire.NoteOf(r.Context()).ID))}
}

// notKept returns the error for something that is not stored for this client.
func notKept(status int, param, code, format string, args ...any) error {
	kind := problem.Invalid
	if status == http.StatusNotFound {
		kind = problem.NotFound
	}
	return problem.New(problem.Problem{Status: status, Kind: kind, Param: param, Code: code, Message: fmt.Sprintf(format, args...)})
}

// readPrevious reads previous_response_id: the conversation continues after that response, without its instructions.
func (q *responsesRequest) readPrevious(o *wire.Object) (err error) {
	const name = "previous_response_id"
	if err := o.Str(name, &q.previous); err != nil || q.previous == "" {
		return err
	}
	q.pastName = name
	one, _, err := q.get(q.previous)
	if err == nil && one.Running {
		return notKept(http.StatusBadRequest, name, "response_in_progress", "previous response with id %s has not ended", wire.Quoted(q.previous))
	}
	if err == nil {
		q.past, err = q.responses.Up(q.owner, q.previous)
	}
	if errors.Is(err, stored.ErrNotFound) {
		return notKept(http.StatusBadRequest, name, "previous_response_not_found",
			"previous response with id %s not found: it was not stored, was deleted, or has made room for others", wire.Quoted(q.previous))
	}
	return err
}

// readConversation reads conversation: an id, or an object with it. Its items come before the input.
func (q *responsesRequest) readConversation(o *wire.Object) error {
	const name = "conversation"
	if !o.Given(name) {
		return nil
	}
	if json.Unmarshal(o.Members[name], &q.conversation) != nil {
		c, err := o.Child(name)
		if err != nil {
			return o.WrongType(name, "an id or an object with it")
		}
		if err := errors.Join(c.Only("id"), c.Str("id", &q.conversation)); err != nil {
			return err
		}
	}
	if q.conversation == "" {
		return wire.Invalid(name, "conversation has no id")
	}
	if q.previous != "" {
		return &wire.Error{Param: name, Code: "mutually_exclusive_fields", Message: "a response belongs to a conversation or goes on from a previous response: conversation and previous_response_id exclude each other"}
	}
	c, err := q.responses.Conversation(q.owner, q.conversation)
	if errors.Is(err, stored.ErrNotFound) {
		return conversations.NotFound(q.conversation, name)
	}
	if err != nil {
		return err
	}
	q.past, q.pastName = c.Items, name
	return nil
}

// referred returns the item that an item_reference refers to, and other items unchanged.
func (q *responsesRequest) referred(item *wire.Object, raw json.RawMessage) (*wire.Object, json.RawMessage, error) {
	kind, id := "", ""
	if err := item.Str("type", &kind); err != nil {
		return nil, nil, err
	}
	if kind != "item_reference" && !(kind == "" && len(item.Names) == 1 && item.Given("id")) {
		return item, raw, nil
	}
	if err := item.Str("id", &id); err != nil {
		return nil, nil, err
	}
	if id == "" {
		return nil, nil, wire.Invalid(item.Path+"id", "%sid is missing", item.Path)
	}
	raw, err := q.responses.Item(q.owner, id)
	if errors.Is(err, stored.ErrNotFound) {
		return nil, nil, notKept(http.StatusNotFound, item.Path+"id", "item_not_found",
			"item with id %s not found: it was not stored, was deleted, or has made room for others", wire.Quoted(id))
	}
	if err != nil {
		return nil, nil, err
	}
	item, err = wire.ParseObject(raw, item.Path)
	return item, raw, err
}

// keep stores a response if requested, and adds its items to its conversation. One that is too large, also beside those of
// other clients, is not stored, nor is any while the file can't be written: the answer then has store: false.
func (q *responsesRequest) keep(out *response) error {
	if err := q.extend(out); err != nil {
		return err
	}
	if !q.store {
		return nil
	}
	err := q.put(out, q.Stream)
	if err == nil {
		return nil
	}
	out.Store = false
	out.Warnings = append(slices.Clip(out.Warnings), "the response was not stored: "+q.reason(err))
	return nil
}

// reason returns why something could not be stored, for clients.
func (q *responsesRequest) reason(err error) string {
	if errors.Is(err, stored.ErrTooLarge) || errors.Is(err, stored.ErrNoRoom) {
		return strings.TrimPrefix(err.Error(), "stored: ")
	}
	q.log.Error("storing a response failed", slog.Any("error", err))
	return "the server's log says why, under this request's id" // and where the file is, which is not for clients
}

// put stores a response as it is now.
func (q *responsesRequest) put(out *response, streamed bool) (err error) {
	one := &stored.Response{ID: out.ID, Owner: q.owner, Previous: q.previous, Conversation: q.conversation, Input: q.items, Running: out.running(), Streamed: streamed}
	if one.Output, err = rawItems(out); err != nil {
		return err
	}
	if one.Reply, err = wire.Marshal(out); err != nil {
		return err
	}
	return q.responses.Put(one)
}

func (out *response) running() bool { return out.Status == "queued" || out.Status == "in_progress" }

func rawItems(out *response) (list []json.RawMessage, err error) {
	for _, item := range out.Output {
		raw, err := wire.Marshal(item)
		if err != nil {
			return nil, err
		}
		list = append(list, raw)
	}
	return list, nil
}

// extend adds the items of a response to its conversation, all at once: those of responses made at the same time follow one
// another in the order in which they are complete.
func (q *responsesRequest) extend(out *response) error {
	if q.conversation == "" {
		return nil
	}
	output, err := rawItems(out)
	if err != nil {
		return err
	}
	var added []json.RawMessage
	_, err = q.responses.ChangeConversation(q.owner, q.conversation, func(c *stored.Conversation) (err error) {
		added, err = conversations.Append(c, slices.Concat(q.items, output))
		return err
	})
	switch {
	case err == nil:
		q.items = added[:len(q.items):len(q.items)]
		return nil
	case errors.Is(err, stored.ErrNotFound):
		out.Warnings = append(slices.Clip(out.Warnings), "the conversation has been deleted, or has made room for others; nothing was added to it")
	default:
		out.Warnings = append(slices.Clip(out.Warnings), "nothing was added to the conversation: "+q.reason(err))
	}
	return nil
}

// idIn returns the id in a response's path.
func idIn(r *http.Request) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/responses/"), "/")
	return id
}

func noResponse(err error, id string) error {
	if errors.Is(err, stored.ErrNotFound) {
		return notKept(http.StatusNotFound, "", "response_not_found",
			"response with id %s not found: it was not stored, was deleted, or has made room for others", wire.Quoted(id))
	}
	return err
}

// ListInput handles GET /v1/responses/ID/input_items.
func (s *Handlers) ListInput(r *http.Request) (wire.Answer, error) {
	k, id := s.keptFor(r), idIn(r)
	items, err := k.responses.Input(k.owner, id)
	if err != nil {
		return nil, noResponse(err, id)
	}
	list, err := conversations.Page(items, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: list}, nil
}

type inputCount struct {
	Object string `json:"object"` // "response.input_tokens"
	Tokens int    `json:"input_tokens"`
}

// CountInput handles POST /v1/responses/input_tokens.
func (s *Handlers) CountInput(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	q, err := readResponses(body, s.keptFor(r))
	if err != nil {
		return nil, err
	}
	m, g, err := s.accept(r, q)
	if err != nil {
		return nil, err
	}
	if !generation.WriterOf(m).Abilities().Counts {
		return nil, wire.NotOffered("model", "counting the tokens of a model behind an upstream")
	}
	return wire.JSON{Value: inputCount{"response.input_tokens", len(g.Job.Prompt)}}, nil
}

// accept finds the model of a request and prepares the request.
func (s *Handlers) accept(r *http.Request, q *responsesRequest) (*registry.Model, *generation.Generation, error) {
	m, g, err := s.fitted(r, q)
	if err == nil && generation.WriterOf(m).Abilities().Counts {
		q.warnWhole(len(g.Job.Prompt))
	}
	return m, g, err
}

// fitted does accept's work. With truncation auto, it drops as many of the oldest
// turns as necessary for the conversation to fit the context.
func (s *Handlers) fitted(r *http.Request, q *responsesRequest) (*registry.Model, *generation.Generation, error) {
	try := func(messages []chat.Message) (*registry.Model, *generation.Generation, error) {
		one := *q.Request
		one.Messages, one.Warnings = messages, slices.Clip(q.Warnings)
		return s.Accept(r, &one)
	}
	m, g, err := try(q.Messages)
	if err != nil || q.truncation != "auto" || !generation.WriterOf(m).Abilities().Counts {
		if err == nil {
			q.Request = g.Request
		}
		return m, g, err
	}
	limit := m.Text.ContextLimit()
	fits := func(g *generation.Generation) bool {
		return len(g.Job.Prompt)+max(1, min(q.MaxTokens, limit/2)) <= limit
	}
	begin := 0 // start of what can be dropped
	for begin < len(q.Messages) && (q.Messages[begin].Role == "system" || q.Messages[begin].Role == "developer") {
		begin++
	}
	var turns []int // turns that may become the first
	for i := begin + 1; i < len(q.Messages); i++ {
		if q.Messages[i].Role == "user" {
			turns = append(turns, i)
		}
	}
	low, high := 0, len(turns) // dropping the first low turns does not suffice
	for !fits(g) && low < high {
		middle := (low + high) / 2
		_, next, err := try(slices.Concat(q.Messages[:begin], q.Messages[turns[middle]:]))
		if err != nil {
			return nil, nil, err
		}
		if fits(next) || middle == len(turns)-1 {
			high = middle
		} else {
			low = middle + 1
		}
		if low == high {
			if _, g, err = try(slices.Concat(q.Messages[:begin], q.Messages[turns[high]:])); err != nil {
				return nil, nil, err
			}
			g.Request.Warnings = append(g.Request.Warnings, fmt.Sprintf("the conversation is longer than the context: its first %d messages were dropped", turns[high]-begin))
		}
	}
	q.Request = g.Request
	return m, g, nil
}
