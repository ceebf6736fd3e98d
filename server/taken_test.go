package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/vocab"
)

// generating are paths that generate text, with what a body of theirs has at least.
var generating = map[string]string{
	"/v1/chat/completions": `"messages": [{"role": "user", "content": "x"}], "max_tokens": 40`,
	"/v1/completions":      `"prompt": "x", "max_tokens": 40`,
	"/v1/responses":        `"input": "x", "max_output_tokens": 40`,
	"/v1/messages":         `"model": "tiny", "max_tokens": 40, "messages": [{"role": "user", "content": "x"}]`,
	"/api/chat":            `"model": "tiny", "stream": false, "messages": [{"role": "user", "content": "x"}]`,
	"/api/generate":        `"model": "tiny", "stream": false, "prompt": "x"`,
	"/generate":            `"prompt": "x"`,
	"/completion":          `"prompt": "x", "n_predict": 40`,
}

// TestFieldsTaken sends fields that change nothing in the text: they are taken, with a warning where their clients may
// have expected something. Beside each is a value of the field that would change the text, and is refused by name.
func TestFieldsTaken(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	blocks := `{"model": "m", "policy": {"input": {"mode": "score"}, "output": {"mode": "block"}}}`
	scores := `{"model": "m", "policy": {"input": {"mode": "score"}, "output": null}}`
	for _, c := range []struct {
		paths, field, taken, warns, refused string
	}{
		{"/v1/chat/completions /v1/completions /v1/responses", "moderation", scores, "moderation", blocks},
		{"/v1/chat/completions /v1/completions /v1/responses", "min_tokens", "0", "", "41"},
		{"/v1/chat/completions /v1/completions /v1/responses", "guided_decoding_backend", `"xgrammar"`, "", ""},
		{"/v1/chat/completions /v1/completions", "spaces_between_special_tokens", "false", "", ""},
		{"/v1/chat/completions /v1/completions /v1/responses", "skip_special_tokens", "true", "", `"no"`},
		{"/v1/responses", "context_management", `[{"type": "compaction", "compact_threshold": 1000}]`, "", `[{"type": "pruning"}]`},
		{"/v1/responses", "context_management", `[{"type": "compaction", "compact_threshold": 1}]`, "compact_threshold", ""},
		{"/v1/responses", "access_programs", `{"cyber": "standard"}`, "", ""},
		{"/v1/responses", "image", `{"context_compression": "disabled"}`, "", ""},
		{"/v1/responses", "multi_agent", `{"enabled": false}`, "", `{"enabled": true}`},
		{"/v1/responses", "personality", `"friendly"`, "personality", ""},
		{"/v1/messages", "context_management", `{"edits": [{"type": "compact_20260112", "pause_after_compaction": true, "instructions": "short"}]}`, "", `{"edits": [{"type": "compact_2"}]}`},
		{"/v1/messages", "context_management", `{"edits": [{"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 2}}]}`, "compact_20260112", ""},
		{"/v1/messages", "container", `"container_1"`, "container", ""},
		{"/v1/messages", "container", `{"id": "container_1", "skills": []}`, "container", `{"skills": [{"type": "anthropic", "skill_id": "pdf"}]}`},
		{"/v1/messages", "mcp_servers", `[]`, "", `[{"type": "url", "url": "https://example.com", "name": "x"}]`},
		{"/v1/messages", "fallbacks", `[{"model": "other"}]`, "fallbacks", ""},
		{"/v1/messages", "fallbacks", `[]`, "", ""},
		{"/v1/messages", "compaction", `null`, "", `{"type": "summarize"}`},
		{"/v1/messages", "output_config", `{"task_budget": {"type": "tokens", "total": 20000, "remaining": null}}`, "task_budget", `{"task_budget": {"type": "words", "total": 5}}`},
		{"/v1/messages /v1/messages/count_tokens", "output_config", `{"effort": null}`, "", `{"efort": "low"}`},
	} {
		for path := range strings.FieldsSeq(c.paths) {
			base := generating[strings.TrimSuffix(path, "/count_tokens")]
			status, _, got := post(t, url+path, `{`+base+`, "`+c.field+`": `+c.taken+`}`)
			warnings := fmt.Sprint(got["warnings"])
			if status != 200 || (got["warnings"] != nil) != (c.warns != "") || !strings.Contains(warnings, c.warns) {
				t.Errorf("%s with %s %s: %d %v", path, c.field, c.taken, status, got)
			}
			if c.refused == "" {
				continue
			}
			status, _, got = post(t, url+path, `{`+base+`, "`+c.field+`": `+c.refused+`}`)
			if param, _ := at(got, "error", "param").(string); status != 400 || !strings.HasPrefix(param, c.field) {
				t.Errorf("%s with %s %s: %d %v", path, c.field, c.refused, status, got)
			}
		}
	}
}

// TestNoThinking sends thinking as clients of DeepSeek and GLM do, to every path that generates text: switched off, it
// changes nothing for a model that doesn't reason, and a model that does doesn't reason.
func TestNoThinking(t *testing.T) {
	_, plain := start(t, setup{reply: "fine"})
	v := familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>")
	_, reasons := start(t, setup{vocab: v, reply: "fine"})
	for path, base := range generating {
		for name, url := range map[string]string{"plain": plain, "reasoning": reasons} {
			_, _, want := post(t, url+path, `{`+base+`, "reasoning": false}`)
			status, _, got := post(t, url+path, `{`+base+`, "thinking": {"type": "disabled"}}`)
			if path == "/completion" { // a path of raw prompts
				_, _, want = post(t, url+path, `{`+base+`}`)
			}
			if status != 200 || got["warnings"] != nil || fmt.Sprint(textsOf(got)) != fmt.Sprint(textsOf(want)) || len(textsOf(got)) == 0 {
				t.Errorf("%s, %s model: %d %v, want %v", path, name, status, got, want)
			}
		}
	}
	thinks := func(more string) any {
		_, _, got := post(t, reasons+"/apply-template", chatBody(more))
		return got["prompt"]
	}
	off, on := thinks(`"thinking": {"type": "disabled"}`), thinks(`"thinking": {"type": "enabled", "clear_thinking": false}`)
	if off == on || off != thinks(`"reasoning": false`) || on != thinks(`"reasoning": true`) || on == nil {
		t.Errorf("the prompts are %q and %q", off, on)
	}
}

// textsOf returns the texts of an answer in any dialect, at whatever depth.
func textsOf(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range []string{"text", "content", "response", "thinking", "reasoning_content"} {
			if text, ok := v[name].(string); ok {
				out = append(out, name+": "+text)
			}
		}
		for _, name := range []string{"choices", "message", "output", "content"} {
			out = append(out, textsOf(v[name])...)
		}
	case []any:
		for _, one := range v {
			out = append(out, textsOf(one)...)
		}
	}
	return out
}

// TestMinTokens has a model that would end at once, or at a stop, go on for as long as min_tokens says, on every path
// that takes it, in streams and in conversations as well as after prompts.
func TestMinTokens(t *testing.T) {
	v := infillVocab(t)
	end, _ := v.EOS()
	ends := func(history []int32, logits []float32) { // at every place it would rather end, and else writes "a"
		logits[end], logits['a'] = 200, 100
	}
	_, url := start(t, setup{vocab: v, next: ends})
	generated := func(got map[string]any) any {
		for _, path := range [][]any{{"usage", "completion_tokens"}, {"usage", "output_tokens"}, {"meta_info", "completion_tokens"}} {
			if n := at(got, path...); n != nil {
				return n
			}
		}
		return nil
	}
	for path, body := range map[string]string{
		"/v1/chat/completions": `{` + generating["/v1/chat/completions"] + `, "min_tokens": 7, "stop": ["aa"], "thinking": {"type": "disabled"}}`,
		"/v1/completions":      `{` + generating["/v1/completions"] + `, "min_tokens": 7}`,
		"/v1/responses":        `{` + generating["/v1/responses"] + `, "min_tokens": 7, "thinking": {"type": "disabled"}}`,
		"/generate":            `{"text": "x", "sampling_params": {"max_new_tokens": 40, "min_new_tokens": 7}}`,
	} {
		status, _, got := post(t, url+path, body)
		if status != 200 || generated(got) != 7.0 || !strings.Contains(fmt.Sprint(got), "aaaaaaa") || strings.Contains(fmt.Sprint(got["warnings"]), "least") {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	if _, _, got := post(t, url+"/v1/completions", `{`+generating["/v1/completions"]+`}`); generated(got) != 0.0 {
		t.Errorf("without min_tokens: %v", got)
	}

	// A stop is looked for in what follows them, as vLLM does.
	_, url = start(t, setup{vocab: v, next: scripted.Say(v, "ab.cd.ef.gh")})
	for least, want := range map[int]string{0: "ab", 1: "ab", 2: "ab", 3: "ab.cd", 6: "ab.cd.ef", 30: "ab.cd.ef.gh"} {
		_, _, got := post(t, url+"/v1/completions", fmt.Sprintf(`{"prompt": "x", "max_tokens": 31, "temperature": 0, "stop": ".", "min_tokens": %d}`, least))
		if text, _ := at(got, "choices", 0, "text").(string); text != want && !(least == 30 && strings.HasPrefix(text, want)) {
			t.Errorf("min_tokens %d: %v", least, got)
		}
	}

	// A constraint says itself where its text ends.
	_, _, got := post(t, url+"/v1/completions", `{"prompt": "x", "max_tokens": 40, "choice": ["ab"], "min_tokens": 9}`)
	if at(got, "choices", 0, "text") != "ab" || !strings.Contains(fmt.Sprint(got["warnings"]), "least number of tokens") {
		t.Errorf("%v", got)
	}
}

// TestSpecialTokensShown has special tokens in the middle of a text: they are shown on request, in the text, in streams and
// beside probabilities, and where the text has parts the request is refused.
func TestSpecialTokensShown(t *testing.T) {
	v := infillVocab(t)
	special, _ := v.Find("<|fim_prefix|>")
	end, _ := v.EOS()
	_, url := start(t, setup{vocab: v, next: scripted.SayTokens([]int32{'a', special, 'b', end})})
	ask := func(more string) map[string]any {
		_, _, got := post(t, url+"/v1/completions", `{"prompt": "x", "max_tokens": 9, "temperature": 0`+more+`}`)
		return got
	}
	for more, want := range map[string]string{"": "ab", `, "skip_special_tokens": true`: "ab", `, "skip_special_tokens": false`: "a<|fim_prefix|>b"} {
		if got := ask(more); at(got, "choices", 0, "text") != want {
			t.Errorf("%s: %v, want %q", more, got, want)
		}
	}
	if got := ask(`, "skip_special_tokens": false, "logprobs": 0`); at(got, "choices", 0, "logprobs", "tokens", 1) != "<|fim_prefix|>" {
		t.Errorf("%v", got)
	}
	_, _, stream := send(t, "POST", url+"/v1/completions", `{"prompt": "x", "max_tokens": 9, "temperature": 0, "skip_special_tokens": false, "stream": true}`, "Content-Type", jsonBody)
	if !strings.Contains(stream, "<|fim_prefix|>") && !strings.Contains(stream, `\u003c|fim_prefix|\u003e`) {
		t.Errorf("the stream is %s", stream)
	}
	_, _, got := post(t, url+"/generate", `{"text": "x", "sampling_params": {"temperature": 0, "max_new_tokens": 9, "skip_special_tokens": false}}`)
	if got["text"] != "a<|fim_prefix|>b" {
		t.Errorf("SGLang's form: %v", got)
	}
	if got := ask(`, "skip_special_tokens": false, "regex": "[ab]*"`); at(got, "error", "param") != "skip_special_tokens" {
		t.Errorf("with a constraint: %v", got)
	}
}

// TestNullResults sends results of tools that have none, in every dialect with tools.
func TestNullResults(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"max_tokens": 40, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
			{"role": "tool", "tool_call_id": "c1", "content": null}]}`,
		"/v1/responses": `{"input": [{"role": "user", "content": "x"}, {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": null}]}`,
		"/v1/messages": claude(`{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "f", "input": {}}]},
			{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": null}]}`, ""),
		"/api/chat": `{"model": "tiny", "stream": false, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "content": null}]}`,
	} {
		if status, _, got := post(t, url+path, body); status != 200 {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	if status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": null}]}`); status != 400 {
		t.Errorf("a user's: %d %v", status, got)
	}
}

// TestReturnsOfTools gives functions a schema of their results, as transformers writes them: it is shown by templates that
// show all of a tool, and no path refuses it.
func TestReturnsOfTools(t *testing.T) {
	_, url := start(t, setup{vocab: familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>"), reply: "fine"})
	for _, name := range []string{"return", "returns"} {
		f := `"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}, "` + name + `": {"type": "number", "description": "degrees"}`
		for path, body := range map[string]string{
			"/v1/chat/completions": `{` + generating["/v1/chat/completions"] + `, "tools": [{"type": "function", "function": {` + f + `}}]}`,
			"/v1/responses":        `{` + generating["/v1/responses"] + `, "tools": [{"type": "function", ` + f + `}]}`,
			"/v1/messages":         `{` + generating["/v1/messages"] + `, "tools": [{` + strings.Replace(f, "parameters", "input_schema", 1) + `}]}`,
			"/api/chat":            `{` + generating["/api/chat"] + `, "tools": [{"type": "function", "function": {` + f + `}}]}`,
		} {
			if status, _, got := post(t, url+path, body); status != 200 {
				t.Errorf("%s with %s: %d %v", path, name, status, got)
			}
		}
		_, _, got := post(t, url+"/apply-template", chatBody(`"tools": [{"type": "function", "function": {`+f+`}}]`))
		if prompt, _ := got["prompt"].(string); !strings.Contains(prompt, `"return": {"type": "number", "description": "degrees"}`) {
			t.Errorf("%s: the prompt is %q", name, prompt)
		}
	}
}

// TestBackendHints holds that what chooses between backends of constraints in vLLM is no part of a constraint here.
func TestBackendHints(t *testing.T) {
	_, url := start(t, setup{})
	for _, more := range []string{
		`"structured_outputs": {"choice": ["fine"], "backend": "xgrammar", "_backend": "auto", "_backend_was_auto": true, "disable_fallback": true}`,
		`"guided_choice": ["fine"], "guided_decoding_backend": "outlines"`,
	} {
		if _, _, got := post(t, url+"/v1/chat/completions", chatBody(more)); at(got, "choices", 0, "message", "content") != "fine" || got["warnings"] != nil {
			t.Errorf("%s: %v", more, got)
		}
	}
}

// TestNoCompaction asks for a summary of a conversation, which nothing here writes: the answer says so.
func TestNoCompaction(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	status, header, got := post(t, url+"/v1/responses/compact", `{"model": "tiny", "input": "x"}`)
	if message, _ := at(got, "error", "message").(string); status != 404 || header.Get("X-Should-Retry") != "false" || !strings.Contains(message, "not compacted") || !strings.Contains(message, "truncation") {
		t.Errorf("%d %v", status, got)
	}
}

// TestSuffix fills in text between a prompt and a suffix, at OpenAI's and Ollama's paths, by the marks that the model has
// for it; a model without them is told by name.
func TestSuffix(t *testing.T) {
	v := infillVocab(t)
	var prompt string
	say := scripted.Say(v, "n + 1")
	_, url := start(t, setup{vocab: v, next: func(history []int32, logits []float32) {
		if i := slices.Index(history, 259); i == len(history)-1 { // <|fim_middle|>
			prompt = v.Detokenize(history, false, true)
		}
		say(history, logits)
	}})
	const want = "<|fim_prefix|>return <|fim_suffix|>\n\nprint(f(2))<|fim_middle|>"
	for _, c := range []struct{ path, body, text string }{
		{"/v1/completions", `{"prompt": "return ", "suffix": "\n\nprint(f(2))", "max_tokens": 9, "temperature": 0}`, "n + 1"},
		{"/v1/completions", `{"prompt": [114, 101, 116, 117, 114, 110, 32], "suffix": "\n\nprint(f(2))", "max_tokens": 9, "temperature": 0}`, "n + 1"},
		{"/v1/completions", `{"prompt": "return ", "suffix": "\n\nprint(f(2))", "max_tokens": 9, "temperature": 0, "echo": true}`, "return n + 1"},
		{"/v1/completions", `{"prompt": [114, 101, 116, 117, 114, 110, 32], "suffix": "\n\nprint(f(2))", "max_tokens": 9, "temperature": 0, "echo": true}`, "return n + 1"},
		{"/api/generate", `{"model": "tiny", "prompt": "return ", "suffix": "\n\nprint(f(2))", "stream": false, "options": {"temperature": 0}}`, "n + 1"},
	} {
		prompt = ""
		_, _, got := post(t, url+c.path, c.body)
		text := at(got, "choices", 0, "text")
		if text == nil {
			text = got["response"]
		}
		if text != c.text || prompt != want {
			t.Errorf("%s %s: %v from %q", c.path, c.body, got, prompt)
		}
	}
	_, _, stream := send(t, "POST", url+"/v1/completions", `{"prompt": ["a", "b"], "suffix": "c", "max_tokens": 9, "temperature": 0, "stream": true}`, "Content-Type", jsonBody)
	if strings.Count(stream, `"finish_reason":"stop"`) != 2 {
		t.Errorf("two prompts: %s", stream)
	}
	_, _, got := post(t, url+"/v1/completions", `{"prompt": "a", "suffix": "c", "choice": ["fine"]}`)
	if at(got, "choices", 0, "text") != "fine" {
		t.Errorf("with a constraint: %v", got)
	}
	_, url = start(t, setup{reply: "fine"})
	for _, path := range []string{"/v1/completions", "/api/generate"} {
		status, _, got := post(t, url+path, `{`+generating[path]+`, "suffix": "y"}`)
		if status != 400 || !strings.Contains(fmt.Sprint(got["error"]), "suffix") {
			t.Errorf("%s, a model that can't: %d %v", path, status, got)
		}
		if status, _, got := post(t, url+path, `{`+generating[path]+`, "suffix": ""}`); status != 200 {
			t.Errorf("%s, an empty suffix: %d %v", path, status, got)
		}
	}
}

// TestOllamaContext continues a conversation by the context of its last answer: the prompt is what a conversation with
// both messages has.
func TestOllamaContext(t *testing.T) {
	v := familyVocab(t, "qwen3", "<|im_start|>", "<|im_end|>")
	_, url := start(t, setup{vocab: v, reply: "fine"})
	generate := func(prompt, more string) []int32 {
		t.Helper()
		status, _, got := post(t, url+"/api/generate", `{"model": "tiny", "stream": false, "think": false, "prompt": "`+prompt+`"`+more+`}`)
		list, _ := got["context"].([]any)
		if status != 200 || len(list) == 0 {
			t.Fatalf("%d %v", status, got)
		}
		var out []int32
		for _, one := range list {
			out = append(out, int32(one.(float64)))
		}
		return out
	}
	list := func(tokens []int32) string {
		return `, "context": ` + strings.Join(strings.Fields(fmt.Sprint(tokens)), ", ")
	}
	first := generate("one", `, "system": "be kind"`)
	second := generate("two", list(first))
	if !slices.Equal(second[:len(first)], first) {
		t.Errorf("%q does not begin with %q", spelt(v, second), spelt(v, first))
	}
	_, _, whole := post(t, url+"/apply-template", `{"messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "one"}, {"role": "assistant", "content": "fine"}, {"role": "user", "content": "two"}],
		"reasoning": false, "add_generation_prompt": true}`)
	if got, want := thoughtless(spelt(v, second)), thoughtless(whole["prompt"].(string)+"fine"); got != want {
		t.Errorf("the second prompt with its answer is\n%q, want\n%q", got, want)
	}

	// Streams have it in their last line; an empty one is none; raw prompts, which continue nothing, have none.
	_, _, stream := send(t, "POST", url+"/api/generate", `{"model": "tiny", "think": false, "prompt": "two"`+list(first)+`}`, "Content-Type", jsonBody)
	if !strings.Contains(stream, strings.Join(strings.Fields(fmt.Sprint(second)), ",")) {
		t.Errorf("%s lacks %v", stream, second)
	}
	if got := generate("one", `, "system": "be kind", "context": []`); !slices.Equal(got, first) {
		t.Errorf("%v, want %v", got, first)
	}
	if _, _, got := post(t, url+"/api/generate", `{"model": "tiny", "stream": false, "raw": true, "prompt": "x"}`); got["context"] != nil {
		t.Errorf("raw: %v", got)
	}
	for context, param := range map[string]string{`[1, 99999]`: "context", `["a"]`: "context", `[-1]`: "context", `[1], "raw": true`: "context", `[1], "suffix": "y"`: "context"} {
		if status, _, got := post(t, url+"/api/generate", `{"model": "tiny", "prompt": "x", "context": `+context+`}`); status != 400 || !strings.Contains(fmt.Sprint(got["error"]), param) {
			t.Errorf("%s: %d %v", context, status, got)
		}
	}
}

func spelt(v *vocab.Vocab, tokens []int32) string { return v.Detokenize(tokens, false, true) }

// thoughtless returns a prompt without the empty reasoning that Qwen's template writes before the last answer alone.
func thoughtless(prompt string) string {
	return strings.ReplaceAll(prompt, "<think>\n\n</think>\n\n", "")
}

// TestTokensOfUpstreams asks a model behind an upstream, which returns no tokens, for what needs them.
func TestTokensOfUpstreams(t *testing.T) {
	_, url := startUpstream(t, remote.Capabilities{}, Config{}, "fine")
	for _, c := range []struct{ path, body, param string }{
		{"/v1/completions", `{"prompt": "x", "min_tokens": 3}`, "min_tokens"},
		{"/v1/completions", `{"prompt": "x", "skip_special_tokens": false}`, "skip_special_tokens"},
		{"/v1/completions", `{"prompt": "x", "suffix": "y"}`, "suffix"},
		{"/api/generate", `{"model": "far", "prompt": "x", "suffix": "y"}`, "suffix"},
		{"/api/generate", `{"model": "far", "prompt": "x", "context": [1, 2]}`, "context"},
	} {
		if status, _, got := post(t, url+c.path, c.body); status != 400 || !strings.Contains(fmt.Sprint(got["error"]), c.param) {
			t.Errorf("%s %s: %d %v", c.path, c.body, status, got)
		}
	}
	_, _, got := post(t, url+"/api/generate", `{"model": "far", "prompt": "x", "stream": false}`)
	if got["response"] != "fine" || got["context"] != nil {
		t.Errorf("%v", got)
	}
	status, _, got := post(t, url+"/v1/responses", `{"input": "x", "context_management": [{"type": "compaction", "compact_threshold": 1}], "moderation": {"model": "m"}, "thinking": {"type": "disabled"}}`)
	if status != 200 || !strings.Contains(fmt.Sprint(got["warnings"]), "moderation") {
		t.Errorf("%d %v", status, got)
	}
}
