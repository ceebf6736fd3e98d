package server

import (
	"fmt"
	"strings"
	"testing"
)

// claude returns a body of Anthropic's dialect with further fields.
func claude(messages, more string) string {
	return `{"model": "tiny", "max_tokens": 60, "temperature": 0, "messages": [` + messages + `]` + more + `}`
}

// toolLoop returns a conversation with n tool calls and their results.
func toolLoop(n int, thinking bool) string {
	var b strings.Builder
	b.WriteString(`{"role": "user", "content": "x"}`)
	for i := range n {
		thought := ""
		if thinking {
			thought = `{"type": "thinking", "thinking": "hmm", "signature": ""}, `
		}
		fmt.Fprintf(&b, `, {"role": "assistant", "content": [%s{"type": "tool_use", "id": "t%d", "name": "look", "input": {"at": "%d"}}]}`, thought, i, i)
		fmt.Fprintf(&b, `, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t%d", "content": "%s"}]}`, i, strings.Repeat("a long result ", 20))
	}
	return b.String()
}

const lookTool = `, "tools": [{"name": "look", "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}}}]`

func managed(edits string) string { return `, "context_management": {"edits": [` + edits + `]}` }

// tokensOf returns the length of a prompt in Anthropic's dialect.
func tokensOf(t *testing.T, url, body string) float64 {
	t.Helper()
	status, _, got := post(t, url+"/v1/messages/count_tokens", body)
	if status != 200 {
		t.Fatalf("%d %v", status, got)
	}
	return at(got, "input_tokens").(float64)
}

func TestContextEdits(t *testing.T) {
	_, url := start(t, setup{vocab: familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>"), reply: "fine"})
	loop := toolLoop(4, false)
	whole := tokensOf(t, url, claude(loop, lookTool))
	three := tokensOf(t, url, claude(loop, lookTool+managed(`{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 2}}`)))
	for _, c := range []struct {
		name, edits string
		uses        int // tool uses cleared
	}{
		{"nothing", `{"type": "clear_thinking_20251015", "keep": "all"}`, 0},
		{"all, as an object", `{"type": "clear_thinking_20251015", "keep": {"type": "all"}}`, 0},
		{"no thoughts", `{"type": "clear_thinking_20251015"}`, 0},
		{"below the trigger", `{"type": "clear_tool_uses_20250919"}`, 0},
		{"below a trigger of uses", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 4}}`, 0},
		{"above a trigger of uses", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 3}}`, 1},
		{"above a trigger of tokens", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}}`, 1},
		{"keep", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}, "keep": {"type": "tool_uses", "value": 1}}`, 3},
		{"keep none", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}, "keep": {"type": "tool_uses", "value": 0}}`, 4},
		{"excluded", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}, "exclude_tools": ["look"]}`, 0},
		{"inputs", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}, "clear_tool_inputs": true}`, 1},
		{"too little to clear", `{"type": "clear_tool_uses_20250919", "trigger": {"type": "input_tokens", "value": 100}, "clear_at_least": {"type": "input_tokens", "value": 5000}}`, 0},
	} {
		body := claude(loop, lookTool+managed(c.edits))
		status, _, got := post(t, url+"/v1/messages", body)
		if status != 200 {
			t.Errorf("%s: %d %v", c.name, status, got)
			continue
		}
		read := at(got, "usage", "input_tokens").(float64) + at(got, "usage", "cache_read_input_tokens").(float64)
		if read != tokensOf(t, url, body) {
			t.Errorf("%s: %v tokens read, %v counted", c.name, read, tokensOf(t, url, body))
		}
		applied, _ := at(got, "context_management", "applied_edits").([]any)
		switch {
		case c.uses == 0:
			if len(applied) != 0 || read != whole {
				t.Errorf("%s: %v, %v tokens of %v", c.name, applied, read, whole)
			}
		case at(applied, 0, "cleared_tool_uses") != float64(c.uses) || at(applied, 0, "cleared_input_tokens") != whole-read || read >= whole:
			t.Errorf("%s: %v, %v tokens of %v", c.name, applied, read, whole)
		case c.name == "inputs" && read >= three:
			t.Errorf("the inputs of calls are still there: %v tokens, %v with them", read, three)
		}
	}
	_, _, counted := post(t, url+"/v1/messages/count_tokens", claude(loop, lookTool+managed(`{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 3}}`)))
	if at(counted, "context_management", "original_input_tokens") != whole {
		t.Errorf("counted %v of %v", counted, whole)
	}
	_, events := postStream(t, url+"/v1/messages", claude(loop, lookTool+managed(`{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses", "value": 3}}`)+`, "stream": true`))
	found := false
	for _, e := range events {
		found = found || e.data["type"] == "message_delta" && at(e.data, "context_management", "applied_edits", 0, "cleared_tool_uses") == 1.0
	}
	if !found {
		t.Errorf("no applied edits in the stream: %v", events)
	}
}

func TestClearThinking(t *testing.T) {
	_, url := start(t, setup{vocab: familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>"), reply: "fine"})
	loop := toolLoop(3, true)
	whole := tokensOf(t, url, claude(loop, lookTool))
	_, _, got := post(t, url+"/v1/messages", claude(loop, lookTool+managed(`{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}}`)))
	if at(got, "context_management", "applied_edits", 0, "cleared_thinking_turns") != 2.0 || at(got, "context_management", "applied_edits", 0, "cleared_input_tokens").(float64) <= 0 ||
		at(got, "usage", "input_tokens").(float64) >= whole {
		t.Errorf("%v of %v tokens", got, whole)
	}
}

func TestContextEditsRefused(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	for edits, want := range map[string]string{
		`{}`:                           "context_management.edits[0].type",
		`{"type": "compact_20270112"}`: "context_management.edits[0].type",
		`{"type": "compact_20260112", "trigger": {"type": "tool_uses", "value": 1}}`:          "context_management.edits[0].trigger.type",
		`{"type": "compact_20260112", "keep": 1}`:                                             "context_management.edits[0].keep",
		`{"type": "clear_thinking_20251015", "keep": "some"}`:                                 "context_management.edits[0].keep",
		`{"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 0}}`: "context_management.edits[0].keep.value",
		`{"type": "clear_tool_uses_20250919", "keep": {"type": "turns", "value": 1}}`:         "context_management.edits[0].keep.type",
		`{"type": "clear_tool_uses_20250919", "trigger": {"type": "tool_uses"}}`:              "context_management.edits[0].trigger.value",
		`{"type": "clear_tool_uses_20250919", "treshold": 1}`:                                 "context_management.edits[0].treshold",
		`{"type": "clear_tool_uses_20250919", "clear_tool_inputs": 3}`:                        "context_management.edits[0].clear_tool_inputs",
		`{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}`:           "context_management.edits[1].type",
		`{"type": "clear_tool_uses_20250919"}, {"type": "clear_tool_uses_20250919"}`:          "context_management.edits[1].type",
	} {
		status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, managed(edits)))
		if status != 400 || at(got, "error", "param") != want {
			t.Errorf("%s: %d %v", edits, status, got)
		}
	}
}

// TestBillingNonce checks that Claude Code's first block of system text, with
// values new in each request, does not prevent prefix reuse.
func TestBillingNonce(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	body := func(version, nonce string) string {
		return claude(`{"role": "user", "content": "x"}`, fmt.Sprintf(`, "system": [{"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1.%s; cc_entrypoint=cli; cch=%s;"}, {"type": "text", "text": "You are an agent. %s"}]`,
			version, nonce, strings.Repeat("Do this. ", 30)))
	}
	post(t, url+"/v1/messages", body("330.9ed", "a1b2c"))
	_, _, got := post(t, url+"/v1/messages", body("330.0af", "ffffff"))
	if at(got, "usage", "input_tokens") != 1.0 || at(got, "usage", "cache_read_input_tokens").(float64) < 100 {
		t.Errorf("of the same prompt: %v", got["usage"])
	}
	// Other texts are left unchanged.
	other := claude(`{"role": "user", "content": "x"}`, `, "system": "cch=1; what x-anthropic-billing-header: cch=%d; means"`)
	one, two := tokensOf(t, url, fmt.Sprintf(other, 7)), tokensOf(t, url, fmt.Sprintf(other, 1234567))
	if one == two {
		t.Error("a text that only mentions the line was overwritten")
	}
}

func TestTextBlocks(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	same := func(name, a, b string) {
		t.Helper()
		post(t, url+"/v1/messages", claude(a, ""))
		_, _, got := post(t, url+"/v1/messages", claude(b, ""))
		if at(got, "usage", "input_tokens") != 1.0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	user := func(text string) string { return fmt.Sprintf(`{"role": "user", "content": %q}`, text) }
	blocks := func(list string) string { return `{"role": "user", "content": [` + list + `]}` }
	same("document", user("Title\nabout\nthe text"), blocks(`{"type": "document", "title": "Title", "context": "about", "source": {"type": "text", "media_type": "text/plain", "data": "the text"}}`))
	same("document of blocks", user("the text"), blocks(`{"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "the text"}]}}`))
	same("search result", user("Title\nthere\nthe text"), blocks(`{"type": "search_result", "title": "Title", "source": "there", "content": [{"type": "text", "text": "the text"}]}`))
	loop := `{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "ToolSearch", "input": {}}]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": %s}]}`
	same("tool reference", fmt.Sprintf(loop, `"The tool Read is available now."`), fmt.Sprintf(loop, `[{"type": "tool_reference", "tool_name": "Read"}]`))
	status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "q"}}, {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}]}, {"role": "user", "content": "y"}`, ""))
	if status != 200 {
		t.Errorf("past blocks of other servers: %d %v", status, got)
	}
	for body, want := range map[string]string{
		blocks(`{"type": "text", "text": "x"}, {"type": "text", "text": ""}`):                                     "messages[0].content[1].text",
		blocks(`{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}`):          "messages[0].content[0].type",
		blocks(`{"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}}`): "messages[0].content[0].source.type",
		blocks(`{"type": "document"}`): "messages[0].content[0].source",
	} {
		if status, _, got := post(t, url+"/v1/messages", claude(body, "")); status != 400 || at(got, "error", "param") != want {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
}

// TestThreads checks the error at which Anthropic's clients continue without
// threads.
func TestThreads(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	for _, thread := range []string{`{"type": "create"}`, `{"type": "continue", "previous_message_id": "msg_x"}`} {
		status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, `, "thread": `+thread))
		details := at(got, "error", "details")
		if status != 400 || at(details, "error_code") != "thread_unsupported_request" || at(details, "unsupported", 0) != "thread" {
			t.Errorf("%s: %d %v", thread, status, got)
		}
	}
	if status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, `, "thread": null`)); status != 200 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, `, "compaction": {"type": "summarize"}`)); status != 400 || at(got, "error", "param") != "compaction" {
		t.Errorf("%d %v", status, got)
	}
}
