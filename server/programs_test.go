package server

import (
	"encoding/json"
	"strings"
	"testing"
)

// dataOf returns the JSON events of a stream.
func dataOf(t *testing.T, text string) (out []any) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			var event any
			if err := json.Unmarshal([]byte("{"+data), &event); err != nil {
				t.Errorf("%q: %v", line, err)
			}
			out = append(out, event)
		}
	}
	return out
}

// What programs made for llama-server ask for, in their words, and what they read of the answers. llama.vim's and
// llama.vscode's requests are in TestInfill.
func TestProgramsOfLlamaServer(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})

	t.Run("Continue", func(t *testing.T) {
		// Its provider llama.cpp writes the template itself and reads content of each event.
		_, header, text := send(t, "POST", url+"/completion", `{"prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stream":true,"n_predict":64,"frequency_penalty":null,
			"presence_penalty":null,"min_p":null,"mirostat":null,"stop":["<|im_end|>","<|im_start|>"],"top_k":null,"top_p":null,"temperature":null}`, "Content-Type", "application/json", "Authorization", "Bearer ")
		if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			t.Error(header)
		}
		whole := ""
		for _, e := range dataOf(t, text) {
			content, ok := at(e, "content").(string)
			if !ok {
				t.Errorf("no content in %v", e)
			}
			whole += content
		}
		if whole != " hello there" {
			t.Errorf("%q of %s", whole, text)
		}
		// As an OpenAI provider it completes code so.
		_, _, text = send(t, "POST", url+"/v1/completions", `{"model":"any","prompt":"<fim_prefix>a<fim_suffix>b<fim_middle>","max_tokens":64,"temperature":0.01,"stop":["<fim_prefix>","\n\n"],"stream":true}`)
		whole = ""
		for _, e := range dataOf(t, text) {
			part, _ := at(e, "choices", 0, "text").(string)
			whole += part
		}
		if whole != " hello there" {
			t.Errorf("%q of %s", whole, text)
		}
	})

	t.Run("Open WebUI", func(t *testing.T) {
		var list map[string]any
		if _, _, text := send(t, "GET", url+"/v1/models", "", "Authorization", "Bearer "); json.Unmarshal([]byte(text), &list) != nil || at(list, "data", 0, "id") != "tiny" || at(list, "object") != "list" {
			t.Errorf("%v", list)
		}
		_, _, text := send(t, "POST", url+"/v1/chat/completions", `{"stream":true,"model":"tiny","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}],
			"stream_options":{"include_usage":true},"temperature":0.8,"top_k":40,"top_p":0.9,"min_p":0,"repeat_penalty":1.1,"seed":3,"stop":["User:"],"max_tokens":64,"logit_bias":{},"frequency_penalty":0}`)
		whole, events := "", dataOf(t, text)
		for _, e := range events {
			part, _ := at(e, "choices", 0, "delta", "content").(string)
			whole += part
		}
		// It shows the last event's usage, and llama.cpp's timings with it.
		last := events[len(events)-1]
		if whole != " hello there" || at(last, "usage", "completion_tokens") == nil || at(last, "timings", "predicted_per_second") == nil || !strings.HasSuffix(text, "data: [DONE]\n\n") {
			t.Errorf("%q of %s", whole, text)
		}
		// Titles and tags are asked for without a stream.
		status, _, got := post(t, url+"/v1/chat/completions", `{"model":"tiny","messages":[{"role":"user","content":"### Task:\nGenerate a title."}],"stream":false,"max_completion_tokens":1000}`)
		if content, _ := at(got, "choices", 0, "message", "content").(string); status != 200 || content != " hello there" {
			t.Errorf("%d %v", status, got)
		}
	})

	t.Run("SillyTavern", func(t *testing.T) {
		props := getJSON(t, url+"/props")
		if at(props, "default_generation_settings", "n_ctx") == nil || at(props, "model_path") == nil || at(props, "chat_template") == nil {
			t.Errorf("%v", props)
		}
		status, _, got := post(t, url+"/tokenize", `{"content":"hello there"}`)
		tokens, _ := at(got, "tokens").([]any)
		if status != 200 || len(tokens) == 0 {
			t.Errorf("%d %v", status, got)
		}
		raw, err := json.Marshal(tokens)
		if err != nil {
			t.Fatal(err)
		}
		if status, _, got := post(t, url+"/detokenize", `{"tokens":`+string(raw)+`}`); status != 200 || at(got, "content") != "hello there" {
			t.Errorf("%d %v", status, got)
		}
		_, _, text := send(t, "POST", url+"/completion", `{"prompt":"x","stream":true,"max_tokens":16,"max_new_tokens":16,"n_predict":16,"num_predict":16,"num_ctx":4096,"n_probs":2,"cache_prompt":true,"api_type":"llamacpp","api_server":"`+url+`",
			"stopping_strings":["\nx:"],"stop":["\nx:"],"truncation_length":4096,"ban_eos_token":false,"skip_special_tokens":true,"include_reasoning":true,"add_bos_token":true,"temperature":1,"rep_pen":1,"repetition_penalty":1,"guidance_scale":1}`)
		whole := ""
		for _, e := range dataOf(t, text) {
			part, _ := at(e, "content").(string)
			whole += part
			if part != "" && at(e, "completion_probabilities", 0, "top_logprobs", 0, "token") == nil {
				t.Errorf("no probabilities in %v", e)
			}
		}
		if whole != " hello there" {
			t.Errorf("%q of %s", whole, text)
		}
	})
}
