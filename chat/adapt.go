package chat

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// probe determines the capabilities of the template by rendering small conversations
// and searching the result for their parts. If even the simplest conversation fails,
// it assumes all capabilities.
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

	// Mistral's templates require an ID of nine letters.
	call := Message{Role: "assistant", ToolCalls: []ToolCall{{ID: "abcdefghi", Name: mark + "f"}}}
	result := Message{Role: "tool", ToolCallID: "abcdefghi", Name: mark + "f", Content: mark + "r"}
	for _, tools := range []bool{true, false} {
		t.caps.ToolCalls = t.caps.ToolCalls || find(mark+"f", tools, user, call) || find(mark+"f", tools, user, call, result)
		t.caps.ToolResults = t.caps.ToolResults || find(mark+"r", tools, user, call, result)
	}
	t.noNone = find("None", false, user, call) || find("None", true, user, call)
	call.Content = other
	t.drops = t.caps.ToolCalls && !find(mark+"f", false, user, call) && !find(mark+"f", true, user, call)
}

// adapt converts messages to a form that the template supports.
func (t *Template) adapt(messages []Message) ([]Message, error) {
	developer := strings.Contains(t.source, "developer")
	if t.callsFail == nil && t.calls.Next == "" && !t.inChannels() && !t.spells() {
		messages = oneCallEach(messages)
	}
	var out []Message
	var system []string // to be put into the next user message
	for _, m := range messages {
		if m.Role == "developer" && !developer {
			m.Role = "system"
		}
		if len(m.ToolCalls) > 0 && (t.spells() || t.drops && m.Text() != "") {
			form, _ := t.CallForm()
			if err := m.spellCalls(form); err != nil {
				return nil, err
			}
		}
		if m.Role == "tool" && !t.caps.ToolResults {
			if err := m.spellResult(); err != nil {
				return nil, err
			}
			// Templates without tools often require alternating roles.
			if n := len(out); n > 0 && out[n-1].Role == "user" {
				out[n-1].Content, out[n-1].Parts = out[n-1].Text()+"\n"+m.Content, nil
				continue
			}
		}
		switch {
		case m.Role == "system" && !t.caps.System:
			system = append(system, m.Text())
			continue
		case m.Role == "user" && len(system) > 0:
			m.Content, m.Parts = strings.Join(append(system, m.Text()), "\n\n"), nil
			system = nil
		}
		out = append(out, m)
	}
	if len(system) > 0 {
		out = append(out, Message{Role: "user", Content: strings.Join(system, "\n\n")})
	}
	return out, nil
}

// joined returns messages with neighbours of one role as one: texts by an empty line, calls one after another. Results of tools
// stay apart.
func joined(messages []Message) (out []Message) {
	between := func(a, b string) string {
		if a != "" && b != "" {
			return a + "\n\n" + b
		}
		return a + b
	}
	for _, m := range messages {
		n := len(out)
		if n == 0 || m.Role != out[n-1].Role || m.Role != "user" && m.Role != "assistant" {
			out = append(out, m)
			continue
		}
		last := &out[n-1]
		last.Content, last.Parts = between(last.Text(), m.Text()), nil
		last.Reasoning = between(last.Reasoning, m.Reasoning)
		last.ToolCalls = slices.Concat(last.ToolCalls, m.ToolCalls)
		if last.Name != m.Name {
			last.Name = ""
		}
		if m.Extra != nil {
			extra := maps.Clone(m.Extra)
			maps.Copy(extra, last.Extra)
			last.Extra = extra
		}
	}
	return out
}

// oneCallEach splits messages with several tool calls whose results follow into messages with one call, each followed by its
// result, for templates that write one call at a time.
func oneCallEach(messages []Message) (out []Message) {
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		end := i + 1
		for end < len(messages) && messages[end].Role == "tool" {
			end++
		}
		results := slices.Clone(messages[i+1 : end])
		var pairs []Message
		for k, call := range m.ToolCalls {
			at := slices.IndexFunc(results, func(r Message) bool { return r.ToolCallID == call.ID })
			if at < 0 || call.ID == "" {
				break
			}
			one := Message{Role: m.Role, Name: m.Name, Extra: m.Extra}
			if k == 0 {
				one = m
			}
			one.ToolCalls = []ToolCall{call}
			pairs = append(pairs, one, results[at])
			results = slices.Delete(results, at, at+1)
		}
		if n := len(m.ToolCalls); n < 2 || len(pairs) < 2*n {
			out = append(out, m)
			continue
		}
		out = append(append(out, pairs...), results...)
		i = end - 1
	}
	return out
}

// spellCalls converts the tool calls of a message to text, in the format in which
// models whose template has no tool calls are asked to write them.
func (m *Message) spellCalls(form CallForm) error {
	calls := m.ToolCalls
	var lines []string
	if text := m.Text(); text != "" {
		lines = append(lines, text)
	}
	for len(calls) > 0 {
		n := len(calls)
		if form.Next == "" {
			n = 1
		}
		text, err := form.Write(calls[:n])
		if err != nil {
			return err
		}
		lines, calls = append(lines, text), calls[n:]
	}
	m.Content, m.Parts, m.ToolCalls = strings.Join(lines, "\n"), nil, nil
	return nil
}

// spellResult converts a tool result to a user message.
func (m *Message) spellResult() error {
	line, err := json.Marshal(struct {
		Name    string `json:"name,omitempty"`
		ID      string `json:"id,omitempty"`
		Content string `json:"content"`
	}{m.Name, m.ToolCallID, m.Text()})
	*m = Message{Role: "user", Content: `{"tool_result":` + string(line) + "}", Extra: m.Extra}
	return err
}

// Text returns the text of a message; parts are joined by line breaks.
func (m *Message) Text() string {
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

// variant is one form of messages with tool calls for a template.
type variant struct {
	emptyContent  bool // no content is "" rather than none
	textArguments bool // arguments as JSON text
	arguments     *ArgumentForm
}

// variants returns the forms to try, in order.
func (t *Template) variants(messages []Message) []variant {
	for _, m := range messages {
		switch {
		case len(m.ToolCalls) > 0 && t.noNone:
			return []variant{{emptyContent: true}, {emptyContent: true, textArguments: true}}
		case len(m.ToolCalls) > 0:
			return []variant{{}, {textArguments: true}, {emptyContent: true}, {emptyContent: true, textArguments: true}}
		}
	}
	return []variant{{}}
}
