package server

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// TestPrompts checks the text that the model reads, for every way to give a
// prompt.
func TestPrompts(t *testing.T) {
	v := loadVocab(t)
	var mu sync.Mutex
	var read string
	_, url := start(t, setup{next: func(history []int32, logits []float32) {
		var b strings.Builder
		for _, id := range history {
			b.WriteString(v.Piece(id))
		}
		mu.Lock()
		read = b.String()
		mu.Unlock()
		logits[v.EOG()[0]] = 50
	}})
	const (
		schema      = `"schema": {"const": [1, 2]}, "whitespace": "compact", "forced": false, "temperature": 0`
		instruction = "Answer with JSON that fits this JSON Schema, and nothing else:\n{\"const\":[1,2]}"
	)
	for _, test := range []struct{ body, want string }{
		{`"prompt": "The end"`, "The end"},
		{`"prompt": "Hi", "system": "Be brief."`, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes?"}, {"role": "user", "content": "Well"}]`,
			"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nYes?<|im_end|>\n<|im_start|>user\nWell<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "system", "content": "B"}, {"role": "user", "content": "Hi"}], "system": "A"`,
			"<|im_start|>system\nA\n\nB<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},

		{`"prompt": "The end", ` + schema, "The end"},
		{`"prompt": "The end", "prompt_schema": "always", ` + schema, instruction + "\n\nThe end"},
		{`"messages": [{"role": "user", "content": "Hi"}], ` + schema,
			"<|im_start|>system\n" + instruction + "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}], "system": "A", ` + schema,
			"<|im_start|>system\nA\n\n" + instruction + "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
		{`"messages": [{"role": "user", "content": "Hi"}], "prompt_schema": "never", ` + schema,
			"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"},
	} {
		status, _, got := post(t, url+"/generate", `{"max_tokens": 20, `+test.body+`}`)
		mu.Lock()
		prompt, found := strings.CutPrefix(read, test.want)
		mu.Unlock()
		// The generated tokens follow.
		if status != 200 || !found || !strings.HasPrefix("[1,2]", prompt) || got["warnings"] != nil {
			t.Errorf("%s: the model read %q, want %q; %v", test.body, read, test.want, got)
		}
	}
}

// TestThoughtsHaveNoPlace checks that reasoning is turned off if the answer is
// constrained from its start, and only then.
func TestThoughtsHaveNoPlace(t *testing.T) {
	v := familyVocab(t, "qwen3")
	var mu sync.Mutex
	var prompt string
	url := serve(t, v, func(history []int32, logits []float32) {
		mu.Lock()
		if prompt == "" {
			prompt = string(v.Decode(history))
		}
		mu.Unlock()
		scripted.Random(1)(history, logits)
	})
	for more, want := range map[string]bool{
		``: false, `, ` + weatherTools: false, `, "tool_choice": "required", ` + weatherTools: true, `, "response_format": {"type": "json_object"}`: true,
		`, "reasoning": true, "response_format": {"type": "json_object"}`: false, `, "reasoning": false`: true,
	} {
		mu.Lock()
		prompt = ""
		mu.Unlock()
		status, _, got := post(t, url+"/v1/chat/completions", `{"messages": [{"role": "user", "content": "x"}], "max_tokens": 60`+more+`}`)
		mu.Lock()
		if found := strings.Contains(prompt, "<think>\n\n</think>"); status != 200 || found != want {
			t.Errorf("%s: %d, no thoughts %t, want %t: %v", more, status, found, want, got["error"])
		}
		mu.Unlock()
	}
}

// TestJSONModeLeavesTheModelAlone checks that JSON mode without a schema adds
// nothing to the prompt and keeps the model's whitespace.
func TestJSONModeLeavesTheModelAlone(t *testing.T) {
	v := loadVocab(t)
	var mu sync.Mutex
	var read string
	const answer = "{\n  \"a\": [1, 2]\n}"
	spelt := v.Encode(answer)
	_, url := start(t, setup{next: func(history []int32, logits []float32) {
		var b strings.Builder
		for _, id := range history {
			b.WriteString(v.Piece(id))
		}
		prompt, written, _ := strings.Cut(b.String(), "assistant\n")
		mu.Lock()
		read = prompt + "assistant\n"
		mu.Unlock()
		if n := len(v.Encode(written)); n < len(spelt) && strings.HasPrefix(answer, written) {
			logits[spelt[n]] = 50
		} else {
			logits[v.EOG()[0]] = 50
		}
	}})
	const free = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
	const always = "<|im_start|>system\nAnswer with JSON"
	for _, test := range []struct{ path, body, prompt, text string }{
		{"/v1/chat/completions", `"response_format": {"type": "json_object"}`, free, answer},
		{"/v1/chat/completions", `"structured_outputs": {"json_object": true}`, free, answer},
		{"/v1/chat/completions", `"response_format": {"type": "json_object"}, "prompt_schema": "always"`, always, answer},
		{"/api/chat", `"stream": false, "format": "json"`, free, answer},
		{"/generate_json", `"stream": false`, free, answer},
		{"/generate_json", `"constrained_decoding": false`, always, answer},
	} {
		limits := `"temperature": 0, "max_tokens": 40`
		if test.path == "/api/chat" {
			limits = `"model": "tiny", "options": {"temperature": 0}`
		}
		status, _, got := post(t, url+test.path, `{`+limits+`, "messages": [{"role": "user", "content": "Hi"}], `+test.body+`}`)
		text, _ := cmp.Or(got["text"], at(got, "message", "content"), at(got, "choices", 0, "message", "content")).(string)
		mu.Lock()
		if status != 200 || !strings.HasPrefix(read, test.prompt) || text != test.text {
			t.Errorf("%s %s: %d, the model read %q and wrote %q: %v", test.path, test.body, status, read, text, got["error"])
		}
		mu.Unlock()
	}
}

// TestPromptSchemaAuto checks that the schema is in the prompt only if the
// messages don't name its properties.
func TestPromptSchemaAuto(t *testing.T) {
	_, url := start(t, setup{})
	const schema = `"schema": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 3, "description": "where it is"}}, "required": ["city"]}, "max_tokens": 30`
	tokens := func(body string) float64 {
		status, _, got := post(t, url+"/generate", body)
		if status != 200 {
			t.Fatal(status, got)
		}
		return at(got, "usage", "prompt_tokens").(float64)
	}
	message := func(text string) string {
		return `{"messages": [{"role": "system", "content": "` + text + `"}, {"role": "user", "content": "Bern, at six"}], `
	}
	for _, c := range []struct {
		body, same string
		more       bool
	}{
		{message("Which City?") + schema + `}`, message("Which City?") + `"max_tokens": 5}`, false},
		{message("Which town?") + schema + `}`, message("Which town?") + `"max_tokens": 5}`, true},
		{message("Which town?") + schema + `, "prompt_schema": "never"}`, message("Which town?") + `"max_tokens": 5}`, false},
		{message("Which City?") + schema + `, "prompt_schema": "always"}`, message("Which City?") + `"max_tokens": 5}`, true},
		{message("Which City?") + schema + `, "constrained_decoding": false, "strict": false}`, message("Which City?") + `"max_tokens": 5}`, true},
		{message("red or blue?") + `"choice": ["red", "blue"]}`, message("red or blue?") + `"max_tokens": 5}`, false},
		{message("red or not?") + `"choice": ["red", "blue"]}`, message("red or not?") + `"max_tokens": 5}`, true},
		{message("when?") + `"regex": "[0-9]{4}"}`, message("when?") + `"max_tokens": 5}`, false},
	} {
		if with, without := tokens(c.body), tokens(c.same); with > without != c.more {
			t.Errorf("%s: %v tokens, %v without a constraint", c.body, with, without)
		}
	}
}

// TestPromptSchemaShapes checks for each way in which people put a task, in each dialect, that the schema is shown if and only if no
// message names its properties and it describes something: what bench/RESULTS.md measures.
func TestPromptSchemaShapes(t *testing.T) {
	_, url := start(t, setup{})
	const (
		plain = `{"type": "object", "properties": {"sold_by": {"type": "string", "maxLength": 3}, "total": {"type": "integer"}}, "required": ["sold_by", "total"], "additionalProperties": false}`
		data  = "ACME 9 EUR"
	)
	described := strings.Replace(plain, `"maxLength": 3`, `"maxLength": 3, "description": "who sold it"`, 1)
	type turn struct{ role, text string }
	example := []turn{{"user", "BETA 5 EUR"}, {"assistant", `{\"sold_by\": \"BETA\", \"total\": 5}`}}
	for shape, c := range map[string]struct {
		system string
		turns  []turn
		shown  bool
	}{
		"system":                {"Give sold_by and total.", []turn{{"user", data}}, false},
		"system, other letters": {"Give Sold by and TOTAL.", []turn{{"user", data}}, false},
		"user":                  {"", []turn{{"user", "Answer with one JSON object with the keys sold_by and total. " + data}}, false},
		"both":                  {"Give sold_by and total.", []turn{{"user", "Give sold_by and total of " + data}}, false},
		"divided":               {"Give sold_by.", []turn{{"user", "And the total. " + data}}, false},
		"neither":               {"Extract the data.", []turn{{"user", data}}, true},
		"one of two":            {"Give the total.", []turn{{"user", data}}, true},
		"paraphrased":           {"Who sold it, and for how much?", []turn{{"user", data}}, true},
		"examples":              {"You read receipts.", append(example[:2:2], turn{"user", data}), false},
		"German":                {"Give Firma and Gesamtbetrag.", []turn{{"user", data}}, true},
		"turns":                 {"", []turn{{"user", "Give sold_by and total of what I send."}, {"assistant", "All right."}, {"user", data}}, false},
		"turns, unnamed":        {"", []turn{{"user", "I send you a receipt."}, {"assistant", "All right."}, {"user", data}}, true},
	} {
		var list []string
		for _, m := range c.turns {
			list = append(list, fmt.Sprintf(`{"role": %q, "content": "%s"}`, m.role, m.text))
		}
		turns, all := "["+strings.Join(list, ", ")+"]", "["+strings.Join(list, ", ")+"]"
		if c.system != "" {
			all = fmt.Sprintf(`[{"role": "system", "content": %q}, %s`, c.system, turns[1:])
		}
		for _, schema := range []string{plain, described} {
			for path, x := range map[string]struct {
				body  string
				usage []any
			}{
				"/generate_json":       {`"max_tokens": 60, "messages": ` + all + `, "schema": ` + schema, []any{"usage", "prompt_tokens"}},
				"/v1/chat/completions": {`"max_tokens": 60, "messages": ` + all + `, "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": ` + schema + `}}`, []any{"usage", "prompt_tokens"}},
				"/v1/responses":        {`"max_output_tokens": 60, "input": ` + all + `, "text": {"format": {"type": "json_schema", "name": "a", "schema": ` + schema + `}}`, []any{"usage", "input_tokens"}},
				"/v1/messages":         {fmt.Sprintf(`"model": "m", "max_tokens": 60, "system": %q, "messages": %s, "output_config": {"format": {"type": "json_schema", "schema": %s}}`, c.system, turns, schema), []any{"usage", "input_tokens"}},
				"/api/chat":            {`"model": "m", "stream": false, "messages": ` + all + `, "format": ` + schema, []any{"prompt_eval_count"}},
			} {
				read := func(show string) any {
					status, _, got := post(t, url+path, `{`+x.body+`, "temperature": 0, "cache_prompt": false, "prompt_schema": "`+show+`"}`)
					if status != 200 {
						t.Fatalf("%s, %s: %d %v", shape, path, status, got)
					}
					return at(got, x.usage...)
				}
				auto, always, never := read("auto"), read("always"), read("never")
				if want := map[bool]any{true: always, false: never}[c.shown && schema == described]; auto != want || always == never {
					t.Errorf("%s, %s: %v tokens of %v with and %v without the schema", shape, path, auto, always, never)
				}
			}
		}
	}
}

// TestNeighboursOfOneRole checks that messages of one role in a row are joined where the template refuses them, and only there: texts
// by an empty line, calls one after another, results of tools not at all.
func TestNeighboursOfOneRole(t *testing.T) {
	const (
		twice  = `[{"role": "user", "content": "Only the text."}, {"role": "user", "content": [{"type": "text", "text": "Hello =>"}]}]`
		stop   = `[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]`
		called = `[{"role": "user", "content": "a"}, {"role": "assistant", "content": "I look."}, {"role": "assistant", "content": null, "tool_calls": [{"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "abcdefghi", "content": "ok"}, {"role": "user", "content": "d"}, {"role": "user", "content": "e"}]`
		fine   = `[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "d"}]`
		first  = `[{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]` // joining doesn't help
	)
	for family, cases := range map[string]map[string]string{
		"gemma":  {twice: "Only the text.\n\nHello =>", stop: "b\n\nc", called: "d\n\ne", fine: "d"},
		"qwen25": {twice: "Only the text.<|im_end|>", stop: "b<|im_end|>", fine: "d<|im_end|>"},
	} {
		_, url := start(t, setup{vocab: familyVocab(t, family)})
		for messages, want := range cases {
			joins := family == "gemma" && messages != fine
			status, _, got := post(t, url+"/apply-template", `{"messages": `+messages+`}`)
			if text, _ := got["prompt"].(string); status != 200 || !strings.Contains(text, want) {
				t.Errorf("%s, %s: %d %v", family, messages, status, got)
			}
			for path, body := range map[string]string{"/v1/chat/completions": `"max_tokens": 2, "messages": `, "/generate": `"max_tokens": 2, "messages": `, "/api/chat": `"model": "m", "stream": false, "options": {"num_predict": 2}, "messages": `} {
				if path != "/v1/chat/completions" && strings.Contains(messages, "type") {
					continue // in other words there
				}
				status, _, got := post(t, url+path, `{`+body+messages+`}`)
				if warned := strings.Contains(fmt.Sprint(got["warnings"], at(got, "x_warnings")), "were joined"); status != 200 || warned != joins {
					t.Errorf("%s, %s, %s: %d %v", family, path, messages, status, got)
				}
			}
		}
	}
	_, url := start(t, setup{vocab: familyVocab(t, "gemma")})
	if status, _, got := post(t, url+"/v1/chat/completions", `{"messages": `+first+`}`); status != 400 || at(got, "error", "code") != "refused_by_template" {
		t.Error(status, got)
	}
	for path, body := range map[string]string{
		"/v1/messages":  `{"model": "m", "max_tokens": 2, "system": "s", "messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}`,
		"/v1/responses": `{"max_output_tokens": 16, "input": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}`,
	} {
		if status, _, got := post(t, url+path, body); status != 200 {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	// What is counted is what is read.
	messages := `"messages": ` + twice
	_, _, counted := post(t, url+"/v1/chat/completions/input_tokens", `{`+messages+`}`)
	_, _, got := post(t, url+"/v1/chat/completions", `{"max_tokens": 2, `+messages+`}`)
	if counted["input_tokens"] == nil || counted["input_tokens"] != at(got, "usage", "prompt_tokens") {
		t.Errorf("%v counted, %v", counted, got["usage"])
	}
}
