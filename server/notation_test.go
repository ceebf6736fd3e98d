package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/internal/shared"
)

// nestedSchema is the schema of arguments in which everything is nested. It names members in the order of their names.
const nestedSchema = `{"type": "object", "$defs": {"node": {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2}, "name": {"type": "string", "maxLength": 6}}, "required": ["name"]}},
	"properties": {
		"list": {"type": "array", "items": {"type": "object", "properties": {"flag": {"type": "boolean"}, "kind": {"enum": ["it's", "a \"b\"", 3]}, "n": {"type": "integer", "minimum": 0, "maximum": 20}}, "required": ["kind"]}, "minItems": 1, "maxItems": 3},
		"none": {"type": "object", "properties": {"x": {"type": "string", "pattern": "^[a-c']{1,3}$"}}},
		"text": {"type": "string", "maxLength": 12},
		"tree": {"$ref": "#/$defs/node"},
		"word": {"enum": ["a<b", "c", "", 5]}},
	"required": ["list", "tree"]}`

// TestNestedNotations checks, with a model that writes at random, that calls in a family's own notation are valid and are the text that
// the template writes of them in the next turn, with every budget.
func TestNestedNotations(t *testing.T) {
	control := map[string][]string{
		"google-gemma-4-31B-it": {"<|tool_call>", "<tool_call|>", `<|"|>`},
		"MiniMax-M3":            {"]<]minimax[>[", "</mm:think>"},
		"ByteDance-Seed-OSS":    {"<seed:tool_call>", "</seed:tool_call>"},
		"LFM2.5-8B-A1B":         {"<|tool_call_start|>", "<|tool_call_end|>"},
	}
	tried := map[string]bool{}
	for template, source := range shared.Templates(t) {
		tmpl, err := chat.New(source, chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		form, known := tmpl.CallForm()
		if like, err := json.Marshal(form.Arguments); err != nil || !known || !form.Arguments.Tagged || tried[string(like)] {
			continue
		} else {
			tried[string(like)] = true
		}
		v := templated(t, source, control[template]...)
		last := ""
		random := scripted.Random(7)
		url := serve(t, v, func(history []int32, logits []float32) {
			last = named(v, history)
			random(history, logits)
		})
		refused, closed, done := 0, 0, 0
		for i := range 60 {
			_, _, got := post(t, url+"/v1/chat/completions", fmt.Sprintf(`{"messages": [{"role": "user", "content": "%d"}], "seed": %d, "max_tokens": %d, "tool_choice": "required", "parallel_tool_calls": false, "tool_forms": "own",
				"tools": [{"type": "function", "function": {"name": "note", "description": "d", "parameters": %s}}]}`, i, i, 20+10*i, nestedSchema))
			if at(got, "error", "code") != nil {
				refused++
				continue
			}
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			list := callsOf(calls)
			if len(list) != 1 || at(got, "x_constraint", "validated") != true {
				t.Errorf("%s: %v", template, got)
				continue
			}
			if at(got, "x_constraint", "budget_closed") == true {
				closed++
			}
			done++
			call := chat.ToolCall{Name: "note", Arguments: json.RawMessage(list[0][1])}
			want, err := form.Write([]chat.ToolCall{call})
			if err != nil {
				t.Fatal(err)
			}
			text := last[strings.LastIndex(last, form.Triggers[0].Mark):]
			if !strings.HasPrefix(want, text) { // the last token was not decoded
				t.Errorf("%s: it wrote\n  %q\nits template writes\n  %q", template, text, want)
			}
		}
		t.Logf("%s: %d calls, %d closed by their budget, %d refused", template, done, closed, refused)
		if done < 20 || closed == 0 {
			t.Errorf("%s: %d calls, %d of them closed", template, done, closed)
		}
	}
}
