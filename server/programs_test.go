package server

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/embedding"
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

// streamed returns the concatenated values at a path of a stream's events.
func streamed(t *testing.T, text string, path ...any) string {
	t.Helper()
	whole := ""
	for _, e := range dataOf(t, text) {
		part, _ := at(e, path...).(string)
		whole += part
	}
	return whole
}

const jsonBody = "application/json"

// The requests of programs made for llama-server, field for field, and what the programs read of the answers; each test
// names the version of the source. All of them accept any model name, and send a key though none is required.

// TestProgramLlamaVim covers llama.vim, autoload/llama.vim of 31 January 2026: llama#fim, s:ring_update and llama#inst,
// which send requests with curl and ignore the status; s:fim_on_response and s:inst_on_response.
func TestProgramLlamaVim(t *testing.T) {
	v := infillVocab(t)
	_, url := start(t, setup{vocab: v, next: scripted.Say(v, "n + 1")})
	send := func(path, body string) string {
		t.Helper()
		status, _, text := send(t, "POST", url+path, body, "Content-Type", jsonBody, "Authorization", "Bearer ")
		if status != 200 {
			t.Errorf("%s: %d %s", path, status, text)
		}
		return text
	}
	// The ring of other chunks is sent ahead of time; the answer is ignored.
	warm := send("/infill", `{"id_slot":0,"input_prefix":"","input_suffix":"","input_extra":[{"text":"x = 1\n","time":[0,0],"filename":"a.py"}],"prompt":"","n_predict":0,"temperature":0.0,
		"samplers":[],"stream":false,"cache_prompt":true,"t_max_prompt_ms":1,"t_max_predict_ms":1,"response_fields":[""]}`)
	if strings.TrimSpace(warm) != "{}" {
		t.Errorf("%s", warm)
	}
	fim := send("/infill", `{"id_slot":0,"input_prefix":"def f(n):\n","input_suffix":"\nprint(f(2))\n","input_extra":[{"text":"x = 1\n","time":[0,0],"filename":"a.py"}],"prompt":"    return ",
		"n_predict":128,"stop":[],"n_indent":4,"top_k":40,"top_p":0.90,"samplers":["top_k","top_p","infill"],"stream":false,"cache_prompt":true,"t_max_prompt_ms":500,"t_max_predict_ms":1000,
		"response_fields":["content","timings/prompt_n","timings/prompt_ms","timings/prompt_per_token_ms","timings/prompt_per_second","timings/predicted_n","timings/predicted_ms",
		"timings/predicted_per_token_ms","timings/predicted_per_second","truncated","tokens_cached"],"model":""}`)
	// It recognises an answer by its start and by this member.
	if !regexp.MustCompile(`^\s*{`).MatchString(fim) || !regexp.MustCompile(`"content"\s*:"`).MatchString(fim) {
		t.Errorf("%s", fim)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(fim), &got); err != nil || got["content"] != "n + 1" || got["truncated"] != false {
		t.Errorf("%v %v", got, err)
	}
	for _, name := range []string{"timings/prompt_n", "timings/prompt_ms", "timings/prompt_per_second", "timings/predicted_n", "timings/predicted_ms", "timings/predicted_per_second", "tokens_cached"} {
		if _, ok := got[name].(float64); !ok {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	// An instruction: a warm-up while it is being typed, with a counter, then the request.
	messages := `"messages":[{"role":"system","content":"You are a text-editing assistant.\n--- CONTEXT\n"},{"role":"user","content":"INSTRUCTION: mend it"}]`
	send("/v1/chat/completions", `{"id_slot":7,`+messages+`,"samplers":[],"n_predict":0,"stream":false,"cache_prompt":true,"response_fields":[""]}`)
	text := send("/v1/chat/completions", `{"id_slot":8,`+messages+`,"min_p":0.1,"temperature":0.1,"samplers":["min_p","temperature"],"stream":true,"cache_prompt":true}`)
	if whole := streamed(t, text, "choices", 0, "delta", "content"); whole != "n + 1" {
		t.Errorf("%q of %s", whole, text)
	}
}

// TestProgramLlamaVSCode covers llama.vscode 0.0.63, src/llama-server.ts and src/language-model-token-limits.ts.
func TestProgramLlamaVSCode(t *testing.T) {
	v := infillVocab(t)
	_, url := start(t, setup{vocab: v, next: scripted.Say(v, "n + 1")})
	// Its setting max_parallel_completions, 3, makes the answer a list.
	fim := func(n int) string {
		return fmt.Sprintf(`{"id_slot":0,"input_prefix":"def f(n):\n","input_suffix":"\n","input_extra":[{"text":"x = 1\n","time":1755590000000,"filename":"a.py"}],"prompt":"    return ","n_predict":128,
			"n_cmpl":%d,"top_k":40,"top_p":0.99,"stream":false,"samplers":["top_k","top_p","infill"],"cache_prompt":true,"n_indent":4,"t_max_prompt_ms":500,"t_max_predict_ms":2500,"model":"m"}`, n)
	}
	status, _, text := send(t, "POST", url+"/infill", fim(3), "Content-Type", jsonBody)
	var list []map[string]any
	if err := json.Unmarshal([]byte(text), &list); err != nil || status != 200 || len(list) != 3 || list[2]["content"] != "n + 1" || at(list[0], "timings", "predicted_per_second") == nil {
		t.Errorf("%d %v %s", status, err, text)
	}
	if status, _, got := post(t, url+"/infill", fim(1)); status != 200 || got["content"] != "n + 1" || got["tokens_cached"] == nil || got["truncated"] != false || got["generation_settings"] == nil {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/infill", `{"id_slot":0,"input_prefix":"","input_suffix":"","input_extra":[],"prompt":"","n_predict":0,"samplers":[],"cache_prompt":true,"t_max_prompt_ms":500,"t_max_predict_ms":1}`); status != 200 {
		t.Errorf("%d %v", status, got)
	}

	_, url = start(t, setup{reply: " hello there"})
	// The largest prompt: from the list of models, and from /props of models with "meta".
	models := getJSON(t, url+"/v1/models")
	if at(models, "data", 0, "id") != "tiny" || at(models, "data", 0, "meta") == nil && at(models, "data", 0, "owned_by") != "llamacpp" {
		t.Errorf("%v", models)
	}
	for _, path := range []string{"/props", "/props?model=tiny&autoload=false"} {
		if n, _ := at(getJSON(t, url+path), "default_generation_settings", "n_ctx").(float64); n < 100 {
			t.Errorf("%s: a context of %g tokens", path, n)
		}
	}
	tools := `"tools":[{"type":"function","function":{"name":"look","description":"Looks.","parameters":{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}}}]`
	messages := `"messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":"hi"}]`
	_, _, got := post(t, url+"/apply-template", `{`+messages+`,"model":"m",`+tools+`,"tool_choice":"auto"}`)
	prompt, _ := got["prompt"].(string)
	if !strings.Contains(prompt, "You are an agent.") {
		t.Errorf("%v", got)
	}
	raw, err := json.Marshal(prompt)
	if err != nil {
		t.Fatal(err)
	}
	_, _, got = post(t, url+"/tokenize", `{"content":`+string(raw)+`,"add_special":false,"parse_special":true}`)
	if tokens, _ := got["tokens"].([]any); len(tokens) < 10 {
		t.Errorf("%v", got)
	}
	_, _, text = send(t, "POST", url+"/v1/chat/completions", `{`+messages+`,"stream":true,"model":"m",`+tools+`,"tool_choice":"auto","max_tokens":4096}`, "Content-Type", jsonBody)
	finish := ""
	for _, e := range dataOf(t, text) {
		if f, _ := at(e, "choices", 0, "finish_reason").(string); f != "" {
			finish = f
		}
	}
	if whole := streamed(t, text, "choices", 0, "delta", "content"); whole != " hello there" || finish != "stop" || !strings.HasSuffix(text, "data: [DONE]\n\n") {
		t.Errorf("%q, %s of %s", whole, finish, text)
	}
	status, _, got = post(t, url+"/v1/chat/completions", `{`+messages+`,"stream":false,"cache_prompt":true,"temperature":0.8,"top_p":0.95,"model":"m"}`)
	if status != 200 || at(got, "choices", 0, "message", "content") != " hello there" {
		t.Errorf("%d %v", status, got)
	}
	// A prompt that is too long is reported with its size.
	status, _, got = post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"`+strings.Repeat("word ", 3000)+`"}],"stream":true}`)
	if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, "tokens") {
		t.Errorf("%d %v", status, got)
	}
}

// TestProgramContinue covers Continue (core 1.1.0): core/llm/llms/LlamaCpp.ts, whose prompts are rendered by its own
// templates, packages/fetch/src/stream.ts, and core/autocomplete/templating for the prompts and stop strings of Qwen's
// coders. Options that are not set are omitted.
func TestProgramContinue(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})
	for _, body := range []string{
		`{"model":"AUTODETECT","prompt":"<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n","stream":true,"n_predict":4096,"stop":["<|im_end|>","<|im_start|>","<|endoftext|>"]}`,
		`{"model":"qwen2.5-coder","prompt":"<|fim_prefix|>a<|fim_suffix|>b<|fim_middle|>","stream":true,"n_predict":4096,"frequency_penalty":0.1,"presence_penalty":0.1,"min_p":0.05,"mirostat":0,
			"stop":["<|endoftext|>","<|fim_prefix|>","<|fim_middle|>","<|fim_suffix|>","<|fim_pad|>","<|repo_name|>","<|file_sep|>","<|im_start|>","<|im_end|>","/src/","#- coding: utf-8","` + "```" + `"],"top_k":40,"top_p":0.9,"temperature":0.01}`,
	} {
		status, header, text := send(t, "POST", url+"/completion", body, "Content-Type", jsonBody, "Authorization", "Bearer undefined")
		if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%d %v", status, header)
		}
		// Each line that begins with data: must be JSON, without an error; a line that begins with ": ping" ends a read.
		for line := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(line, "data:") && !strings.HasPrefix(line, "data: {") || strings.HasPrefix(line, ":") {
				t.Errorf("%q", line)
			}
		}
		if whole := streamed(t, text, "content"); whole != " hello there" {
			t.Errorf("%q of %s", whole, text)
		}
	}
	// The error's text is shown for an error status or event.
	status, _, text := send(t, "POST", url+"/completion", `{"model":"m","prompt":"`+strings.Repeat("word ", 3000)+`","stream":true,"n_predict":4096}`, "Content-Type", jsonBody)
	if status != 400 || !strings.Contains(text, "exceeds the available context size") {
		t.Errorf("%d %s", status, text)
	}
}

// sillyTavern are the fields that SillyTavern 1.19.0 sends to /completion (createTextGenGenerationData in
// public/scripts/textgen-settings.js, with the values of its preset Default, and the names of a group as stop strings).
const sillyTavern = `"max_new_tokens":16,"max_tokens":16,"temperature":1,"top_p":0.95,"typical_p":1,"typical":1,"min_p":0.01,"repetition_penalty":1.1,"frequency_penalty":0,"presence_penalty":0,"top_k":0,
	"skew":0,"min_tokens":0,"add_bos_token":true,"dynatemp_exponent":1,"smoothing_factor":0,"smoothing_curve":1,"dry_allowed_length":2,"dry_multiplier":0,"dry_base":1.75,
	"dry_sequence_breakers":["\n",":","\"","*"],"dry_penalty_last_n":0,"max_tokens_second":0,
	"samplers":["penalties","dry","top_n_sigma","top_k","typ_p","tfs_z","typical_p","xtc","top_p","min_p","temperature","adaptive_p"],"truncation_length":4096,"ban_eos_token":false,
	"skip_special_tokens":true,"include_reasoning":true,"top_a":0,"tfs":1,"mirostat_mode":0,"mirostat_tau":5,"mirostat_eta":0.1,"custom_token_bans":"","banned_strings":[],"api_type":"llamacpp",
	"api_server":"http://127.0.0.1:8080","xtc_threshold":0.1,"xtc_probability":0,"nsigma":0,"top_n_sigma":0,"min_keep":0,"adaptive_target":-0.01,"adaptive_decay":0.9,"rep_pen":1.1,"rep_pen_range":0,
	"repetition_penalty_range":0,"guidance_scale":1,"negative_prompt":"","repeat_penalty":1.1,"repeat_last_n":0,"n_predict":16,"num_predict":16,"num_ctx":4096,"mirostat":0,"ignore_eos":false,"rep_pen_slope":1,
	"logit_bias":[],"grammar":"","cache_prompt":true`

// TestProgramSillyTavern covers SillyTavern 1.19.0: src/endpoints/backends/text-completions.js,
// src/endpoints/tokenizers.js and src/vectors/llamacpp-vectors.js, and what public/scripts/textgen-settings.js reads.
func TestProgramSillyTavern(t *testing.T) {
	folder := t.TempDir()
	_, url := start(t, setup{reply: " hello there", cfg: Config{SlotFolder: folder}})
	names := []string{"\nuser:"}
	for i := range 40 { // a group
		names = append(names, fmt.Sprintf("\nMember %d:", i))
	}
	raw, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	stops := `"stopping_strings":` + string(raw) + `,"stop":` + string(raw)

	// On connecting: the names of models, and the template, by whose hash it chooses its own.
	if models := getJSON(t, url+"/v1/models"); at(models, "data", 0, "id") != "tiny" {
		t.Errorf("%v", models)
	}
	for _, path := range []string{"/props", "/props?model=tiny"} {
		props := getJSON(t, url+path)
		if template, _ := props["chat_template"].(string); template == "" || strings.HasSuffix(template, "\x00") {
			t.Errorf("%v", props["chat_template"])
		}
		if _, ok := at(props, "default_generation_settings", "n_ctx").(float64); !ok {
			t.Errorf("%v", props)
		}
	}
	// It sends an empty model name if none is chosen.
	status, _, got := post(t, url+"/tokenize", `{"model":"","content":"hello there"}`)
	tokens, _ := got["tokens"].([]any)
	if _, number := at(tokens, 0).(float64); status != 200 || !number {
		t.Errorf("%d %v", status, got)
	}

	_, _, text := send(t, "POST", url+"/completion", `{"prompt":"x","n":1,"stream":true,"logprobs":10,"n_probs":10,`+stops+`,`+sillyTavern+`}`, "Content-Type", jsonBody)
	if whole := streamed(t, text, "content"); whole != " hello there" {
		t.Errorf("%q of %s", whole, text)
	}
	for _, e := range dataOf(t, text) {
		if at(e, "error") != nil || at(e, "message") != nil {
			t.Errorf("%v", e)
		}
		if at(e, "content") == "" {
			continue
		}
		token, _ := at(e, "completion_probabilities", 0, "top_logprobs", 0, "token").(string)
		logprob, ok := at(e, "completion_probabilities", 0, "top_logprobs", 0, "logprob").(float64)
		if p := math.Exp(logprob); token == "" || !ok || !(p > 0 && p <= 1.0001) {
			t.Errorf("%v", e)
		}
	}
	// Swipes: several texts, by index.
	_, _, text = send(t, "POST", url+"/completion", `{"prompt":"x","n":3,"stream":true,"model":"tiny",`+stops+`,`+sillyTavern+`}`, "Content-Type", jsonBody)
	swipes := map[float64]string{}
	for _, e := range dataOf(t, text) {
		swipes[at(e, "index").(float64)] += at(e, "content").(string)
	}
	if len(swipes) != 3 || swipes[0] != " hello there" || swipes[2] != " hello there" {
		t.Errorf("%v", swipes)
	}
	// Together: a schema in place of the grammar, a ban, a bias and dynamic temperature.
	body := strings.Replace(sillyTavern, `"grammar":"",`, "", 1)
	body = strings.Replace(body, `"logit_bias":[]`, `"logit_bias":[[5,-1.5],[6,false]],"json_schema":{"const":"ok"},"seed":7,"sampler_seed":7,"dynamic_temperature":true,"dynatemp_low":0.5,"dynatemp_high":1.5,"dynatemp_range":0.5`, 1)
	status, _, got = post(t, url+"/completion", `{"prompt":"x","n":1,`+stops+`,`+body+`}`)
	if status != 200 || got["content"] != `"ok"` {
		t.Errorf("%d %v", status, got)
	}
	// A sampler that is not supported is refused if it is on.
	status, _, got = post(t, url+"/completion", `{"prompt":"x",`+strings.Replace(sillyTavern, `"adaptive_target":-0.01`, `"adaptive_target":0.5`, 1)+`}`)
	if status != 400 || at(got, "error", "param") != "adaptive_target" {
		t.Errorf("%d %v", status, got)
	}
	// Its slash command for slots.
	if status, _, text := send(t, "GET", url+"/slots", ""); status != 200 || !strings.HasPrefix(text, "[{") {
		t.Errorf("%d %s", status, text)
	}
	for _, action := range []string{"save", "restore", "erase"} {
		body := `{"filename":"story"}`
		if action == "erase" {
			body = `{}`
		}
		if status, _, got := post(t, url+"/slots/0?action="+action, body); status != 200 || at(got, "id_slot") != 0.0 {
			t.Errorf("%s: %d %v", action, status, got)
		}
	}
	if _, err := os.Stat(folder + "/story"); err != nil {
		t.Error(err)
	}
	// A picture is sent to chat, where it is refused by name.
	status, _, got = post(t, url+"/v1/chat/completions", `{"model":"llamacpp_current","messages":[{"role":"user","content":[{"type":"text","text":"What is it?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`)
	if message, _ := at(got, "error", "message").(string); status != 400 || !strings.Contains(message, "image") {
		t.Errorf("%d %v", status, got)
	}

	// Embeddings for its memory, in order of their index.
	_, url = startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	status, _, got = post(t, url+"/v1/embeddings", `{"input":["one","two"]}`)
	if second, _ := at(got, "data", 1, "embedding").([]any); status != 200 || at(got, "data", 1, "index") != 1.0 || len(second) == 0 {
		t.Errorf("%d %v", status, got)
	}
}

// TestProgramOpenWebUI covers Open WebUI 0.12.4: routers/openai.py, routers/ollama.py, routers/tasks.py,
// utils/payload.py, utils/middleware.py, utils/response.py and main.py of the package, with a connection of OpenAI's
// kind (provider llama.cpp) and one of Ollama's.
func TestProgramOpenWebUI(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})
	models := getJSON(t, url+"/v1/models")
	if at(models, "data", 0, "id") != "tiny" || at(models, "data", 0, "status", "value") != "loaded" || hasMember(models, "data", 0, "name") && at(models, "data", 0, "name") == nil {
		t.Errorf("%v", models)
	}
	// A chat with all of its advanced parameters; those of Ollama are also sent at the top level.
	all := `"temperature":0.8,"top_k":40,"top_p":0.9,"min_p":0.05,"max_tokens":128,"seed":3,"stop":["User:"],"frequency_penalty":0.1,"presence_penalty":0.1,"repeat_penalty":1.1,"repeat_last_n":64,"tfs_z":1,
		"mirostat":0,"mirostat_eta":0.1,"mirostat_tau":5,"num_ctx":2048,"num_batch":512,"num_keep":24,"num_gpu":1,"num_thread":2,"use_mmap":true,"use_mlock":false,"logit_bias":{"5":-3}`
	for _, params := range []string{`"stream_options":{"include_usage":true}`, `"stream_options":{"include_usage":true},` + all} {
		status, header, text := send(t, "POST", url+"/v1/chat/completions", `{"stream":true,"model":"tiny","messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"hi"}],`+params+`}`,
			"Content-Type", jsonBody, "Authorization", "Bearer sk-none", "HTTP-Referer", "https://openwebui.com/", "X-Title", "Open WebUI")
		if status != 200 || !strings.Contains(header.Get("Content-Type"), "text/event-stream") {
			t.Fatalf("%d %s", status, text)
		}
		// Usage and timings of every event are merged into one; neither may be null.
		usage := map[string]any{}
		for _, e := range dataOf(t, text) {
			one := e.(map[string]any)
			for _, name := range []string{"usage", "timings"} {
				value, there := one[name]
				if members, ok := value.(map[string]any); ok {
					for k, v := range members {
						usage[k] = v
					}
				} else if there && name == "timings" {
					t.Errorf("timings are %v", value)
				}
			}
			if choices, _ := one["choices"].([]any); len(choices) > 0 && at(choices, 0, "delta") == nil {
				t.Errorf("%v", one)
			}
		}
		for _, name := range []string{"prompt_tokens", "completion_tokens", "total_tokens", "prompt_n", "cache_n", "predicted_n", "predicted_per_second"} {
			if _, ok := usage[name].(float64); !ok {
				t.Errorf("%s is %v", name, usage[name])
			}
		}
		if whole := streamed(t, text, "choices", 0, "delta", "content"); whole != " hello there" || !strings.HasSuffix(text, "data: [DONE]\n\n") {
			t.Errorf("%q of %s", whole, text)
		}
	}
	// Titles, tags and follow-ups.
	status, _, got := post(t, url+"/v1/chat/completions", `{"model":"tiny","messages":[{"role":"user","content":"### Task:\nGenerate a concise, 3-5 word title."}],"stream":false,"max_tokens":1000}`)
	if status != 200 || at(got, "choices", 0, "message", "content") != " hello there" || at(got, "choices", 0, "finish_reason") != "stop" {
		t.Errorf("%d %v", status, got)
	}
	// Continue: the answer continues, and earlier reasoning is sent back.
	status, _, got = post(t, url+"/v1/chat/completions", `{"model":"tiny","stream":false,"continue_final_message":true,"add_generation_prompt":false,"messages":[{"role":"user","content":"hi"},
		{"role":"assistant","content":" hello","reasoning_content":"They greet."}]}`)
	if content, _ := at(got, "choices", 0, "message", "content").(string); status != 200 || strings.HasPrefix(content, " hello hello") {
		t.Errorf("%d %v", status, got)
	}
	// Models are unloaded by a button; the one of --model stays, which the error reports.
	if status, _, got := post(t, url+"/models/unload", `{"model":"tiny"}`); status != 400 || !strings.Contains(fmt.Sprint(got), "stays") {
		t.Errorf("%d %v", status, got)
	}
	if status, _, _ := post(t, url+"/models/load", `{"model":"tiny"}`); status != 200 {
		t.Errorf("%d", status)
	}
	// Its own address for Anthropic's clients requests a token count.
	if status, _, got := post(t, url+"/v1/messages/count_tokens", `{"model":"tiny","messages":[{"role":"user","content":"hi"}]}`); status != 200 || got["input_tokens"] == nil {
		t.Errorf("%d %v", status, got)
	}

	// Ollama's.
	if got := getJSON(t, url+"/api/version"); got["version"] == "" {
		t.Errorf("%v", got)
	}
	if got := getJSON(t, url+"/api/tags"); at(got, "models", 0, "model") != "tiny" || at(got, "models", 0, "name") != "tiny" {
		t.Errorf("%v", got)
	}
	if got := getJSON(t, url+"/api/ps"); at(got, "models", 0, "model") != "tiny" || at(got, "models", 0, "expires_at") == nil {
		t.Errorf("%v", got)
	}
	options := `"options":{"temperature":0.8,"top_p":0.9,"seed":3,"mirostat":0,"mirostat_eta":0.1,"mirostat_tau":5.0,"num_ctx":2048,"num_batch":512,"num_keep":24,"num_predict":128,"repeat_last_n":64,"top_k":40,"min_p":0.05,
		"repeat_penalty":1.1,"presence_penalty":0.1,"frequency_penalty":0.1,"stop":["User:"],"num_gpu":1,"use_mmap":true,"use_mlock":false,"num_thread":2}`
	status, header, text := send(t, "POST", url+"/api/chat", `{"model":"tiny","messages":[{"role":"user","content":"hi"}],"stream":true,"keep_alive":"5m",`+options+`}`, "Content-Type", jsonBody)
	if status != 200 || header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%d %v %s", status, header, text)
	}
	whole, done := "", map[string]any{}
	for line := range strings.Lines(text) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		part, _ := at(e, "message", "content").(string)
		whole += part
		if e["done"] == true {
			done = e
		}
	}
	for _, name := range []string{"total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"} {
		if _, ok := done[name].(float64); !ok {
			t.Errorf("%s is %v", name, done[name])
		}
	}
	if whole != " hello there" {
		t.Errorf("%q", whole)
	}
	if status, _, got := post(t, url+"/api/generate", `{"model":"tiny","keep_alive":0,"prompt":""}`); status != 200 || got["done"] != true {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/api/show", `{"model":"tiny"}`); status != 200 || got["details"] == nil {
		t.Errorf("%d %v", status, got)
	}

	// Documents.
	_, url = startEmbedding(t, scripted.EmbedOptions{}, embedding.Config{})
	status, _, got = post(t, url+"/v1/embeddings", `{"input":["one","two"],"model":"vectors"}`)
	if second, _ := at(got, "data", 1, "embedding").([]any); status != 200 || len(second) == 0 {
		t.Errorf("%d %v", status, got)
	}
	status, _, got = post(t, url+"/api/embed", `{"input":["one","two"],"model":"vectors","truncate":true}`)
	if second, _ := at(got, "embeddings", 1).([]any); status != 200 || len(second) == 0 {
		t.Errorf("%d %v", status, got)
	}
}

// hasMember reports whether the last name of a path is a member, null or not.
func hasMember(v any, path ...any) bool {
	in, _ := at(v, path[:len(path)-1]...).(map[string]any)
	_, ok := in[path[len(path)-1].(string)]
	return ok
}

// TestProgramChatLlama covers ChatLlama (langchain-llama-cpp 0.1.0, chat_models.py), which sets the format of reasoning
// and reads the timings of the last event.
func TestProgramChatLlama(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})
	for format, want := range map[string]int{`"auto"`: 200, `"deepseek"`: 200, `null`: 200, `"none"`: 400, `5`: 400} {
		if status, _, got := post(t, url+"/v1/chat/completions", `{"model":"gemma","messages":[{"role":"user","content":"hi"}],"reasoning_format":`+format+`}`); status != want {
			t.Errorf("%s: %d %v", format, status, got)
		}
	}
	for _, usage := range []bool{true, false} {
		_, _, text := send(t, "POST", url+"/v1/chat/completions", fmt.Sprintf(`{"messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":%t}}`, usage))
		events := dataOf(t, text)
		for i, e := range events {
			if last := i == len(events)-1; last != (at(e, "timings") != nil) {
				t.Errorf("%t: %v", usage, e)
			}
		}
	}
}

// TestProgramLlamafile covers clients of llamafile, such as LlamaIndex's class for it (llama-index-llms-llamafile
// 0.6.0, base.py), which send an object options in chats; fields beside it take precedence.
func TestProgramLlamafile(t *testing.T) {
	_, url := start(t, setup{})
	ask := func(more string) string {
		t.Helper()
		status, _, got := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"max_tokens":20,"stream":false`+more+`}`)
		if status != 200 {
			t.Fatalf("%s: %d %v", more, status, got)
		}
		return at(got, "choices", 0, "message", "content").(string)
	}
	want := ask(`,"temperature":0.8,"seed":3`)
	if got := ask(`,"options":{"temperature":0.8,"seed":3}`); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := ask(`,"seed":3,"options":{"temperature":0.8,"seed":4}`); got != want {
		t.Errorf("%q, not %q", got, want)
	}
	if got := ask(`,"options":{"temperature":0.8,"seed":4}`); got == want {
		t.Errorf("%q with another seed", got)
	}
	if status, _, got := post(t, url+"/v1/chat/completions", `{"messages":[{"role":"user","content":"hi"}],"options":5}`); status != 400 {
		t.Errorf("%d %v", status, got)
	}
}
