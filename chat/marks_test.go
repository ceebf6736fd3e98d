package chat_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
)

// stripping is a template that omits reasoning from all turns but the last, like
// those of reasoning models.
const stripping = `{%- set last = namespace(user=-1) -%}
{%- for m in messages %}{% if m.role == 'user' %}{% set last.user = loop.index0 %}{% endif %}{% endfor -%}
{%- if tools %}<turn>tools:{% for t in tools %} {{ t.function.name }}{% endfor %}{{ '\n' }}{% endif %}
{%- for m in messages %}<turn>{{ m.role }}: {% if m.reasoning_content and loop.index0 > last.user %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content | trim }}
{% endfor %}{% if add_generation_prompt %}<turn>assistant:<think>{% endif %}`

// picky is a template that rejects conversations that do not start with a user or
// do not alternate.
const picky = `{%- for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}[{{ m.role }}] {{ m.content }} {% endfor -%}`

func TestMarks(t *testing.T) {
	says := func(role, text string) chat.Message { return chat.Message{Role: role, Content: text} }
	thought := chat.Message{Role: "assistant", Content: "yes", Reasoning: "well"}
	tool := json.RawMessage(`{"type":"function","function":{"name":"look","parameters":{}}}`)
	for _, test := range []struct {
		name, template string
		in             chat.Input
		want           string // the prompt with a bar at each mark
	}{
		{"one message", stripping, chat.Input{Messages: []chat.Message{says("user", "hi")}},
			"<turn>user: |hi\n|<turn>assistant:<think>"},
		{"system and tools", stripping, chat.Input{Messages: []chat.Message{says("system", "be brief"), says("user", "hi")}, Tools: []json.RawMessage{tool}},
			"<turn>tools: look\n<turn>system: be brief\n<turn>user: |hi\n|<turn>assistant:<think>"},
		{"several turns", stripping, chat.Input{Messages: []chat.Message{
			says("system", "be brief"), says("user", "one"), thought, says("user", "two"), thought, says("user", "three")}},
			"<turn>system: be brief\n<turn>user: |one\n<turn>assistant: yes\n<turn>user: |two\n<turn>assistant: yes\n<turn>user: |three\n|<turn>assistant:<think>"},
		{"a tool's result", stripping, chat.Input{Messages: []chat.Message{
			says("user", "one"), {Role: "assistant", Content: "a"}, says("tool", "result")}},
			"<turn>user: |one\n<turn>assistant: a\n<turn>tool: |result\n|<turn>assistant:<think>"},
		{"the text that is put in its place", stripping, chat.Input{Messages: []chat.Message{says("user", " 0 is it")}},
			"<turn>user: |0 is it\n|<turn>assistant:<think>"},
		{"parts", stripping, chat.Input{Messages: []chat.Message{{Role: "user", Parts: []chat.Part{{Type: "text", Text: "0"}, {Type: "text", Text: "b"}}}}},
			"<turn>user: |0\nb\n|<turn>assistant:<think>"},
		{"the answer's beginning", stripping, chat.Input{Messages: []chat.Message{says("user", "hi")}, Begun: "so"},
			"<turn>user: |hi\n|<turn>assistant:<think>so"},
		{"only a system text", stripping, chat.Input{Messages: []chat.Message{says("system", "be brief")}},
			"<turn>system: be brief\n|<turn>assistant:<think>"},
		{"alternating", picky, chat.Input{Messages: []chat.Message{says("user", "a"), says("assistant", "b"), says("user", "c")}},
			"[user] |a [assistant] b [user] |c |"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v := chatVocab(t, test.template, false)
			p := chat.NewPrompts(v)
			prompt, err := p.Chat(t.Context(), test.in)
			if err != nil {
				t.Fatal(err)
			}
			marks := p.Marks(t.Context(), test.in, prompt)
			slices.Sort(marks)
			if at, ok := p.Opening(t.Context(), test.in, prompt); ok != (len(marks) > 1) || ok && at != marks[0] {
				t.Errorf("the opening is %d, %v; the marks are %v", at, ok, marks)
			}
			var b strings.Builder
			for i, id := range append(prompt, -1) {
				if slices.Contains(marks, i) {
					b.WriteByte('|')
				}
				if id >= 0 {
					b.Write([]byte(v.Piece(id)))
				}
			}
			if b.String() != test.want {
				t.Errorf("%q\nwant %q", b.String(), test.want)
			}
		})
	}
}

// A conversation continues turn by turn, with a template that removes earlier
// reasoning: everything but the new messages and the last answer is reused.
func TestMarksOfAConversation(t *testing.T) {
	v := chatVocab(t, stripping, false)
	p := chat.NewPrompts(v)
	text := func(i, n int) string { return strings.Repeat(string(rune('a'+i)), n) }
	for name, cfg := range map[string]engine.Config{"slots": {}, "no slots": {Parallel: 1, CacheSlots: -1}} {
		t.Run(name, func(t *testing.T) {
			e, err := engine.New(scripted.New(v, scripted.Random(1), scripted.Options{Recurrent: true}), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			list := []chat.Message{{Role: "system", Content: text(0, 200)}}
			ask := func(list []chat.Message) (all, cached int) {
				in := chat.Input{Messages: list}
				prompt, err := p.Chat(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if !e.WantsMarks(len(prompt)) {
					t.Fatalf("no marks are wanted in %d tokens", len(prompt))
				}
				stream, err := e.Submit(t.Context(), engine.Request{Prompt: prompt, Marks: p.Marks(t.Context(), in, prompt), MaxTokens: 30, Sampling: sampling.Options{LogitBias: []sampling.Bias{{Token: 1, Add: -100}}}})
				if err != nil {
					t.Fatal(err)
				}
				results, err := stream.Collect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				return results[0].PromptTokens, results[0].CachedTokens
			}
			before := 0
			for i := range 6 {
				list = append(list, chat.Message{Role: "user", Content: text(2*i+1, 100)})
				all, cached := ask(list)
				if want := before - 20; cached < want {
					t.Errorf("turn %d: %d of %d tokens cached, want at least %d", i, cached, all, want)
				}
				before = all
				// The last message is edited.
				edited := slices.Clone(list)
				edited[len(edited)-1].Content = text(20, 50)
				if all, cached := ask(edited); all-cached > 50+20 {
					t.Errorf("turn %d in other words: %d of %d tokens cached", i, cached, all)
				}
				list = append(list, chat.Message{Role: "assistant", Content: text(2*i+2, 90), Reasoning: "thoughts"})
			}
			// Another conversation with the same system prompt.
			if _, cached := ask([]chat.Message{list[0], {Role: "user", Content: text(9, 300)}}); cached < 200 {
				t.Errorf("%d tokens of the system text cached", cached)
			}
		})
	}
}

// TestFollowing compares a message that follows an answer, as written for a prompt that ends with that answer, with the
// whole conversation, for every family's template.
func TestFollowing(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jinja")
	if err != nil || len(files) < 9 {
		t.Fatal(files, err)
	}
	templates := map[string]string{"stripping": stripping, "alternating": picky}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		templates[filepath.Base(name)] = string(source)
	}
	for name, template := range templates {
		v := chatVocab(t, template, true)
		p := chat.NewPrompts(v)
		spell := func(tokens []int32, err error) string {
			if err != nil {
				t.Fatal(name, err)
			}
			return v.Detokenize(tokens, false, true)
		}
		list := []chat.Message{{Role: "user", Content: "one"}, {Role: "assistant", Content: "so it is"}, {Role: "user", Content: "0 two"}}
		whole := spell(p.Chat(t.Context(), chat.Input{Messages: list}))
		_, want, ok := strings.Cut(whole, "so it is")
		if got := spell(p.Following(t.Context(), chat.Input{Messages: list[2:]})); got != want || !ok {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
