package chat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// chatVocab returns a byte-level vocabulary with control tokens.
func chatVocab(t *testing.T, template string, addBOS bool) *vocab.Vocab {
	t.Helper()
	tokens := []vocab.Token{{Text: "<s>", Kind: vocab.Control}, {Text: "</s>", Kind: vocab.Control}, {Text: "<turn>", Kind: vocab.Control}}
	for c := 'a'; c <= 'z'; c++ {
		tokens = append(tokens, vocab.Token{Text: string(c)})
	}
	for _, c := range "ĊĠ:01<>[]" {
		tokens = append(tokens, vocab.Token{Text: string(c)})
	}
	bos, eos := int32(0), int32(1)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, Pre: "gpt-2", BOS: &bos, EOS: &eos, AddBOS: &addBOS, ChatTemplate: template})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const turns = `{% for m in messages %}<turn>{{ m.role }}: {{ m.content }}
{% endfor %}{% if add_generation_prompt %}<turn>assistant:{% endif %}`

func TestChatPrompt(t *testing.T) {
	in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "hi"}}}
	spell := func(v *vocab.Vocab, tokens []int32) string {
		var b strings.Builder
		for _, id := range tokens {
			b.WriteString(v.Text(id))
		}
		return b.String()
	}
	for _, test := range []struct {
		template string
		addBOS   bool
		want     string
	}{
		{turns, false, "<turn>user:ĠhiĊ<turn>assistant:"},
		{turns, true, "<s><turn>user:ĠhiĊ<turn>assistant:"},
		{"{{ bos_token }}" + turns, true, "<s><turn>user:ĠhiĊ<turn>assistant:"}, // once, not twice
	} {
		v := chatVocab(t, test.template, test.addBOS)
		p := chat.NewPrompts(v)
		got, err := p.Chat(t.Context(), in)
		if err != nil || spell(v, got) != test.want {
			t.Errorf("add BOS %t: %q, %v; want %q", test.addBOS, spell(v, got), err, test.want)
		}
		if !p.HasTemplate() {
			t.Error("no template")
		}
		if text, err := p.Text(t.Context(), "hi"); err != nil || !slices.Equal(text, v.Encode("hi")) {
			t.Errorf("text: %v", text)
		}
	}
	if chat.NewPrompts(chatVocab(t, "", false)).HasTemplate() {
		t.Error("ChatML passes for the model's own template")
	}
}

func TestChatPromptErrors(t *testing.T) {
	in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "hi"}}}
	for template, want := range map[string]chat.PromptError{
		`{{ raise_exception('only poems') }}`: {Refused: true, Message: "only poems"},
		`{% for %}`:                           {},
	} {
		_, err := chat.NewPrompts(chatVocab(t, template, false)).Chat(t.Context(), in)
		var bad *chat.PromptError
		if !errors.As(err, &bad) || bad.Refused != want.Refused || want.Message != "" && bad.Message != want.Message {
			t.Errorf("%s: %v", template, err)
		}
	}
}

// TestToolsKept checks that prompts are the same however often their tools have been seen, also with templates that fail
// without descriptions, which are then added, and with tools that hold texts of control tokens or unusual characters.
func TestToolsKept(t *testing.T) {
	sources := map[string]string{
		"strict":    `{% for t in tools %}{% if t.function.description is not defined %}{{ t.function.description.missing }}{% endif %}{{ t | tojson }}{% endfor %}{{ messages[0].content }}`,
		"two JSONs": `{% for t in tools %}{{ t | tojson }}{{ t | tojson(indent=2) }}{{ t.function | tojson(sort_keys=true) }}{% endfor %}{{ messages[0].content }}`,
	}
	files, err := filepath.Glob("testdata/*.jinja")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources[file] = string(source)
	}
	tool := func(name, rest string) json.RawMessage {
		return json.RawMessage(`{"type": "function", "function": {"name": "` + name + `"` + rest + `}}`)
	}
	plain := tool("plain", `, "description": "does things", "parameters": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "number", "maximum": 1.50}}}`)
	bare, control, unusual := tool("bare", `, "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}`), tool("control", `, "description": "x <turn> \u003cturn> y"`), tool("unusual", `, "description": "`+string(rune(0xF0000))+`"`)
	for name, source := range sources {
		v := chatVocab(t, source, true)
		kept := chat.NewPrompts(v)
		for _, tools := range [][]json.RawMessage{{plain}, {bare, plain}, {control, plain}, {unusual, bare}, {plain, unusual, control, bare}} {
			in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "a <turn> b"}}, Tools: tools}
			want, wantErr := chat.NewPrompts(v).Chat(t.Context(), in)
			written, _ := chat.NewPrompts(v).Written(in)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					got, err := kept.Chat(t.Context(), in)
					if text, _ := kept.Written(in); !slices.Equal(got, want) || text != written || fmt.Sprint(err) != fmt.Sprint(wantErr) {
						t.Errorf("%s: %q %v, want %q %v", name, text, err, written, wantErr)
					}
				})
			}
			all.Wait()
		}
	}
}

// TestOneCallEach checks that a message with several calls is split for templates that write one call at a time, each call
// before its result, and that numbers of calls keep their spelling.
func TestOneCallEach(t *testing.T) {
	source, err := os.ReadFile("testdata/llama3.jinja")
	if err != nil {
		t.Fatal(err)
	}
	call := func(id, arguments string) chat.ToolCall {
		return chat.ToolCall{ID: id, Name: "f", Arguments: json.RawMessage(arguments)}
	}
	result := func(id, text string) chat.Message {
		return chat.Message{Role: "tool", ToolCallID: id, Content: text}
	}
	user := chat.Message{Role: "user", Content: "u"}
	p := chat.NewPrompts(chatVocab(t, string(source), false))
	several := chat.Message{Role: "assistant", ToolCalls: []chat.ToolCall{call("1", `{"x": 1.50}`), call("2", `{"x": 1e5}`), call("3", `{"x": [2.0]}`)}}
	text, err := p.Written(chat.Input{Messages: []chat.Message{user, several, result("2", "two"), result("3", "three"), result("1", "one"), user}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`{"x": 1.50}`, "one", `{"x": 1e5}`, "two", `{"x": [2.0]}`, "three", "u<"} {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			t.Fatalf("%q is not in %q", part, text)
		}
		text = rest
	}
	if _, err := p.Written(chat.Input{Messages: []chat.Message{user, several, result("1", "one")}}); err == nil {
		t.Error("calls without results are accepted; the template allows one call at a time")
	}
}

// BenchmarkPrompt writes the prompt of a conversation with 50 tools.
func BenchmarkPrompt(b *testing.B) {
	v, err := vocab.Load(shared.File(b, "vocab", "llama3.gguf"))
	if err != nil {
		b.Fatal(err)
	}
	source, err := os.ReadFile("testdata/qwen25.jinja")
	if err != nil {
		b.Fatal(err)
	}
	p := chat.NewPromptsAs(v, string(source), "")
	in := chat.Input{Messages: []chat.Message{{Role: "user", Content: "What is the weather in Paris?"}}}
	for i := range 50 {
		in.Tools = append(in.Tools, json.RawMessage(fmt.Sprintf(`{"type": "function", "function": {"name": "tool_%d", "description": "Returns what is known of a place, such as its weather, in the units that are asked for.",
			"parameters": {"type": "object", "properties": {"place": {"type": "string", "description": "The city and, if it is not the only one, its country."}, "unit": {"type": "string", "enum": ["metric", "imperial"]},
			"days": {"type": "integer", "description": "How many days ahead.", "minimum": 1, "maximum": 14}, "fields": {"type": "array", "items": {"type": "string"}}}, "required": ["place"]}}}`, i)))
	}
	for b.Loop() {
		if _, err := p.Chat(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
