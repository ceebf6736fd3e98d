package openai

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/stencil-json/stencil/server/background"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
)

// get returns a stored response, and its run while that is known. One that has not ended and has no run was being made when
// the server stopped: it has failed.
func (k *kept) get(id string) (*stored.Response, *background.Run, error) {
	run := k.running.Get(k.owner, id) // before the response, which is stored before its run ends
	state, running := run.State()
	one, err := k.responses.Get(k.owner, id)
	if running {
		if err != nil { // it has made room for others, and is stored again at its end
			one = &stored.Response{ID: id, Owner: k.owner, Running: true}
		}
		one.Reply = state
		return one, run, nil
	}
	if err != nil || !one.Running {
		return one, run, err
	}
	reply, err := wire.ParseObject(one.Reply, "")
	if err != nil {
		return nil, nil, err
	}
	failed := responseError{Code: "server_restarted", Message: "the server was restarted, or could not store the response, before it was complete"}
	if reply.Members["error"], err = wire.Marshal(failed); err != nil {
		return nil, nil, err
	}
	reply.Members["status"] = json.RawMessage(`"failed"`)
	if one.Reply, err = wire.Marshal(reply.Members); err != nil {
		return nil, nil, err
	}
	one.Running, one.Streamed = false, true
	if err := k.responses.Put(one); err != nil {
		k.log.Error("storing a response failed", slog.Any("error", err)) // the next request finds out again
	}
	return one, run, nil
}

// GetResponse handles GET /v1/responses/ID: the response, or its events.
func (s *Handlers) GetResponse(r *http.Request) (wire.Answer, error) {
	k, query, after := s.keptFor(r), r.URL.Query(), -1
	stream := query.Get("stream") == "true"
	if given := query.Get("stream"); !stream && given != "" && given != "false" {
		return nil, wire.Invalid("stream", "stream must be true or false, not %s", wire.Quoted(given))
	}
	if given := query.Get("starting_after"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 0 {
			return nil, wire.Invalid("starting_after", "starting_after must be the number of an event, not %s", wire.Quoted(given))
		}
		if after = n; !stream {
			return nil, wire.Invalid("starting_after", "starting_after needs stream=true")
		}
	}
	one, run, err := k.get(idIn(r))
	if err != nil {
		return nil, noResponse(err, idIn(r))
	}
	switch {
	case !stream:
		return wire.JSON{Value: one.Reply}, nil
	case run.Kept(after):
		return background.Events{Run: run, After: after}, nil
	case one.Running || one.Streamed && after >= 0:
		return nil, background.ErrGone
	}
	return replay{one.Reply, after}, nil
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"` // "response"
	Deleted bool   `json:"deleted"`
}

// DeleteResponse handles DELETE /v1/responses/ID. One that has not ended is cancelled.
func (s *Handlers) DeleteResponse(r *http.Request) (wire.Answer, error) {
	k, id := s.keptFor(r), idIn(r)
	run := k.running.Get(k.owner, id)
	if run != nil {
		run.Cancel(background.ErrCancelled)
		<-run.Done() // also for a client that doesn't wait: what is stored at the end is to be deleted
		run.Forget()
	}
	if err := k.responses.Delete(k.owner, id); err != nil && (run == nil || !errors.Is(err, stored.ErrNotFound)) {
		return nil, noResponse(err, id)
	}
	return wire.JSON{Value: deleted{id, "response", true}}, nil
}

// CancelResponse handles POST /v1/responses/ID/cancel. A response in the background that has ended stays as it is.
func (s *Handlers) CancelResponse(r *http.Request) (wire.Answer, error) {
	k, id := s.keptFor(r), idIn(r)
	if run := k.running.Get(k.owner, id); run != nil {
		run.Cancel(background.ErrCancelled)
		<-run.Done()
	}
	one, _, err := k.get(id)
	if err != nil {
		return nil, noResponse(err, id)
	}
	var made struct {
		Background bool `json:"background"`
	}
	if err := json.Unmarshal(one.Reply, &made); err != nil {
		return nil, err
	}
	if !made.Background {
		return nil, notKept(http.StatusBadRequest, "", "not_cancellable", "only a response with background: true can be cancelled, and this one has ended")
	}
	return wire.JSON{Value: one.Reply}, nil
}

// eventsOf returns the events that make items known, each at once.
func eventsOf(items []responseItem) (out []responseEvent) {
	for i, item := range items {
		about := func(kind string) responseEvent { return responseEvent{Type: kind, OutputIndex: &i, ItemID: item.ID} }
		begun := item
		begun.Status = "in_progress"
		var inner []responseEvent
		empty := ""
		switch {
		case item.Type == "function_call" && item.Arguments != nil:
			begun.Arguments = &empty
			delta, done := about("response.function_call_arguments.delta"), about("response.function_call_arguments.done")
			delta.Delta, done.Name, done.Arguments = item.Arguments, item.Name, item.Arguments
			inner = append(inner, delta, done)
		case item.Type == "custom_tool_call" && item.Input != nil:
			begun.Input = &empty
			delta, done := about("response.custom_tool_call_input.delta"), about("response.custom_tool_call_input.done")
			delta.Delta, done.Input = item.Input, item.Input
			inner = append(inner, delta, done)
		case item.Content != nil:
			if item.Type == "reasoning" {
				begun.Status = ""
			}
			begun.Content = &[]responsePart{}
			for n, part := range *item.Content {
				inner = append(inner, eventsOfPart(about, n, part)...)
			}
		}
		added, done := about("response.output_item.added"), about("response.output_item.done")
		added.Item, added.ItemID, done.Item, done.ItemID = &begun, "", &item, ""
		out = append(append(append(out, added), inner...), done)
	}
	return out
}

// eventsOfPart returns the events that make a part of a message or of reasoning known.
func eventsOfPart(about func(kind string) responseEvent, n int, part responsePart) []responseEvent {
	within := func(kind string) responseEvent {
		e := about(kind)
		e.ContentIndex = &n
		return e
	}
	name := "response." + part.Type
	delta, done := within(name+".delta"), within(name+".done")
	delta.Delta, done.Text = &part.Text, &part.Text
	if part.Type != "output_text" {
		return []responseEvent{delta, done}
	}
	delta.Logprobs, done.Logprobs = part.Logprobs, part.Logprobs
	begin, end := within("response.content_part.added"), within("response.content_part.done")
	empty := textPart("", nil)
	begin.Part, end.Part = &empty, &part
	return []responseEvent{begin, delta, done, end}
}

// A replay is the answer with the events of a response that has ended, as if its items had come at once.
type replay struct {
	reply json.RawMessage
	after int
}

func (a replay) Write(w http.ResponseWriter, _ *http.Request) error {
	reply, err := wire.ParseObject(a.reply, "")
	if err != nil {
		return err
	}
	var is struct {
		Status     string         `json:"status"`
		Background bool           `json:"background"`
		Output     []responseItem `json:"output"`
	}
	if err := json.Unmarshal(a.reply, &is); err != nil {
		return err
	}
	out, number := wire.NewEventStream(w), 0
	send := func(kind string, e any) error {
		if number++; number-1 <= a.after {
			return nil
		}
		return out.Event(kind, e)
	}
	whole := func(kind, status string) error {
		members := map[string]json.RawMessage{}
		for name, value := range reply.Members {
			members[name] = value
		}
		if status != is.Status {
			members["output"], members["usage"], members["error"], members["incomplete_details"] = json.RawMessage(`[]`), json.RawMessage(`null`), json.RawMessage(`null`), json.RawMessage(`null`)
			members["status"] = json.RawMessage(strconv.Quote(status))
			for _, name := range []string{"x_constraint", "x_signals", "x_assessment", "warnings"} {
				delete(members, name)
			}
		}
		kind = "response." + kind
		return send(kind, map[string]any{"type": kind, "sequence_number": number, "response": members})
	}
	begin := [][2]string{{"created", "in_progress"}, {"in_progress", "in_progress"}}
	if is.Background {
		begin = [][2]string{{"created", "queued"}, {"queued", "queued"}, {"in_progress", "in_progress"}}
	}
	for _, one := range begin {
		if err := whole(one[0], one[1]); err != nil {
			return err
		}
	}
	for _, e := range eventsOf(is.Output) {
		e.Sequence = number
		if err := send(e.Type, e); err != nil {
			return err
		}
	}
	kind := is.Status
	if kind == "cancelled" {
		kind = "incomplete"
	}
	return whole(kind, is.Status)
}
