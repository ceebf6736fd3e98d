package server

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/server/ollama"
)

// TestPromptTooLong checks the words and numbers by which clients recognise that a conversation is too long.
func TestPromptTooLong(t *testing.T) {
	_, url := start(t, setup{opt: scripted.Options{ContextLength: 200}})
	long := strings.Repeat("word ", 300)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"messages": [{"role": "user", "content": "` + long + `"}]}`,
		"/v1/responses":        `{"input": "` + long + `"}`,
		"/v1/messages":         `{"model": "tiny", "max_tokens": 5, "messages": [{"role": "user", "content": "` + long + `"}]}`,
		"/generate":            `{"prompt": "` + long + `"}`,
	} {
		status, _, got := post(t, url+path, body)
		message, _ := at(got, "error", "message").(string)
		if status != 400 || !strings.HasPrefix(message, "prompt is too long: this model's maximum context length is 200 tokens") ||
			at(got, "error", "n_ctx") != 200.0 || at(got, "error", "n_prompt_tokens").(float64) <= 200 || at(got, "error", "code") != "context_length_exceeded" {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	if status, _, got := post(t, url+"/api/chat", `{"model": "tiny", "messages": [{"role": "user", "content": "`+long+`"}]}`); status != 400 || !strings.HasPrefix(got["error"].(string), "prompt is too long") {
		t.Errorf("%d %v", status, got)
	}
}

func TestNearestPath(t *testing.T) {
	_, url := start(t, setup{})
	for path, want := range map[string]string{
		"/v1/v1/chat/completions": "/v1/chat/completions",
		"/messages":               "/v1/messages",
		"/chat":                   "/api/chat",
		"/v1/chat/completion":     "/v1/chat/completions",
		"/nothing/like/that":      "",
	} {
		status, _, got := post(t, url+path, `{}`)
		message := fmt.Sprint(got["error"])
		if m, ok := at(got, "error", "message").(string); ok {
			message = m
		}
		if status != 404 || !strings.Contains(message, path) || want != "" && !strings.HasSuffix(message, "did you mean "+want+"?") || want == "" && strings.Contains(message, "did you mean") {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
}

func TestOllamaSaysSo(t *testing.T) {
	_, url := start(t, setup{reply: "fine", cfg: Config{StrictModels: true}})
	status, _, got := post(t, url+"/api/chat", `{"model": "tiny", "think": true, "messages": [{"role": "user", "content": "x"}]}`)
	if status != 400 || got["error"] != `"tiny" does not support thinking` {
		t.Errorf("%d %v", status, got)
	}
	for _, body := range []string{`"think": false`, `"options": {"tfs_z": 1.0, "mirostat": 0}`} {
		if status, _, got := post(t, url+"/api/chat", `{"model": "tiny", "stream": false, `+body+`, "messages": [{"role": "user", "content": "x"}]}`); status != 200 || at(got, "message", "content") != "fine" {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
	if status, _, got := post(t, url+"/api/chat", `{"model": "nope", "messages": []}`); status != 404 || !strings.Contains(got["error"].(string), `model "nope" not found`) {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/api/pull", `{"model": "tiny", "stream": false}`); status != 200 || got["status"] != "success" {
		t.Errorf("%d %v", status, got)
	}
	status, got = sendAs(t, "GET", url+"/api/version", "", "")
	if version, _ := got["version"].(string); status != 200 || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(version) {
		t.Errorf("%d %v", status, got)
	}
	module, err := os.ReadFile("../go.mod")
	if err != nil || !strings.Contains(string(module), "github.com/ollama/ollama v"+ollama.Version+"\n") {
		t.Errorf("the client that is tested is not of version %s: %v", ollama.Version, err)
	}
	resp, err := http.Get(url + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 || string(text) != "Ollama is running" {
		t.Errorf("%d %q %v", resp.StatusCode, text, err)
	}
}

// TestForeignConstraints checks that no dialect ignores what another enforces.
func TestForeignConstraints(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	bodies := map[string]string{
		"/v1/chat/completions": `"messages": [{"role": "user", "content": "x"}]`,
		"/v1/completions":      `"prompt": "x"`,
		"/v1/responses":        `"input": "x"`,
		"/v1/messages":         `"model": "tiny", "max_tokens": 60, "messages": [{"role": "user", "content": "x"}]`,
		"/api/chat":            `"model": "tiny", "stream": false, "messages": [{"role": "user", "content": "x"}]`,
		"/api/generate":        `"model": "tiny", "stream": false, "prompt": "x"`,
		"/generate":            `"prompt": "x"`,
	}
	fields := map[string]string{
		"format": personSchema, "text": `{"format": {"type": "json_schema", "name": "p", "schema": ` + personSchema + `}}`,
		"output_config": `{"format": {"type": "json_schema", "schema": ` + personSchema + `}}`, "output_format": `{"type": "json_schema", "schema": ` + personSchema + `}`,
		"response_format": `{"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`, "json_schema": personSchema, "guided_json": personSchema,
		"structured_outputs": `{"json": ` + personSchema + `}`, "schema": personSchema, "regex": `"[a-c]{3}"`, "ebnf": `"root ::= \"abc\""`,
		"sampling_params": `{"regex": "a"}`, "parameters": `{"grammar": {"type": "regex", "value": "a"}}`, "thinking": `{"type": "enabled", "budget_tokens": 5}`, "num_ctx": `100`, "enable_thinking": `true`,
	}
	for path, base := range bodies {
		for name, value := range fields {
			if path == "/generate" && name == "text" {
				continue // which makes it SGLang's, so the body mixes two dialects
			}
			status, _, got := post(t, url+path, `{`+base+`, "`+name+`": `+value+`}`)
			receipt := got["x_constraint"] != nil || got["constraint"] != nil
			refused := status == 400 && strings.Contains(fmt.Sprint(got["error"]), name)
			taken := receipt || name == "thinking" || name == "num_ctx" && strings.Contains(path, "completions") // as llama-server ignores it
			if !refused && !(status == 200 && taken) {
				t.Errorf("%s with %s: %d %v", path, name, status, got)
			}
		}
	}
}

// TestNothingAsked checks that values without effect are accepted in every field in which clients send them.
func TestNothingAsked(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	chat := func(more string) (int, map[string]any) {
		status, _, got := post(t, url+"/v1/chat/completions", chatBody(more))
		return status, got
	}
	for _, more := range []string{
		`"verbosity": "medium"`, `"verbosity": "high"`, `"best_of": 1`, `"mirostat": 0`, `"dry_multiplier": 0.0`, `"xtc_probability": 0`, `"functions": []`, `"function_call": "none"`,
		`"grammar": ""`, `"top_k": -1`, `"max_tokens": -1`, `"reasoning": {"enabled": false}`, `"reasoning": {"mode": "standard", "context": "auto"}`, `"reasoning_effort": "max"`,
		`"web_search_options": null`, `"skip_special_tokens": true`, `"min_tokens": 0`, `"format": ""`, `"think": false`, `"structured_outputs": {"regex": "fine"}, "guided_regex": "fine"`,
	} {
		body := more
		if strings.Contains(more, "max_tokens") {
			status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], `+more+`}`)
			if status != 200 {
				t.Errorf("%s: %d %v", more, status, got)
			}
			continue
		}
		if status, got := chat(body); status != 200 || at(got, "choices", 0, "message", "content") != "fine" {
			t.Errorf("%s: %d %v", more, status, got)
		}
	}
	if _, got := chat(`"verbosity": "high"`); !strings.Contains(fmt.Sprint(got["warnings"]), "verbosity") {
		t.Errorf("%v", got)
	}
	for _, more := range []string{`"best_of": 2`, `"mirostat": 3`, `"reasoning": {"mode": "pro"}`, `"temperature": 2.1`, `"structured_outputs": {"regex": "a"}, "guided_regex": "b"`} {
		if status, got := chat(more); status != 400 {
			t.Errorf("%s: %d %v", more, status, got)
		}
	}
	for _, more := range []string{`"text": {"verbosity": "low"}`, `"reasoning": {"context": "current_turn", "effort": "max"}`} {
		if status, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", `+more)); status != 200 {
			t.Errorf("%s: %d %v", more, status, got)
		}
	}
	if status, _, got := post(t, url+"/v1/messages", strings.Replace(claude(`{"role": "user", "content": "x"}`, ""), `"temperature": 0`, `"temperature": 1.5`, 1)); status != 400 || at(got, "error", "param") != "temperature" {
		t.Errorf("%d %v", status, got)
	}
}

// TestFunctions checks functions, the predecessor of tools.
func TestFunctions(t *testing.T) {
	_, url := start(t, setup{})
	body := `"functions": [{"name": "now", "parameters": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}}]`
	_, _, got := post(t, url+"/v1/chat/completions", chatBody(body+`, "function_call": {"name": "now"}`))
	call := at(got, "choices", 0, "message", "function_call")
	if at(call, "name") != "now" || at(call, "arguments") != `{"a": 1}` || at(got, "choices", 0, "finish_reason") != "function_call" || at(got, "choices", 0, "message", "tool_calls") != nil {
		t.Fatalf("%v", got)
	}
	name, arguments, finish := "", "", ""
	for _, c := range chatChunks(t, url, chatBody(body+`, "function_call": {"name": "now"}, "stream": true`)) {
		part, _ := at(c, "choices", 0, "delta", "function_call", "name").(string)
		name += part
		part, _ = at(c, "choices", 0, "delta", "function_call", "arguments").(string)
		arguments += part
		if reason, ok := at(c, "choices", 0, "finish_reason").(string); ok {
			finish = reason
		}
	}
	if name != "now" || arguments != `{"a": 1}` || finish != "function_call" {
		t.Errorf("%q %q %q", name, arguments, finish)
	}
	_, url = start(t, setup{reply: "fine"})
	past := strings.Replace(chatBody(body), `{"role": "user", "content": "x"}`, `{"role": "user", "content": "x"}, {"role": "assistant", "content": null, "function_call": {"name": "now", "arguments": "{}"}}, {"role": "function", "name": "now", "content": "noon"}`, 1)
	if status, _, got := post(t, url+"/v1/chat/completions", past); status != 200 || at(got, "choices", 0, "finish_reason") != "stop" {
		t.Errorf("%d %v", status, got)
	}
	for _, bad := range []string{`"function_call": {"name": "now"}`, body + `, "tools": [{"type": "function", "function": {"name": "f"}}]`, body + `, "function_call": {"name": "other"}`, body + `, "function_call": "required"`} {
		if status, _, got := post(t, url+"/v1/chat/completions", chatBody(bad)); status != 400 {
			t.Errorf("%s: %d %v", bad, status, got)
		}
	}
}

// TestTopLogprobsAreThere checks that top_logprobs is always a list, and that /v1/completions always includes the token
// itself.
func TestTopLogprobsAreThere(t *testing.T) {
	_, url := start(t, setup{})
	for _, more := range []string{`"top_logprobs": 2, `, ``} {
		_, _, got := post(t, url+"/v1/chat/completions", chatBody(more+`"logprobs": true, "schema": {"type": "object", "properties": {"k": {"const": "v"}}, "required": ["k"], "additionalProperties": false}`))
		tokens, _ := at(got, "choices", 0, "logprobs", "content").([]any)
		if len(tokens) == 0 {
			t.Fatalf("%v", got)
		}
		for _, one := range tokens {
			if _, ok := at(one, "top_logprobs").([]any); !ok {
				t.Errorf("%v", one)
			}
		}
	}
	_, _, got := post(t, url+"/v1/completions", `{"prompt": "x", "max_tokens": 20, "logprobs": 1, "temperature": 2, "seed": 3}`)
	tokens := at(got, "choices", 0, "logprobs", "tokens").([]any)
	for i, token := range tokens {
		if top := at(got, "choices", 0, "logprobs", "top_logprobs", i).(map[string]any); top[token.(string)] == nil {
			t.Errorf("%q is not among %v", token, top)
		}
	}
}

func TestCachePrompt(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	cached := func(more string) any {
		_, _, got := post(t, url+"/v1/chat/completions", chatBody(more))
		return at(got, "usage", "prompt_tokens_details", "cached_tokens")
	}
	cached("")
	if n := cached(`"cache_prompt": false`); n != 0.0 {
		t.Errorf("%v tokens were taken from the cache", n)
	}
	if n := cached(`"cache_prompt": true`); n == 0.0 {
		t.Error("nothing was taken from the cache")
	}
}

func TestRate(t *testing.T) {
	_, url := start(t, setup{})
	for _, n := range []int{1, 5} {
		_, _, got := post(t, url+"/generate", fmt.Sprintf(`{"prompt": "x", "max_tokens": %d, %s}`, n, endless(t)))
		if rate, there := got["timings"].(map[string]any)["tokens_per_second"]; there != (n > 1) {
			t.Errorf("%d tokens: %v", n, rate)
		}
	}
}

func TestAnthropicHeaders(t *testing.T) {
	_, url := start(t, setup{reply: "fine"})
	_, header, _ := post(t, url+"/v1/messages", claude(`{"role": "user", "content": "x"}`, ""))
	if header.Get("Request-Id") == "" || header.Get("Request-Id") != header.Get("X-Request-Id") {
		t.Errorf("%v", header)
	}
	// The path determines the dialect, not a header that gateways add.
	for path, want := range map[string]bool{"/v1/chat/completions": false, "/v1/messages": true, "/v1/models/none": true} {
		method := "POST"
		if strings.HasPrefix(path, "/v1/models") {
			method = "GET"
		}
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Anthropic-Version", "2023-06-01")
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := decoded(t, resp); (got["type"] == "error") != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestTriggeredTags checks that vLLM's current form of structural tags works like the older one.
func TestTriggeredTags(t *testing.T) {
	v := loadVocab(t)
	_, url := start(t, setup{vocab: v, next: scripted.SayText(v, `I say <p>{"a":1}</p>`)})
	const content = `{"type": "json_schema", "json_schema": {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false}}`
	form := `{"type": "structural_tag", "format": {"type": "triggered_tags", "triggers": ["<p>"], "tags": [{"type": "tag", "begin": "<p>", "content": ` + content + `, "end": "</p>"}], "at_least_one": false, "stop_after_first": false}}`
	for _, field := range []string{`"response_format": ` + form, `"structured_outputs": {"structural_tag": ` + form + `}`} {
		status, _, got := post(t, url+"/v1/chat/completions", chatBody(`"temperature": 0, `+field))
		if status != 200 || at(got, "choices", 0, "message", "content") != `I say <p>{"a":1}</p>` || at(got, "x_constraint", "type") != "structural_tag" {
			t.Errorf("%s: %d %v", field, status, got)
		}
	}
	for bad, param := range map[string]string{
		strings.Replace(form, "triggered_tags", "sequence", 1):                               "response_format.format.type",
		strings.Replace(form, `"at_least_one": false`, `"at_least_one": true`, 1):            "response_format.format.at_least_one",
		strings.Replace(form, `{"type": "json_schema", "json`, `{"type": "regex", "json`, 1): "response_format.format.tags[0].content.type",
		strings.Replace(form, `"begin": "<p>"`, `"begin": "<q>"`, 1):                         "response_format.format.tags[0].begin",
	} {
		if status, _, got := post(t, url+"/v1/chat/completions", chatBody(`"response_format": `+bad)); status != 400 || at(got, "error", "param") != param {
			t.Errorf("%s: %d %v", bad, status, got)
		}
	}
}

func TestTextFormatAnswered(t *testing.T) {
	_, url := start(t, setup{})
	_, _, got := post(t, url+"/v1/responses", responsesBody(`"input": "x", "response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": `+personSchema+`}}`))
	if at(got, "text", "format", "type") != "json_schema" || at(got, "text", "format", "name") != "p" || at(got, "text", "format", "schema", "type") != "object" {
		t.Errorf("%v", got["text"])
	}
	if _, there := at(got, "usage", "input_tokens_details").(map[string]any)["cache_write_tokens"]; !there {
		t.Errorf("%v", got["usage"])
	}
	_, models := sendAs(t, "GET", url+"/v1/models", "", "")
	if at(models, "data", 0, "lifecycle") != "active" {
		t.Errorf("%v", models)
	}
}

// TestBiasIsNamed checks that the error blames logit_bias if it bans all that a schema allows.
func TestBiasIsNamed(t *testing.T) {
	_, url := start(t, setup{})
	var bans []string
	for id := range loadVocab(t).Len() {
		bans = append(bans, fmt.Sprintf(`"%d": -100`, id))
	}
	status, _, got := post(t, url+"/v1/chat/completions", chatBody(`"schema": {"type": "integer"}, "logit_bias": {`+strings.Join(bans, ", ")+`}`))
	if status != 422 || at(got, "error", "param") != "logit_bias" {
		t.Errorf("%d %v", status, got)
	}
}

// TestErrorsNameValues checks that errors name the value, and report all that is wrong at once.
func TestErrorsNameValues(t *testing.T) {
	_, url := start(t, setup{})
	for _, c := range []struct{ schema, code, message, values string }{
		{`{"type": "strng"}`, "invalid_schema", `type "strng": must be one of`, `["strng"]`},
		{`{"$ref": "#/$defs/missing"}`, "invalid_schema", `$ref "#/$defs/missing": nothing is there`, `["#/$defs/missing"]`},
		{`{"properties": {"a": {"type": "strng"}, "c": {"$ref": "https://example.com/s"}}}`, "invalid_schema", `"https://example.com/s"`, `["strng" "https://example.com/s"]`},
		{`{"type": "object", "required": ["a", "c"], "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 3}, "c": {"$ref": "https://example.com/s"}}}`, "unsupported_schema_keyword", "contradicts", `["https://example.com/s" "integer" 5 3]`},
		{`{"type": "integer", "minimum": 5, "maximum": 3}`, "unsatisfiable_schema", "minimum 5: contradicts the others listed", `["integer" 5 3]`},
	} {
		status, _, got := post(t, url+"/generate", `{"prompt": "x", "schema": `+c.schema+`}`)
		message, _ := at(got, "error", "message").(string)
		var values []string
		list, _ := at(got, "error", "details").([]any)
		for _, d := range list {
			if at(d, "pointer") == "" || at(d, "keyword") == nil || at(d, "reason") == nil {
				t.Errorf("%v", d)
			}
			values = append(values, fmt.Sprint(at(d, "value")))
		}
		if status != 400 || at(got, "error", "code") != c.code || !strings.Contains(message, c.message) || fmt.Sprint(values) != c.values {
			t.Errorf("%s: %d %v %v", c.schema, status, values, got)
		}
		_, _, checked := post(t, url+"/schema/check", `{"schema": `+c.schema+`}`)
		if errors, _ := checked["errors"].([]any); len(errors) != len(values) || at(checked, "ok") != false {
			t.Errorf("%s: %v", c.schema, checked)
		}
	}
}

// TestHarmlessForms checks what clients send, or ask for, in a form that says nothing else: a byte order mark before the body, what a
// tool says twice, a path that ends with a slash, and an id with every text.
func TestHarmlessForms(t *testing.T) {
	_, url := start(t, setup{reply: "yes"})
	ask := `{"max_tokens": 5, "temperature": 0, "messages": [{"role": "user", "content": "x"}]`
	for path, body := range map[string]string{"/v1/chat/completions": ask + `}`, "/tokenize": `{"content": "x"}`, "/v1/completions": `{"prompt": "x", "max_tokens": 2}`, "/schema/check": `{"schema": {}}`} {
		if status, _, got := post(t, url+path, "\uFEFF"+body); status != 200 {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	if status, _, got := post(t, url+"/v1/chat/completions", "\uFEFF\uFEFF"+ask+"}"); status != 400 {
		t.Error(status, got)
	}
	tool := `"function": {"name": "exec", "description": "Run", "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}`
	for outer, want := range map[string]int{
		`"name": "exec", `: 200, `"name": "exec", "description": "Run", `: 200, `"parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}, `: 200,
		`"name": "other", `: 400, `"strict": true, `: 400, `"title": "exec", `: 400,
	} {
		status, _, got := post(t, url+"/v1/chat/completions", ask+`, "tools": [{`+outer+`"type": "function", `+tool+`}]}`)
		warned := strings.Contains(fmt.Sprint(got["warnings"]), "repeats tools[0].function.")
		if status != want || warned != (want == 200) {
			t.Errorf("%s: %d %v", outer, status, got)
		}
	}
	_, _, list := send(t, "GET", url+"/v1/models", "")
	if status, _, got := send(t, "GET", url+"/v1/models/", ""); status != 200 || got != list {
		t.Errorf("/v1/models/: %d %s, not %s", status, got, list)
	}
	for path, body := range map[string]string{"/completions": `{"prompt": "x", "n_predict": 2}`, "/completion": `{"prompt": "x", "n_predict": 2}`, "/v1/completions": `{"prompt": "x", "max_tokens": 2}`} {
		_, _, got := post(t, url+path, body)
		if id, _ := got["id"].(string); !strings.HasPrefix(id, "cmpl-") {
			t.Errorf("%s: %v", path, got)
		}
	}
}
