package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/generation"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/registry"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
)

// kept holds the stored responses of one client, identified by its API key.
type kept struct {
	responses *stored.Store
	owner     string
	log       *slog.Logger
}

// keptFor returns the stored responses of a request's client.
func (s *Handlers) keptFor(r *http.Request) kept {
	return kept{s.Responses, access.Owner(r), s.Log.With(slog.String("id", wire.NoteOf(r.Context()).ID))}
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
	q.past, err = q.responses.Conversation(q.owner, q.previous)
	if errors.Is(err, stored.ErrNotFound) {
		return notKept(http.StatusBadRequest, name, "previous_response_not_found",
			"previous response with id %s not found: it was not stored, was deleted, or has made room for others", clipped(q.previous))
	}
	return err
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
			"item with id %s not found: it was not stored, was deleted, or has made room for others", clipped(id))
	}
	if err != nil {
		return nil, nil, err
	}
	item, err = wire.ParseObject(raw, item.Path)
	return item, raw, err
}

// clipped returns a client's identifier in a form that is safe in a message.
func clipped(id string) string {
	return strconv.Quote(strings.ToValidUTF8(id[:min(len(id), wire.LongestName)], ""))
}

// keep stores a response if requested. One that is too large, also beside those of other clients, is not stored, nor is
// any while the file can't be written: the answer then has store: false.
func (q *responsesRequest) keep(out *response) error {
	if !q.store {
		return nil
	}
	one := &stored.Response{ID: out.ID, Owner: q.owner, Previous: q.previous}
	for _, raw := range q.items {
		item, err := listed(raw)
		if err != nil {
			return err
		}
		one.Input = append(one.Input, item)
	}
	for _, item := range out.Output {
		raw, err := wire.Marshal(item)
		if err != nil {
			return err
		}
		one.Output = append(one.Output, raw)
	}
	var err error
	if one.Reply, err = wire.Marshal(out); err != nil {
		return err
	}
	err = q.responses.Put(one)
	if err == nil {
		return nil
	}
	reason := strings.TrimPrefix(err.Error(), "stored: ")
	if !errors.Is(err, stored.ErrTooLarge) && !errors.Is(err, stored.ErrNoRoom) {
		q.log.Error("storing a response failed", slog.Any("error", err))
		reason = "the server's log says why, under this request's id" // and where the file is, which is not for clients
	}
	out.Store = false
	out.Warnings = append(slices.Clip(out.Warnings), "the response was not stored: "+reason)
	return nil
}

// listed returns an input item as lists show it: with a type, an id, and content in parts.
func listed(raw json.RawMessage) (json.RawMessage, error) {
	item, err := wire.ParseObject(raw, "")
	if err != nil {
		return nil, err
	}
	kind, role, text, id := "message", "", "", ""
	if err := errors.Join(item.Str("type", &kind), item.Str("role", &role)); err != nil {
		return nil, err
	}
	set := func(name string, value any) {
		var raw json.RawMessage
		if raw, err = wire.Marshal(value); err == nil {
			item.Members[name] = raw
		}
	}
	if !item.Given("type") {
		set("type", kind)
	}
	if err := item.Str("id", &id); err != nil || id == "" {
		set("id", wire.NewID(map[string]string{"message": "msg_", "function_call": "fc_", "function_call_output": "fco_"}[kind]))
	}
	if kind == "message" {
		if !item.Given("status") {
			set("status", "completed")
		}
		if item.Given("content") && json.Unmarshal(item.Members["content"], &text) == nil {
			part := map[string]any{"type": "input_text", "text": text}
			if role == "assistant" {
				part = map[string]any{"type": "output_text", "text": text, "annotations": []string{}}
			}
			set("content", []any{part})
		}
	}
	if err != nil {
		return nil, err
	}
	return wire.Marshal(item.Members)
}

// idIn returns the id in a response's path.
func idIn(r *http.Request) string {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/responses/"), "/")
	return id
}

func noResponse(err error, id string) error {
	if errors.Is(err, stored.ErrNotFound) {
		return notKept(http.StatusNotFound, "", "response_not_found",
			"response with id %s not found: it was not stored, was deleted, or has made room for others", clipped(id))
	}
	return err
}

// GetResponse handles GET /v1/responses/ID.
func (s *Handlers) GetResponse(r *http.Request) (wire.Answer, error) {
	if stream := r.URL.Query().Get("stream"); stream != "" && stream != "false" {
		return nil, wire.NotOffered("stream", "a stream of a response that is stored")
	}
	k := s.keptFor(r)
	one, err := k.responses.Get(k.owner, idIn(r))
	if err != nil {
		return nil, noResponse(err, idIn(r))
	}
	return wire.JSON{Value: one.Reply}, nil
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"` // "response"
	Deleted bool   `json:"deleted"`
}

// DeleteResponse handles DELETE /v1/responses/ID.
func (s *Handlers) DeleteResponse(r *http.Request) (wire.Answer, error) {
	k, id := s.keptFor(r), idIn(r)
	if err := k.responses.Delete(k.owner, id); err != nil {
		return nil, noResponse(err, id)
	}
	return wire.JSON{Value: deleted{id, "response", true}}, nil
}

// CancelResponse handles POST /v1/responses/ID/cancel. It always fails, since nothing runs in the background.
func (s *Handlers) CancelResponse(r *http.Request) (wire.Answer, error) {
	k, id := s.keptFor(r), idIn(r)
	if _, err := k.responses.Get(k.owner, id); err != nil {
		return nil, noResponse(err, id)
	}
	return nil, notKept(http.StatusBadRequest, "", "not_cancellable", "only a response with background: true could be cancelled, and this one has ended")
}

type itemList struct {
	Object  string            `json:"object"` // "list"
	Data    []json.RawMessage `json:"data"`
	FirstID string            `json:"first_id"`
	LastID  string            `json:"last_id"`
	HasMore bool              `json:"has_more"`
}

// ListInput handles GET /v1/responses/ID/input_items.
func (s *Handlers) ListInput(r *http.Request) (wire.Answer, error) {
	const most = 100
	k, id, limit, query := s.keptFor(r), idIn(r), 20, r.URL.Query()
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > most {
			return nil, wire.Invalid("limit", "limit must be between 1 and %d, not %s", most, clipped(given))
		}
		limit = n
	}
	items, _, err := k.responses.Parts(k.owner, id)
	if err != nil {
		return nil, noResponse(err, id)
	}
	switch order := query.Get("order"); order {
	case "", "desc":
		slices.Reverse(items)
	case "asc":
	default:
		return nil, wire.Invalid("order", `order must be "asc" or "desc", not %s`, clipped(order))
	}
	if after := query.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(item json.RawMessage) bool { return itemID(item) == after })
		if i < 0 {
			return nil, wire.Invalid("after", "after names the item %s, which is not among the response's", clipped(after))
		}
		items = items[i+1:]
	}
	out := itemList{Object: "list", Data: items[:min(limit, len(items))], HasMore: len(items) > limit}
	if out.Data == nil {
		out.Data = []json.RawMessage{}
	}
	if n := len(out.Data); n > 0 {
		out.FirstID, out.LastID = itemID(out.Data[0]), itemID(out.Data[n-1])
	}
	return wire.JSON{Value: out}, nil
}

func itemID(raw json.RawMessage) string {
	var item struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &item) // an item whose id is no string has none
	return item.ID
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
