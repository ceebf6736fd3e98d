package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// chatBody returns a chat request with further fields.
func chatBody(more string) string {
	if more != "" {
		more = ", " + more
	}
	return `{"model": "tiny", "messages": [{"role": "user", "content": "x"}], "max_tokens": 60` + more + `}`
}

const weatherTools = `"tools": [
	{"type": "function", "function": {"name": "weather", "description": "of a city", "parameters": {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1, "maximum": 7}, "unit": {"$ref": "#/$defs/unit"}}, "required": ["days", "unit"], "additionalProperties": false, "$defs": {"unit": {"enum": ["C", "F"]}}}}},
	{"type": "function", "function": {"name": "now"}}]`

func TestChat(t *testing.T) {
	_, url := start(t, setup{reply: "hello there, wörld"})
	status, _, got := post(t, url+"/v1/chat/completions", chatBody(`"temperature": 0, "logprobs": true, "top_logprobs": 2`))
	if status != 200 || at(got, "choices", 0, "message", "content") != "hello there, wörld" || at(got, "choices", 0, "finish_reason") != "stop" || got["object"] != "chat.completion" {
		t.Fatalf("%d %v", status, got)
	}
	message := at(got, "choices", 0, "message").(map[string]any)
	if refusal, there := message["refusal"]; !there || refusal != nil || message["role"] != "assistant" {
		t.Errorf("message %v", message)
	}
	tokens := at(got, "choices", 0, "logprobs", "content").([]any)
	if len(tokens) == 0 || len(at(tokens, 0, "top_logprobs").([]any)) != 2 || len(tokens) > int(at(got, "usage", "completion_tokens").(float64)) {
		t.Errorf("logprobs %v, usage %v", tokens, got["usage"])
	}
}

// TestConstraintSpellings checks that a schema is enforced in every form in which
// clients send it.
func TestConstraintSpellings(t *testing.T) {
	_, url := start(t, setup{})
	quoted, _ := json.Marshal(personSchema)
	for _, body := range []string{
		`"response_format": {"type": "json_schema", "json_schema": {"name": "p", "strict": true, "schema": ` + personSchema + `}}`,
		`"response_format": {"type": "json_schema", "json_schema": {"name": "p", "schema": ` + personSchema + `}}`,
		`"response_format": {"type": "json_schema", "schema": ` + personSchema + `}`,
		`"response_format": {"type": "json_object", "schema": ` + personSchema + `}`,
		`"response_format": {"type": "json", "value": ` + personSchema + `}`,
		`"response_format": {"type": "json_schema", "value": ` + personSchema + `}`,
		`"json_schema": ` + personSchema,
		`"schema": ` + personSchema,
		`"json_mode": {"schema": ` + personSchema + `}`,
		`"structured_outputs": {"json": ` + personSchema + `}`,
		`"guided_json": ` + personSchema,
		`"guided_json": ` + string(quoted),
	} {
		status, _, got := post(t, url+"/v1/chat/completions", chatBody(body))
		content, _ := at(got, "choices", 0, "message", "content").(string)
		var person struct {
			Name *string
			Age  *int
		}
		if err := json.Unmarshal([]byte(content), &person); status != 200 || err != nil || person.Name == nil || person.Age == nil {
			t.Errorf("%s: %d %v", body, status, got)
		}
		if at(got, "x_constraint", "validated") != true || at(got, "x_constraint", "type") != "schema" {
			t.Errorf("%s: receipt %v", body, got["x_constraint"])
		}
	}
	for _, body := range []string{`"response_format": {"type": "json_object"}`, `"structured_outputs": {"json_object": true}`} {
		status, _, got := post(t, url+"/v1/chat/completions", chatBody(body))
		content, _ := at(got, "choices", 0, "message", "content").(string)
		if !strings.HasPrefix(strings.TrimSpace(content), "{") || !json.Valid([]byte(content)) || status != 200 || at(got, "x_constraint", "type") != "json" {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
}

// checkWeather reports whether a call of one of weatherTools fits its schema.
func checkWeather(name, arguments string) bool {
	var fields map[string]any
	if json.Unmarshal([]byte(arguments), &fields) != nil {
		return false
	}
	if name == "now" {
		return true
	}
	days, ok := fields["days"].(float64)
	return name == "weather" && ok && days >= 1 && days <= 7 && (fields["unit"] == "C" || fields["unit"] == "F") && len(fields) == 2
}

func TestToolChoice(t *testing.T) {
	_, url := start(t, setup{})
	seen := map[string]int{}
	for _, test := range []struct{ choice, name string }{
		{`"required"`, ""},
		{`"required", "parallel_tool_calls": false`, ""},
		{`{"type": "function", "function": {"name": "weather"}}`, "weather"},
		{`{"type": "function", "name": "now"}`, "now"},
		{`{"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [{"type": "function", "function": {"name": "weather"}}]}}`, "weather"},
	} {
		for seed := range 10 {
			body := chatBody(fmt.Sprintf(`%s, "tool_choice": %s, "seed": %d`, weatherTools, test.choice, seed))
			status, _, got := post(t, url+"/v1/chat/completions", body)
			calls, _ := at(got, "choices", 0, "message", "tool_calls").([]any)
			if status != 200 || len(calls) == 0 || at(got, "choices", 0, "finish_reason") != "tool_calls" || at(got, "choices", 0, "message", "content") != nil {
				t.Fatalf("%s: %d %v", test.choice, status, got)
			}
			if test.choice != `"required"` && len(calls) != 1 && test.name != "weather" {
				t.Errorf("%s: %d calls", test.choice, len(calls))
			}
			for _, c := range calls {
				name := at(c, "function", "name").(string)
				seen[name]++
				if test.name != "" && name != test.name || !checkWeather(name, at(c, "function", "arguments").(string)) || !strings.HasPrefix(at(c, "id").(string), "call_") || at(c, "type") != "function" {
					t.Errorf("%s: call %v", test.choice, c)
				}
			}
			if at(got, "x_constraint", "type") != "tools" || at(got, "x_constraint", "validated") != true {
				t.Errorf("receipt %v", got["x_constraint"])
			}
			streamed := readCalls(t, url, body)
			if fmt.Sprint(streamed) != fmt.Sprint(callsOf(calls)) {
				t.Errorf("%s: stream %v, whole %v", test.choice, streamed, callsOf(calls))
			}
		}
	}
	if seen["now"] == 0 || seen["weather"] == 0 {
		t.Errorf("calls of %v", seen)
	}
}

// callsOf returns name and arguments of each call.
func callsOf(calls []any) (out [][2]string) {
	for _, c := range calls {
		out = append(out, [2]string{at(c, "function", "name").(string), at(c, "function", "arguments").(string)})
	}
	return out
}

// readCalls streams a request and assembles its calls from their deltas.
func readCalls(t *testing.T, url, body string) (out [][2]string) {
	t.Helper()
	chunks := chatChunks(t, url, body[:len(body)-1]+`, "stream": true, "stream_options": {"include_usage": true}}`)
	for _, c := range chunks {
		if c["id"] != chunks[0]["id"] || c["object"] != "chat.completion.chunk" || c["created"] != chunks[0]["created"] {
			t.Errorf("chunk %v after %v", c, chunks[0])
		}
		deltas, _ := at(c, "choices", 0, "delta", "tool_calls").([]any)
		for _, d := range deltas {
			name, _ := at(d, "function", "name").(string)
			arguments, there := at(d, "function", "arguments").(string)
			if name != "" {
				out = append(out, [2]string{name, ""})
				if at(d, "id") == nil {
					t.Errorf("delta %v", d)
				}
			}
			if !there || at(d, "index") != float64(len(out)-1) {
				t.Errorf("delta %v of call %d", d, len(out)-1)
				continue
			}
			out[len(out)-1][1] += arguments
		}
	}
	last := chunks[len(chunks)-1]
	if len(last["choices"].([]any)) != 0 || at(last, "usage", "completion_tokens") == nil {
		t.Errorf("no usage at the end: %v", last)
	}
	if at(chunks[len(chunks)-2], "choices", 0, "finish_reason") != "tool_calls" || at(chunks[len(chunks)-2], "x_constraint", "validated") != true {
		t.Errorf("last choice chunk %v", chunks[len(chunks)-2])
	}
	return out
}

// chatChunks streams a request and returns its chunks.
func chatChunks(t *testing.T, url, body string) (out []map[string]any) {
	t.Helper()
	return chunksOf(t, url+"/v1/chat/completions", body)
}

// chunksOf returns the events of a stream that ends with [DONE].
func chunksOf(t *testing.T, url, body string) (out []map[string]any) {
	t.Helper()
	lines := postLines(t, url, body)
	if lines[len(lines)-1] != "data: [DONE]" {
		t.Fatalf("the stream ends with %q", lines[len(lines)-1])
	}
	for _, line := range lines[:len(lines)-1] {
		var chunk map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(line, "data: ")), &chunk); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, chunk)
	}
	return out
}

func TestChatStream(t *testing.T) {
	_, url := start(t, setup{})
	for _, format := range []string{`"seed": 3`, `"seed": 4, "logprobs": true`, `"seed": 3, "response_format": {"type": "json_schema", "json_schema": {"name": "p", "strict": true, "schema": ` + personSchema + `}}`} {
		_, _, whole := post(t, url+"/v1/chat/completions", chatBody(format))
		chunks := chatChunks(t, url, chatBody(format+`, "stream": true`))
		text, reason, logprobs := "", any(nil), 0
		for i, c := range chunks {
			content, _ := at(c, "choices", 0, "delta", "content").(string)
			text += content
			tokens, _ := at(c, "choices", 0, "logprobs", "content").([]any)
			logprobs += len(tokens)
			if role := at(c, "choices", 0, "delta", "role"); (role == "assistant") != (i == 0) {
				t.Errorf("role %v in chunk %d", role, i)
			}
			if reason = at(c, "choices", 0, "finish_reason"); (reason != nil) != (i == len(chunks)-1) {
				t.Errorf("finish_reason %v in chunk %d of %d", reason, i, len(chunks))
			}
			if c["usage"] != nil {
				t.Error("usage that nobody asked for")
			}
		}
		if text != at(whole, "choices", 0, "message", "content") || reason != at(whole, "choices", 0, "finish_reason") {
			t.Errorf("%s: stream %q %v, whole %v", format, text, reason, whole)
		}
		if tokens, _ := at(whole, "choices", 0, "logprobs", "content").([]any); logprobs != len(tokens) {
			t.Errorf("%d logprobs in the stream, %d at once", logprobs, len(tokens))
		}
	}
}

// TestBegunAnswers checks that an assistant prefill is continued, in the dialects
// that support it.
func TestBegunAnswers(t *testing.T) {
	v := familyVocab(t, "qwen3")
	url := serve(t, v, scripted.SayText(v, "The answer is (B), so."))
	for _, test := range []struct{ path, body string }{
		{"/v1/messages", `{"model": "tiny", "max_tokens": 60, "temperature": 0, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "The answer is ("}]}`},
		{"/v1/messages", `{"model": "tiny", "max_tokens": 60, "temperature": 0, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "text", "text": "The answer is ("}]}]}`},
		{"/v1/chat/completions", `{"max_tokens": 60, "temperature": 0, "continue_final_message": true, "add_generation_prompt": false, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "The answer is ("}]}`},
	} {
		status, _, got := post(t, url+test.path, test.body)
		if status != 200 || at(got, "content", 0, "text") != "B), so." && at(got, "choices", 0, "message", "content") != "B), so." {
			t.Errorf("%s: %d %v", test.body, status, got)
		}
		status, _, got = post(t, url+test.path, test.body[:len(test.body)-1]+`, "prompt_schema": "never", "stop_sequences": ["so"], "stop": ["so"]}`)
		if status == 200 && at(got, "content", 0, "text") != "B), " && at(got, "choices", 0, "message", "content") != "B), " {
			t.Errorf("%s with a stop: %v", test.body, got)
		}
	}
	for _, more := range []string{`"thinking": {"type": "enabled", "budget_tokens": 10}`, `"output_config": {"format": {"type": "json_schema", "schema": {}}}`} {
		status, _, got := post(t, url+"/v1/messages", `{"model": "tiny", "max_tokens": 60, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}], `+more+`}`)
		if status != 400 {
			t.Errorf("%s: %d %v", more, status, got)
		}
	}
	harmony := familyVocab(t, "gptoss", harmonyTokens...)
	url = serve(t, harmony, sayAnyhow(harmony, "<|channel|>final<|message|>The answer is (B).", 1))
	_, _, got := post(t, url+"/v1/messages", `{"model": "tiny", "max_tokens": 60, "temperature": 0, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "The answer is ("}]}`)
	if at(got, "content", 0, "text") != "B)." {
		t.Errorf("%v", got)
	}
}

// TestSeveralPrompts checks that a request may have several prompts, which a
// stream answers one after another, and that the texts may include them.
func TestSeveralPrompts(t *testing.T) {
	v := loadVocab(t)
	_, url := start(t, setup{next: scripted.SayText(v, "one two three")})
	for _, n := range []int{1, 2} {
		for _, echo := range []bool{false, true} {
			body := fmt.Sprintf(`{"prompt": ["one", "so one two"], "temperature": 0, "max_tokens": 30, "n": %d, "echo": %t`, n, echo)
			_, _, got := post(t, url+"/v1/completions", body+`}`)
			var whole []string
			choices, _ := got["choices"].([]any)
			for _, c := range choices {
				whole = append(whole, at(c, "text").(string))
			}
			streamed := make([]string, 2*n)
			ends, usages := 0, []any{}
			for _, c := range chunksOf(t, url+"/v1/completions", body+`, "stream": true, "stream_options": {"include_usage": true}}`) {
				if u := c["usage"]; u != nil {
					usages = append(usages, at(u, "total_tokens"))
				}
				if at(c, "choices", 0) == nil {
					continue
				}
				text, _ := at(c, "choices", 0, "text").(string)
				streamed[int(at(c, "choices", 0, "index").(float64))] += text
				if at(c, "choices", 0, "finish_reason") == "stop" {
					ends++
				}
			}
			want := []string{" two three", " three"}
			if echo {
				want = []string{"one two three", "so one two three"}
			}
			var all []string
			for _, w := range want {
				all = append(all, slices.Repeat([]string{w}, n)...)
			}
			if !slices.Equal(whole, all) || !slices.Equal(streamed, all) || ends != 2*n || len(usages) != 1 || usages[0] != at(got, "usage", "total_tokens") {
				t.Errorf("n %d, echo %t: %q, stream %q with %d ends and usage %v, %v", n, echo, whole, streamed, ends, usages, got["usage"])
			}
		}
	}
}
