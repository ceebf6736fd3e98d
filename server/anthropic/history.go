package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/server/wire"
)

// billing matches the values in the line that Claude Code puts before its system text. They change with every session
// and request and mean nothing to a model, but they would keep the rest of the prompt from being reused from the prefix
// cache.
var billing = regexp.MustCompile(`=[^;\n]*`)

const billingHeader = "x-anthropic-billing-header:"

// withoutNonce returns a text with the values of Claude Code's billing line replaced by constants.
func withoutNonce(text string) string {
	if !strings.HasPrefix(text, billingHeader) {
		return text
	}
	line, rest, more := strings.Cut(text, "\n")
	line = billing.ReplaceAllLiteralString(line, "=0")
	if more {
		line += "\n"
	}
	return line + rest
}

// readText reads the text of a block, which must not be empty.
func readText(b *wire.Object, to *string) error {
	if err := b.Str("text", to); err != nil {
		return err
	}
	if *to == "" {
		return wire.Invalid(b.Path+"text", "%stext must not be empty", b.Path)
	}
	return nil
}

// readSystem reads the system text: a string or a list of text blocks.
func (q *messagesRequest) readSystem(o *wire.Object) error {
	if !o.Given("system") {
		return nil
	}
	m := chat.Message{Role: "system"}
	if json.Unmarshal(o.Members["system"], &m.Content) != nil {
		blocks, err := o.List("system")
		if err != nil {
			return o.WrongType("system", "a string or an array of text blocks")
		}
		if m.Content, err = textOf(blocks); err != nil {
			return err
		}
	}
	if m.Content != "" {
		m.Content = withoutNonce(m.Content)
		q.Messages = append(q.Messages, m)
	}
	return nil
}

// textOf joins the texts of blocks.
func textOf(blocks []*wire.Object) (string, error) {
	var texts []string
	for _, b := range blocks {
		text, err := blockText(b)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n"), nil
}

// blockText returns the text of a block that is, or contains, text.
func blockText(b *wire.Object) (text string, err error) {
	kind := ""
	if err := b.Str("type", &kind); err != nil {
		return "", err
	}
	switch kind {
	case "text":
		return text, readText(b, &text)
	case "tool_reference":
		name := ""
		if !b.Given("tool_name") {
			return "", wire.Invalid(b.Path+"tool_name", "%stool_name is missing", b.Path)
		}
		err := b.Str("tool_name", &name)
		return fmt.Sprintf("The tool %s is available now.", name), err
	case "document":
		return documentText(b)
	case "search_result":
		return searchText(b)
	case "":
		return "", wire.Invalid(b.Path+"type", "%stype is missing", b.Path)
	}
	return "", wire.NotOffered(b.Path+"type", fmt.Sprintf("a block of type %q", kind))
}

// documentText returns a text document, preceded by its title and context.
func documentText(b *wire.Object) (string, error) {
	title, about := "", ""
	for _, err := range []error{b.Str("title", &title), b.Str("context", &about)} {
		if err != nil {
			return "", err
		}
	}
	source, err := b.Child("source")
	if err != nil {
		return "", err
	}
	if source == nil {
		return "", wire.Invalid(b.Path+"source", "%ssource is missing", b.Path)
	}
	kind, text := "", ""
	if err := source.Str("type", &kind); err != nil {
		return "", err
	}
	switch kind {
	case "text":
		if !source.Given("data") {
			return "", wire.Invalid(source.Path+"data", "%sdata is missing", source.Path)
		}
		err = source.Str("data", &text)
	case "content":
		if json.Unmarshal(source.Members["content"], &text) != nil {
			var blocks []*wire.Object
			if blocks, err = source.List("content"); err == nil {
				text, err = textOf(blocks)
			}
		}
	case "":
		err = wire.Invalid(source.Path+"type", "%stype is missing", source.Path)
	default:
		err = wire.NotOffered(source.Path+"type", fmt.Sprintf("a document of type %q", kind))
	}
	return joinLines(title, about, text), err
}

// searchText returns a search result, preceded by its title and source.
func searchText(b *wire.Object) (string, error) {
	title, source := "", ""
	for _, err := range []error{b.Str("title", &title), b.Str("source", &source)} {
		if err != nil {
			return "", err
		}
	}
	blocks, err := b.List("content")
	if err != nil {
		return "", err
	}
	text, err := textOf(blocks)
	return joinLines(title, source, text), err
}

func joinLines(texts ...string) string {
	var given []string
	for _, t := range texts {
		if t != "" {
			given = append(given, t)
		}
	}
	return strings.Join(given, "\n")
}

// readTurns reads the conversation. Tool calls and their results become messages of their own.
func (q *messagesRequest) readTurns(o *wire.Object) error {
	if !o.Given("messages") {
		return wire.Invalid("messages", "messages is missing")
	}
	list, err := o.List("messages")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return wire.Invalid("messages", "messages must not be empty")
	}
	names := map[string]string{} // of tools, by the id of a call
	role := ""
	for _, m := range list {
		if !m.Given("role") {
			return wire.Invalid(m.Path+"role", "%srole is missing", m.Path)
		}
		if err := m.OneOf("role", &role, "user", "assistant", "system"); err != nil {
			return err
		}
		if !m.Given("content") {
			return wire.Invalid(m.Path+"content", "%scontent is missing", m.Path)
		}
		one := chat.Message{Role: role}
		if json.Unmarshal(m.Members["content"], &one.Content) == nil {
			q.Messages = append(q.Messages, one)
			continue
		}
		blocks, err := m.List("content")
		if err != nil {
			return m.WrongType("content", "a string or an array of blocks")
		}
		if err := q.readBlocks(role, blocks, names); err != nil {
			return err
		}
	}
	if role == "assistant" {
		return q.ContinueLast("messages")
	}
	return nil
}

// readBlocks reads the blocks of one turn.
func (q *messagesRequest) readBlocks(role string, blocks []*wire.Object, names map[string]string) error {
	one := chat.Message{Role: role}
	var lines request.Lines
	var thoughts strings.Builder
	for _, b := range blocks {
		kind, text := "", ""
		if err := b.Str("type", &kind); err != nil {
			return err
		}
		switch kind {
		case "thinking":
			if err := b.Str("thinking", &text); err != nil {
				return err
			}
			thoughts.WriteString(text)
		case "redacted_thinking":
		case "tool_use":
			past := chat.ToolCall{}
			for _, err := range []error{b.Str("id", &past.ID), b.Str("name", &past.Name)} {
				if err != nil {
					return err
				}
			}
			names[past.ID] = past.Name
			lines.AddCall(&one, past, string(b.Members["input"]))
		case "tool_result":
			result, err := readResult(b, names)
			if err != nil {
				return err
			}
			q.Messages = append(q.Messages, result)
		default:
			text, err := blockText(b)
			if role == "assistant" && kind != "" && err != nil {
				// History is never refused: our own empty texts, and blocks of other servers' tools.
				text, err = "", nil
				if kind != "text" {
					text = pastBlock(b)
				}
			}
			if err != nil {
				return err
			}
			if text != "" {
				lines.Add(&one, text)
			}
		}
	}
	one.Reasoning = thoughts.String()
	if one.Content != "" || len(one.ToolCalls) > 0 || one.Reasoning != "" {
		q.Messages = append(q.Messages, one)
	}
	return nil
}

// pastBlock returns a block of an unknown type as JSON.
func pastBlock(b *wire.Object) string {
	members := map[string]json.RawMessage{}
	for _, name := range b.Names {
		if name != "cache_control" && name != "encrypted_content" {
			members[name] = b.Members[name]
		}
	}
	text, err := wire.Marshal(members)
	if err != nil {
		return ""
	}
	return string(text)
}

func readResult(b *wire.Object, names map[string]string) (chat.Message, error) {
	m := chat.Message{Role: "tool"}
	failed := false
	for _, err := range []error{b.Str("tool_use_id", &m.ToolCallID), b.Boolean("is_error", &failed)} {
		if err != nil {
			return m, err
		}
	}
	if m.ToolCallID == "" {
		return m, wire.Invalid(b.Path+"tool_use_id", "%stool_use_id is missing", b.Path)
	}
	m.Name = names[m.ToolCallID]
	if b.Given("content") && json.Unmarshal(b.Members["content"], &m.Content) != nil {
		blocks, err := b.List("content")
		if err != nil {
			return m, b.WrongType("content", "a string or an array of blocks")
		}
		if m.Content, err = textOf(blocks); err != nil {
			return m, err
		}
	}
	if failed {
		m.Content = "error: " + m.Content
	}
	return m, nil
}
