package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// bundledTools are the tools of TestBundledForms: arguments of every type.
const bundledTools = `[{"type": "function", "function": {"name": "record", "description": "Records", "parameters": {"type": "object", "properties": {
	"a": {"type": "string", "description": "d"}, "b": {"type": "integer", "description": "d"}, "c": {"type": "boolean", "description": "d"}, "d": {"type": "null", "description": "d"},
	"e": {"type": "object", "description": "d", "properties": {"x": {"type": "array"}}}, "f": {"type": "array", "description": "d"}, "g": {"type": "number", "description": "d"},
	"h": {"enum": ["one", "two"], "description": "d", "type": "string"}}}}},
	{"type": "function", "function": {"name": "now", "description": "Now", "parameters": {"type": "object", "properties": {}}}}]`

// bundledCalls are the calls that the models write.
var bundledCalls = [][]chat.ToolCall{
	{{ID: "abcdefghi", Name: "now", Arguments: json.RawMessage(`{}`)}},
	{{ID: "abcdefghi", Name: "record", Arguments: json.RawMessage(`{"a": "x", "b": 5, "c": true, "d": null, "e": {"x": [1, "y", {}]}, "f": [1, "q", [true, null]], "g": -1.5}`)}},
	{{ID: "abcdefghi", Name: "record", Arguments: json.RawMessage(`{"a": "Its \"so\":\n  {nice} & <b>\\ é 日本 😀", "c": false, "h": "two"}`)}},
	{{ID: "abcdefghi", Name: "record", Arguments: json.RawMessage(`{"a": "", "e": {}, "f": []}`)}},
	{{ID: "abcdefghi", Name: "record", Arguments: json.RawMessage(`{"a": "x"}`)}, {ID: "jklmnopqr", Name: "now", Arguments: json.RawMessage(`{}`)}, {ID: "stuvwxyza", Name: "record", Arguments: json.RawMessage(`{"b": 7, "f": ["z"]}`)}},
}

// TestBundledForms checks, for every bundled template, that what the masks let a
// model write is a call and that, put back into the conversation, it is rendered as
// the text that the model wrote.
func TestBundledForms(t *testing.T) {
	templates := shared.Templates(t)
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		source := dated.ReplaceAllString(templates[name], `"1 January"`)
		tmpl, err := chat.New(source, chat.Options{BOS: "", EOS: "<end>"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		form, known := tmpl.CallForm()
		if !known && tmpl.Caps().ToolCalls || form.Name == chat.Harmony {
			continue // channels have tests of their own
		}
		thought, _ := tmpl.ThoughtForm()
		// begun reports whether a prompt ends with the start of reasoning.
		begun := func(variables map[string]any) (bool, error) {
			prompt, err := tmpl.Render(chat.Input{Tools: listOf(t, bundledTools), AddGenerationPrompt: true, Messages: []chat.Message{{Role: "user", Content: "q"}}, Extra: variables})
			return strings.HasSuffix(strings.TrimSpace(prompt), thought.Open), err
		}
		if _, err := begun(nil); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := templated(t, source)
			for i, calls := range bundledCalls {
				if len(calls) > 1 && form.Next == "" {
					continue
				}
				if n := form.Arguments.Values[chat.ArrayValue].Nested; n != nil && n.OmitsNull {
					calls = slices.Clone(calls)
					for k := range calls { // items without text are strings there
						calls[k].Arguments = []byte(strings.NewReplacer(", {}]", "]", ", null]", "]").Replace(string(calls[k].Arguments)))
					}
				}
				text, err := form.Write(calls)
				if err != nil {
					t.Fatal(err)
				}
				for _, choice := range []string{"auto", "required"} {
					if (choice == "required") != (i == 0) && len(calls) == 1 {
						continue // once each suffices
					}
					reply, variables := text, map[string]any(nil)
					if choice == "required" {
						reply, variables = form.Lead+text, map[string]any{"enable_thinking": false}
					}
					if form.Answer != "" {
						reply = form.Call + strings.TrimPrefix(text, form.Triggers[0].Mark)
					}
					if thinks, _ := begun(variables); thinks {
						gap := thought.Gap[:len(thought.Gap)-len(strings.TrimLeft(thought.Gap, " \n"))]
						reply = "so" + thought.Close + gap + reply
					}
					url := roomy(t, v, sayAnyhow(v, reply, uint64(i)))
					_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "q"}], "temperature": 0, "max_tokens": 900, "tool_choice": %q, "tools": %s}`, choice, bundledTools))
					list, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
					var back []chat.ToolCall
					for k, c := range callsOf(list) {
						id, _ := at(list[k], "id").(string)
						back = append(back, chat.ToolCall{ID: id, Name: c[0], Arguments: json.RawMessage(c[1])})
					}
					if !sameCalls(back, calls) || at(got, "choices", 0, "message", "content") != nil {
						t.Errorf("%d %s: %q is read as %v", i, choice, text, got)
						continue
					}
					again, err := tmpl.Render(chat.Input{Tools: listOf(t, bundledTools), Messages: []chat.Message{{Role: "user", Content: "q"}, {Role: "assistant", ToolCalls: back}}})
					want := text
					if !form.HasSlot(chat.SlotID) {
						want, _ = form.Write(calls)
					}
					if form.Arguments.Layout == chat.AnyLayout {
						again, want = strings.Join(strings.Fields(again), ""), strings.Join(strings.Fields(want), "")
					}
					if err != nil || !strings.Contains(again, want) {
						t.Errorf("%d %s: %q is rendered as %q, %v", i, choice, want, again, err)
					}
				}
			}
		})
	}
}

func listOf(t *testing.T, text string) (out []json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func sameCalls(a, b []chat.ToolCall) bool {
	return slices.EqualFunc(a, b, func(x, y chat.ToolCall) bool {
		var v, w any
		return x.Name == y.Name && json.Unmarshal(x.Arguments, &v) == nil && json.Unmarshal(y.Arguments, &w) == nil && reflect.DeepEqual(v, w)
	})
}

// roomy is serve with a context for long prompts.
func roomy(t testing.TB, v *vocab.Vocab, next scripted.Func) string {
	t.Helper()
	_, url := start(t, setup{vocab: v, next: next, opt: scripted.Options{ContextLength: 1 << 15}, eng: engine.Config{Context: backend.ContextParams{Size: 1 << 15}}})
	return url
}
