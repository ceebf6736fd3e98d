package arms

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/stencil-json/stencil/eval/sets"
)

// message is the answer of a server.
type message struct {
	Content string      `json:"content,omitempty"`
	Calls   []sets.Call `json:"calls,omitempty"`
}

// reply is the part of a response of /v1/chat/completions that is evaluated, of an error response too.
type reply struct {
	Choices []struct {
		Message struct {
			Content *string `json:"content"`
			Calls   []struct {
				Function struct {
					Name      string          `json:"name"`
					Arguments json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Constraint *struct {
		Forced *int `json:"forced_tokens"`
	} `json:"x_constraint"` // stencil's receipt
	Error json.RawMessage `json:"error"`
}

// message returns the message of the first choice and its finish reason.
func (r *reply) message() (m message, finish string, err error) {
	if len(r.Choices) == 0 {
		return m, "", fmt.Errorf("the answer has no choices")
	}
	first := r.Choices[0]
	if first.Message.Content != nil {
		m.Content = *first.Message.Content
	}
	for _, c := range first.Message.Calls {
		arguments := string(c.Function.Arguments)
		var text string
		if json.Unmarshal(c.Function.Arguments, &text) == nil {
			arguments = text // a string that contains JSON, as in OpenAI's API
		}
		m.Calls = append(m.Calls, sets.Call{Name: c.Function.Name, Arguments: arguments})
	}
	return m, first.Finish, nil
}

// errorText returns the message of an error in any format.
func (r *reply) errorText() string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(r.Error, &e) == nil && e.Message != "" {
		return e.Message
	}
	return string(r.Error)
}

// read extracts the document or the calls from an answer. It searches the text only for
// free arms, and for calls in mode ToolsText: in other modes, the whole content must be
// JSON.
func read(a *Arm, c *sets.Case, m message) sets.Answer {
	if a.Mode == ToolsText && len(m.Calls) == 0 {
		m.Calls = callsIn(m.Content)
	}
	switch {
	case a.Mode == Free && len(c.Tools) > 0:
		return sets.Answer{Calls: callsIn(m.Content)}
	case a.Mode == Free:
		return sets.Answer{Document: documentIn(m.Content)}
	case len(c.Tools) > 0 && len(m.Calls) == 0:
		return sets.Answer{Stray: callsIn(m.Content)}
	case len(c.Tools) > 0:
		return sets.Answer{Calls: m.Calls}
	case a.Mode.byTools():
		if len(m.Calls) != 1 || m.Calls[0].Name != answerTool {
			return sets.Answer{}
		}
		return sets.Answer{Document: whole(m.Calls[0].Arguments)}
	}
	return sets.Answer{Document: whole(m.Content)}
}

// whole returns a text that is a single JSON value, or nil.
func whole(text string) json.RawMessage {
	if text := strings.TrimSpace(text); json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return nil
}

// fence matches a code block.
var fence = regexp.MustCompile("(?s)```[a-zA-Z0-9]*[ \t]*\n(.*?)(?:```|$)")

// documentIn extracts the document from a free text: the text itself, else the first object or array
// in a code block, else the first object anywhere.
func documentIn(text string) json.RawMessage {
	text = withoutThoughts(text)
	if all := whole(text); all != nil {
		return all
	}
	for _, block := range fence.FindAllStringSubmatch(text, -1) {
		if found := values(block[1], "{[", 1); len(found) > 0 {
			return found[0]
		}
	}
	if found := values(text, "{", 1); len(found) > 0 {
		return found[0]
	}
	return nil
}

// maxCalls is the maximum number of calls that are read from a text.
const maxCalls = 64

// callsIn extracts calls from a free text: objects with a name and arguments, alone or in arrays, with
// any text around them.
func callsIn(text string) (out []sets.Call) {
	for _, v := range values(withoutThoughts(text), "{[", maxCalls) {
		list := []json.RawMessage{v}
		if v[0] == '[' {
			list = nil
			if json.Unmarshal(v, &list) != nil {
				continue
			}
		}
		for _, one := range list {
			var c struct {
				Name       string          `json:"name"`
				Arguments  json.RawMessage `json:"arguments"`
				Parameters json.RawMessage `json:"parameters"`
			}
			if json.Unmarshal(one, &c) != nil || c.Name == "" || len(out) == maxCalls {
				continue
			}
			if c.Arguments == nil {
				c.Arguments = c.Parameters
			}
			out = append(out, sets.Call{Name: c.Name, Arguments: string(c.Arguments)})
		}
	}
	return out
}

// withoutThoughts removes the reasoning before an answer.
func withoutThoughts(text string) string {
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		return after
	}
	return text
}

// maxStarts is the maximum number of positions at which values tries to decode: each attempt may read
// to the end of the text.
const maxStarts = 1000

// values returns up to n JSON values in a text, one after another, that start with one of the
// characters in begin.
func values(text, begin string, n int) (out []json.RawMessage) {
	for range maxStarts {
		at := strings.IndexAny(text, begin)
		if at < 0 || len(out) == n {
			break
		}
		d := json.NewDecoder(strings.NewReader(text[at:]))
		var v json.RawMessage
		if d.Decode(&v) != nil {
			text = text[at+1:]
			continue
		}
		out = append(out, v)
		text = text[at+int(d.InputOffset()):]
	}
	return out
}
