package remote

import (
	"encoding/json"
	"strings"
)

// The formats of tools and calls in requests and answers.
type wireCall struct {
	Index    *int         `json:"index,omitempty"` // in streams
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string        `json:"name"`
	Arguments wireArguments `json:"arguments"`
}

// wireArguments is JSON in a string, as from OpenAI, or not, as from others.
type wireArguments string

// UnmarshalJSON implements json.Unmarshaler.
func (a *wireArguments) UnmarshalJSON(src []byte) error {
	var text string
	if json.Unmarshal(src, &text) != nil {
		text = string(src)
	}
	*a = wireArguments(text)
	return nil
}

// messages returns a conversation in the wire format.
func messages(list []Message) []map[string]any {
	out := make([]map[string]any, 0, len(list))
	for _, m := range list {
		one := map[string]any{"role": m.Role, "content": m.Content}
		if m.CallID != "" {
			one["tool_call_id"] = m.CallID
		}
		var calls []wireCall
		for _, c := range m.Calls {
			calls = append(calls, wireCall{ID: c.ID, Type: "function", Function: wireFunction{c.Name, wireArguments(c.Arguments)}})
		}
		if calls != nil {
			one["tool_calls"] = calls
		}
		out = append(out, one)
	}
	return out
}

// tools returns a list of tools in the wire format.
func (c *Client) tools(list []Tool) []any {
	engine := c.Capabilities().Engine
	out := make([]any, 0, len(list))
	for _, t := range list {
		f := map[string]any{"name": t.Name, "parameters": t.Parameters}
		if t.Description != "" {
			f["description"] = t.Description
		}
		if t.Strict && (engine != OpenAI || strictly(t.Parameters)) {
			f["strict"] = true
		}
		out = append(out, map[string]any{"type": "function", "function": f})
	}
	return out
}

func toolChoice(r *Request) any {
	switch {
	case !r.MustCall:
		return "auto"
	case len(r.Tools) == 1:
		return map[string]any{"type": "function", "function": map[string]any{"name": r.Tools[0].Name}}
	}
	return "required"
}

// A callSum assembles calls from pieces.
type callSum struct {
	list []*callPieces
}

type callPieces struct {
	call      Call
	index     int
	arguments strings.Builder
}

// add adds pieces of calls. A piece belongs to the last call with its index,
// unless it has another ID: some servers give every call the same index, or
// none. Pieces without either continue the last call.
func (s *callSum) add(pieces []wireCall) {
	for _, p := range pieces {
		var to *callPieces
		for i := len(s.list) - 1; i >= 0 && to == nil; i-- {
			one := s.list[i]
			if (p.Index == nil || *p.Index == one.index) && (p.ID == "" || one.call.ID == "" || p.ID == one.call.ID) {
				to = one
			}
		}
		if to != nil && p.ID == "" && p.Function.Name != "" && (p.Index == nil || json.Valid([]byte(to.arguments.String()))) {
			to = nil // only its name indicates a new call
		}
		if to == nil {
			to = &callPieces{index: len(s.list)}
			if p.Index != nil {
				to.index = *p.Index
			}
			s.list = append(s.list, to)
		}
		if to.call.ID == "" {
			to.call.ID = p.ID
		}
		if to.call.Name == "" {
			to.call.Name = p.Function.Name
		}
		to.arguments.WriteString(string(p.Function.Arguments))
	}
}

// calls returns the calls received so far.
func (s *callSum) calls() (out []Call) {
	for _, p := range s.list {
		p.call.Arguments = p.arguments.String()
		out = append(out, p.call)
	}
	return out
}

// calls returns the calls of a whole message.
func (m *wireMessage) calls() (out []Call) {
	for _, c := range m.Calls {
		out = append(out, Call{c.ID, c.Function.Name, string(c.Function.Arguments)})
	}
	return out
}
