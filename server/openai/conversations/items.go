package conversations

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/stencil-json/stencil/server/wire"
)

// Listed returns an input item as lists show it: with a type, an id, and content in parts.
func Listed(raw json.RawMessage) (json.RawMessage, error) {
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
		set("id", newID(kind))
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

// newID returns the id of an item that came without one.
func newID(kind string) string {
	return wire.NewID(map[string]string{"message": "msg_", "function_call": "fc_", "function_call_output": "fco_"}[kind])
}

// idOf returns the id of an item, "" if it has none.
func idOf(raw json.RawMessage) string {
	var item struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &item) // an item whose id is no string has none
	return item.ID
}

// An ItemList is a part of a list of items.
type ItemList struct {
	Object  string            `json:"object"` // "list"
	Data    []json.RawMessage `json:"data"`
	FirstID string            `json:"first_id"`
	LastID  string            `json:"last_id"`
	HasMore bool              `json:"has_more"`
}

func listOf(items []json.RawMessage, more bool) ItemList {
	out := ItemList{Object: "list", Data: items, HasMore: more}
	if out.Data == nil {
		out.Data = []json.RawMessage{}
	}
	if n := len(items); n > 0 {
		out.FirstID, out.LastID = idOf(items[0]), idOf(items[n-1])
	}
	return out
}

// Page returns the part of a list that a query asks for by limit, order and after.
func Page(items []json.RawMessage, query url.Values) (ItemList, error) {
	const most = 100
	limit := 20
	if given := query.Get("limit"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil || n < 1 || n > most {
			return ItemList{}, wire.Invalid("limit", "limit must be between 1 and %d, not %s", most, wire.Quoted(given))
		}
		limit = n
	}
	switch order := query.Get("order"); order {
	case "", "desc":
		items = slices.Clone(items)
		slices.Reverse(items)
	case "asc":
	default:
		return ItemList{}, wire.Invalid("order", `order must be "asc" or "desc", not %s`, wire.Quoted(order))
	}
	if after := query.Get("after"); after != "" {
		i := slices.IndexFunc(items, func(item json.RawMessage) bool { return idOf(item) == after })
		if i < 0 {
			return ItemList{}, wire.Invalid("after", "after names the item %s, which is not among these", wire.Quoted(after))
		}
		items = items[i+1:]
	}
	return listOf(items[:min(limit, len(items))], len(items) > limit), nil
}
