// Package conversations has the paths /v1/conversations: lists of items to which responses add theirs.
package conversations

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/server/access"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/stored"
	"github.com/stencil-json/stencil/server/wire"
)

// Handlers answer the requests.
type Handlers struct {
	Store func() *stored.Store
	// Read reads the items in a request's body, of which each is one that a response can be made of, with references
	// resolved.
	Read func(r *http.Request, body *wire.Object) ([]json.RawMessage, error)
	Log  *slog.Logger
}

// The limits that OpenAI sets.
const (
	mostItems = 20 // in one request
	mostPairs = 16 // of metadata
	mostKey   = 64
	mostValue = 512
)

type conversation struct {
	ID       string            `json:"id"`
	Object   string            `json:"object"` // "conversation"
	Created  int64             `json:"created_at"`
	Metadata map[string]string `json:"metadata"`
}

func shown(c *stored.Conversation) wire.Answer {
	return wire.JSON{Value: conversation{c.ID, "conversation", c.Created, c.Metadata}}
}

// names returns the ids of the conversation and of the item in a request's path.
func names(r *http.Request) (id, item string) {
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/conversations/"), "/")
	_, item, _ = strings.Cut(rest, "/")
	return id, item
}

// NotFound returns the error for a conversation that is not stored for this client.
func NotFound(id, param string) error {
	return problem.New(problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Param: param, Code: "conversation_not_found",
		Message: "conversation with id " + wire.Quoted(id) + " not found: it was not stored, was deleted, or has made room for others"})
}

func noItem(id string) error {
	return problem.New(problem.Problem{Status: http.StatusNotFound, Kind: problem.NotFound, Code: "item_not_found",
		Message: "item with id " + wire.Quoted(id) + " not found in this conversation"})
}

// failed returns the error for a conversation that can't be read or stored.
func (h *Handlers) failed(r *http.Request, err error, id string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stored.ErrNotFound):
		return NotFound(id, "")
	case errors.Is(err, stored.ErrTooLarge), errors.Is(err, stored.ErrNoRoom):
		return NoRoom(err)
	}
	h.Log.Error("storing a conversation failed", slog.String("id", wire.NoteOf(r.Context()).ID), slog.Any("error", err))
	return err
}

// NoRoom returns the error for something that must be stored and for which there is no room.
func NoRoom(err error) error {
	reason := "what this client stores would take more room than those who store less leave it"
	if errors.Is(err, stored.ErrTooLarge) {
		reason = "it takes more room than all that may be stored"
	}
	return problem.New(problem.Problem{Status: http.StatusRequestEntityTooLarge, Kind: problem.Invalid, Code: "no_room_to_store",
		Message: "this can't be stored: " + reason + "; the server's flags --responses-max and --responses-bytes set the limits"})
}

// readMetadata reads metadata: texts by name.
func readMetadata(o *wire.Object) (map[string]string, error) {
	out := map[string]string{}
	given, err := o.Child("metadata")
	if err != nil || given == nil {
		return out, err
	}
	if len(given.Names) > mostPairs {
		return nil, wire.Invalid("metadata", "metadata has %d members, more than %d", len(given.Names), mostPairs)
	}
	for _, name := range given.Names {
		value := ""
		if err := json.Unmarshal(given.Members[name], &value); err != nil || string(given.Members[name]) == "null" {
			return nil, wire.Invalid("metadata", "the value of %s in metadata must be a text, not %s", wire.Quoted(name), wire.Sketch(given.Members[name]))
		}
		if len([]rune(name)) > mostKey || len([]rune(value)) > mostValue {
			return nil, wire.Invalid("metadata", "a name in metadata may have %d characters, and a text %d", mostKey, mostValue)
		}
		out[name] = value
	}
	return out, nil
}

// readItems reads items as they are stored.
func (h *Handlers) readItems(r *http.Request, body *wire.Object) ([]json.RawMessage, error) {
	raws, err := body.Raws("items")
	if err != nil {
		return nil, err
	}
	if len(raws) > mostItems {
		return nil, wire.Invalid("items", "there are %d items, more than the %d that one request may add", len(raws), mostItems)
	}
	items, err := h.Read(r, body)
	if err != nil {
		return nil, err
	}
	for i := range items {
		if items[i], err = Listed(items[i]); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// Append adds items to a conversation, and returns them as they are there: an id that another item has is replaced.
func Append(c *stored.Conversation, items []json.RawMessage) ([]json.RawMessage, error) {
	taken := map[string]bool{}
	for _, item := range c.Items {
		taken[idOf(item)] = true
	}
	added := slices.Clone(items)
	for i, raw := range added {
		if taken[idOf(raw)] {
			item, err := wire.ParseObject(raw, "")
			if err != nil {
				return nil, err
			}
			delete(item.Members, "id")
			if raw, err = wire.Marshal(item.Members); err != nil {
				return nil, err
			}
			if added[i], err = Listed(raw); err != nil {
				return nil, err
			}
		}
		taken[idOf(added[i])] = true
	}
	c.Items = append(c.Items, added...)
	return added, nil
}

// Create handles POST /v1/conversations.
func (h *Handlers) Create(r *http.Request) (wire.Answer, error) {
	body := &wire.Object{Members: map[string]json.RawMessage{}}
	if r.Body != nil && r.Body != http.NoBody { // clients send no body if there is nothing to say
		var err error
		if body, err = wire.ReadObject(r); err != nil {
			return nil, err
		}
	}
	if err := body.Only("metadata", "items"); err != nil {
		return nil, err
	}
	metadata, err := readMetadata(body)
	if err != nil {
		return nil, err
	}
	items, err := h.readItems(r, body)
	if err != nil {
		return nil, err
	}
	c := &stored.Conversation{ID: wire.NewID("conv_"), Owner: access.Owner(r), Created: wire.UnixNow(), Metadata: metadata, Items: []json.RawMessage{}}
	if _, err := Append(c, items); err != nil {
		return nil, err
	}
	return shown(c), h.failed(r, h.Store().PutConversation(c), c.ID)
}

// Get handles GET /v1/conversations/ID.
func (h *Handlers) Get(r *http.Request) (wire.Answer, error) {
	c, err := h.find(r)
	if err != nil {
		return nil, err
	}
	return shown(c), nil
}

func (h *Handlers) find(r *http.Request) (*stored.Conversation, error) {
	id, _ := names(r)
	c, err := h.Store().Conversation(access.Owner(r), id)
	return c, h.failed(r, err, id)
}

// change changes the conversation in a request's path.
func (h *Handlers) change(r *http.Request, change func(*stored.Conversation) error) (*stored.Conversation, error) {
	id, _ := names(r)
	mistake := error(nil)
	c, err := h.Store().ChangeConversation(access.Owner(r), id, func(c *stored.Conversation) error {
		mistake = change(c)
		return mistake
	})
	if mistake != nil {
		return nil, mistake
	}
	return c, h.failed(r, err, id)
}

// Update handles POST /v1/conversations/ID.
func (h *Handlers) Update(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if err := body.Only("metadata"); err != nil {
		return nil, err
	}
	if _, ok := body.Members["metadata"]; !ok {
		return nil, wire.Invalid("metadata", "metadata is missing")
	}
	metadata, err := readMetadata(body)
	if err != nil {
		return nil, err
	}
	c, err := h.change(r, func(c *stored.Conversation) error {
		c.Metadata = metadata
		return nil
	})
	if err != nil {
		return nil, err
	}
	return shown(c), nil
}

type deleted struct {
	ID      string `json:"id"`
	Object  string `json:"object"` // "conversation.deleted"
	Deleted bool   `json:"deleted"`
}

// Delete handles DELETE /v1/conversations/ID.
func (h *Handlers) Delete(r *http.Request) (wire.Answer, error) {
	id, _ := names(r)
	if err := h.Store().DeleteConversation(access.Owner(r), id); err != nil {
		return nil, h.failed(r, err, id)
	}
	return wire.JSON{Value: deleted{id, "conversation.deleted", true}}, nil
}

// AddItems handles POST /v1/conversations/ID/items.
func (h *Handlers) AddItems(r *http.Request) (wire.Answer, error) {
	body, err := wire.ReadObject(r)
	if err != nil {
		return nil, err
	}
	if err := body.Only("items"); err != nil {
		return nil, err
	}
	if !body.Given("items") {
		return nil, wire.Invalid("items", "items is missing")
	}
	items, err := h.readItems(r, body)
	if err != nil {
		return nil, err
	}
	var added []json.RawMessage
	_, err = h.change(r, func(c *stored.Conversation) (err error) {
		added, err = Append(c, items)
		return err
	})
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: listOf(added, false)}, nil
}

// ListItems handles GET /v1/conversations/ID/items.
func (h *Handlers) ListItems(r *http.Request) (wire.Answer, error) {
	c, err := h.find(r)
	if err != nil {
		return nil, err
	}
	list, err := Page(c.Items, r.URL.Query())
	if err != nil {
		return nil, err
	}
	return wire.JSON{Value: list}, nil
}

// GetItem handles GET /v1/conversations/ID/items/ITEM.
func (h *Handlers) GetItem(r *http.Request) (wire.Answer, error) {
	c, err := h.find(r)
	if err != nil {
		return nil, err
	}
	_, id := names(r)
	for _, item := range c.Items {
		if idOf(item) == id {
			return wire.JSON{Value: item}, nil
		}
	}
	return nil, noItem(id)
}

// DeleteItem handles DELETE /v1/conversations/ID/items/ITEM.
func (h *Handlers) DeleteItem(r *http.Request) (wire.Answer, error) {
	_, id := names(r)
	c, err := h.change(r, func(c *stored.Conversation) error {
		left := slices.DeleteFunc(slices.Clone(c.Items), func(item json.RawMessage) bool { return idOf(item) == id })
		if len(left) == len(c.Items) {
			return noItem(id)
		}
		c.Items = left
		return nil
	})
	if err != nil {
		return nil, err
	}
	return shown(c), nil
}
