package chat

import (
	"encoding/json"
	"strings"
)

// probe finds out what the template can write down, by rendering small
// conversations and looking for what was in them. Where even the plainest
// fails, nothing is known and all is assumed.
func (t *Template) probe() {
	const mark, other = "stencil7c1e", "stencil93ab"
	user := Message{Role: "user", Content: mark}
	find := func(text string, tools bool, messages ...Message) bool {
		in := Input{Messages: messages, AddGenerationPrompt: true}
		if tools {
			in.Tools = []json.RawMessage{json.RawMessage(`{"type":"function","function":{"name":"` + other +
				`","description":"x","parameters":{"type":"object","properties":{}}}}`)}
		}
		out, err := t.render(in)
		return err == nil && strings.Contains(out, text)
	}
	if !find(mark, false, user) {
		t.caps = Caps{true, true, true, true}
		return
	}
	t.caps.System = find(other, false, Message{Role: "system", Content: other}, user)
	t.caps.Tools = find(other, true, user)

	// Nine letters are what Mistral's templates want of an id.
	call := Message{Role: "assistant", ToolCalls: []ToolCall{{ID: "abcdefghi", Name: mark + "f"}}}
	result := Message{Role: "tool", ToolCallID: "abcdefghi", Name: mark + "f", Content: mark + "r"}
	for _, tools := range []bool{true, false} {
		t.caps.ToolCalls = t.caps.ToolCalls || find(mark+"f", tools, user, call) || find(mark+"f", tools, user, call, result)
		t.caps.ToolResults = t.caps.ToolResults || find(mark+"r", tools, user, call, result)
	}
	t.noNone = find("None", false, user, call)
}

// adapt gives messages a form that the template knows.
func (t *Template) adapt(messages []Message) ([]Message, error) {
	developer := strings.Contains(t.source, "developer")
	var out []Message
	var system []string // to be put into the next user message
	for _, m := range messages {
		if m.Role == "developer" && !developer {
			m.Role = "system"
		}
		if len(m.ToolCalls) > 0 && !t.caps.ToolCalls {
			m.spellCalls()
		}
		if m.Role == "tool" && !t.caps.ToolResults {
			if err := m.spellResult(); err != nil {
				return nil, err
			}
			// Templates that know no tools often want turns to alternate.
			if n := len(out); n > 0 && out[n-1].Role == "user" {
				out[n-1].Content, out[n-1].Parts = out[n-1].text()+"\n"+m.Content, nil
				continue
			}
		}
		switch {
		case m.Role == "system" && !t.caps.System:
			system = append(system, m.text())
			continue
		case m.Role == "user" && len(system) > 0:
			m.Content, m.Parts = strings.Join(append(system, m.text()), "\n\n"), nil
			system = nil
		}
		out = append(out, m)
	}
	if len(system) > 0 {
		out = append(out, Message{Role: "user", Content: strings.Join(system, "\n\n")})
	}
	return out, nil
}

// spellCalls turns a message's tool calls into text, in the form in which models
// whose template knows no calls are asked to write them.
func (m *Message) spellCalls() {
	lines := []string{}
	if text := m.text(); text != "" {
		lines = append(lines, text)
	}
	mark := hermes.Triggers[0]
	for _, c := range m.ToolCalls {
		arguments := c.Arguments
		if len(arguments) == 0 {
			arguments = json.RawMessage("{}")
		}
		lines = append(lines, mark.Mark+mark.Then+c.Name+hermes.Middle+string(arguments)+hermes.After)
	}
	m.Content, m.Parts, m.ToolCalls = strings.Join(lines, "\n"), nil, nil
}

// spellResult turns a tool's message into one of the user.
func (m *Message) spellResult() error {
	line, err := json.Marshal(struct {
		Name    string `json:"name,omitempty"`
		ID      string `json:"id,omitempty"`
		Content string `json:"content"`
	}{m.Name, m.ToolCallID, m.text()})
	*m = Message{Role: "user", Content: `{"tool_result":` + string(line) + "}", Extra: m.Extra}
	return err
}

// text returns the text of a message, of its parts one a line.
func (m *Message) text() string {
	if m.Parts == nil {
		return m.Content
	}
	var texts []string
	for _, p := range m.Parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// variant is a form in which messages with tool calls are given to a template.
type variant struct {
	emptyContent  bool // no content is "" rather than none
	textArguments bool // arguments as JSON text
}

// variants returns the forms to be tried, one after the other.
func (t *Template) variants(messages []Message) []variant {
	for _, m := range messages {
		switch {
		case len(m.ToolCalls) > 0 && t.noNone:
			return []variant{{true, false}, {true, true}}
		case len(m.ToolCalls) > 0:
			return []variant{{}, {true, false}, {false, true}, {true, true}}
		}
	}
	return []variant{{}}
}
