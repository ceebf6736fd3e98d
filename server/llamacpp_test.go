package server

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"stencil/backend/scripted"
	"stencil/engine"
	"stencil/vocab"
)

// TestLlamaCompletion is POST /completion in llama-server's words.
func TestLlamaCompletion(t *testing.T) {
	_, url := start(t, setup{reply: " hello there\n  two\n one more"})
	for _, path := range []string{"/completion", "/completions"} {
		status, _, got := post(t, url+path, `{"prompt":"say","n_predict":-1,"temperature":0,"cache_prompt":true,"id_slot":1,"return_tokens":true,"n_probs":3,"stop":["more"]}`)
		if status != 200 || at(got, "content") != " hello there\n  two\n one " || at(got, "stop") != true || at(got, "stop_type") != "word" || at(got, "stopping_word") != "more" {
			t.Fatalf("%s: %d %v", path, status, got)
		}
		if at(got, "generation_settings", "n_predict") != -1.0 || at(got, "generation_settings", "top_k") != 40.0 || at(got, "prompt") == "" || at(got, "has_new_line") != true || at(got, "truncated") != false {
			t.Errorf("%s: %v", path, got)
		}
		probs := at(got, "completion_probabilities").([]any)
		if len(at(got, "tokens").([]any)) != len(probs) || len(at(probs, 0, "top_logprobs").([]any)) != 3 || at(probs, 0, "id") == nil {
			t.Errorf("%s: %v", path, probs)
		}
		if at(got, "timings", "predicted_n") != at(got, "tokens_predicted") || at(got, "timings", "prompt_n").(float64)+at(got, "timings", "cache_n").(float64) != at(got, "tokens_evaluated") {
			t.Errorf("%s: %v", path, got["timings"])
		}
	}
	for body, want := range map[string]string{
		`"n_predict":1`:                        "limit",
		`"n_predict":-1`:                       "eos",
		`"n_indent":2,"n_predict":-1`:          "limit",
		`"t_max_predict_ms":600000`:            "eos",
		`"temperature":-3,"top_p":7,"min_p":9`: "eos",
		`"mirostat":0,"dry_multiplier":0,"xtc_probability":0,"grammar":"","json_schema":null,"samplers":[],"lora":[]`: "eos",
	} {
		status, _, got := post(t, url+"/completion", `{"prompt":"say",`+body+`}`)
		if status != 200 || at(got, "stop_type") != want {
			t.Errorf("%s: %d %v", body, status, got)
		}
		if strings.Contains(body, "n_indent") && at(got, "content") != " hello there\n  two\n" {
			t.Errorf("%s: %q", body, at(got, "content"))
		}
		if strings.Contains(body, "top_p") && len(at(got, "warnings").([]any)) != 3 {
			t.Errorf("%s: %v", body, got["warnings"])
		}
	}
	status, _, got := post(t, url+"/completion", `{"prompt":"say","n_predict":3,"response_fields":["content","generation_settings/n_predict","nothing/there"]}`)
	if status != 200 || len(got) != 2 || at(got, "generation_settings/n_predict") != 3.0 {
		t.Errorf("response_fields: %d %v", status, got)
	}
	_, _, got = post(t, url+"/completion", `{"prompt":"say","json_schema":{"const":42}}`)
	if at(got, "content") != "42" || at(got, "x_constraint", "validated") != true {
		t.Errorf("json_schema: %v", got)
	}
	_, _, got = post(t, url+"/completion", `{"prompt":"say","ignore_eos":true,"n_predict":4}`)
	if bias := at(got, "generation_settings", "logit_bias").([]any); len(bias) == 0 || at(bias, 0, "bias") != nil {
		t.Errorf("ignore_eos: %v", got)
	}
}

// TestLlamaPrompts are the forms of a prompt.
func TestLlamaPrompts(t *testing.T) {
	_, url := start(t, setup{reply: " ok"})
	for prompt, want := range map[string]int{
		`"x"`: 1, `["x"]`: 1, `["x","y"]`: 2, `[5,6]`: 1, `[5,"x",6]`: 1, `[[5,6],"x"]`: 2, `{"prompt_string":"x"}`: 1, `[{"prompt_string":"x"},[5]]`: 2,
	} {
		resp, err := http.Post(url+"/completion", "application/json", strings.NewReader(`{"n_predict":2,"prompt":`+prompt+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var got any
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		list, many := got.([]any)
		if resp.StatusCode != 200 || many != (want > 1) || many && len(list) != want {
			t.Errorf("%s: %d %v", prompt, resp.StatusCode, got)
		}
	}
	for _, prompt := range []string{`{}`, `5`, `[]`, `[[]]`, `[null]`, `{"prompt_string":5}`, `{"prompt_string":"x","multimodal_data":["a"]}`, `[5,true]`, `[5000000]`} {
		if status, _, got := post(t, url+"/completion", `{"prompt":`+prompt+`}`); status != 400 || at(got, "error", "code") != 400.0 || at(got, "error", "type") != "invalid_request_error" {
			t.Errorf("%s: %d %v", prompt, status, got)
		}
	}
}

// TestLlamaStream reads the events of a completion.
func TestLlamaStream(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})
	resp, err := http.Post(url+"/completion", "application/json", strings.NewReader(`{"prompt":["a","b"],"stream":true,"n_probs":2,"timings_per_token":true}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	texts, stops := map[float64]string{}, 0
	for in := bufio.NewScanner(resp.Body); in.Scan(); {
		data, ok := strings.CutPrefix(in.Text(), "data: ")
		if !ok {
			continue
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(data), &got); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		texts[at(got, "index").(float64)] += at(got, "content").(string)
		if at(got, "stop") == true {
			stops++
			if at(got, "generation_settings") == nil || at(got, "timings") == nil {
				t.Errorf("%s", data)
			}
		} else if len(at(got, "tokens").([]any)) == 0 || at(got, "completion_probabilities", 0, "top_logprobs", 1, "id") == nil || at(got, "timings", "predicted_n") == nil {
			t.Errorf("%s", data)
		}
	}
	if texts[0] != " hello there" || texts[1] != " hello there" || stops != 2 {
		t.Errorf("%v, %d stops", texts, stops)
	}
}

// TestLlamaTokens are the paths about tokens and templates.
func TestLlamaTokens(t *testing.T) {
	srv, url := start(t, setup{})
	v := srv.models.SomeServed().Text.Vocab()
	_, _, got := post(t, url+"/tokenize", `{"content":"What is ü?"}`)
	tokens, _ := json.Marshal(at(got, "tokens"))
	_, _, back := post(t, url+"/detokenize", `{"tokens":`+string(tokens)+`}`)
	if strings.TrimSpace(at(back, "content").(string)) != "What is ü?" {
		t.Errorf("%s: %v", tokens, back)
	}
	_, _, got = post(t, url+"/tokenize", `{"content":"a","add_special":true,"with_pieces":true}`)
	if bos, ok := v.BOS(); ok && v.AddBOS() && at(got, "tokens", 0, "id") != float64(bos) || at(got, "tokens", 0, "piece") == nil {
		t.Errorf("%v", got)
	}
	if _, _, got = post(t, url+"/tokenize", `{"content":[5,"a",6]}`); at(got, "tokens", 0) != 5.0 {
		t.Errorf("%v", got)
	}
	_, _, got = post(t, url+"/apply-template", `{"messages":[{"role":"user","content":"hi there"}],"tools":null}`)
	if text, _ := at(got, "prompt").(string); !strings.Contains(text, "hi there") || !strings.HasSuffix(text, "assistant\n") {
		t.Errorf("%v", got)
	}
	_, _, got = post(t, url+"/apply-template", `{"messages":[{"role":"user","content":"hi there"}],"add_generation_prompt":false}`)
	if text, _ := at(got, "prompt").(string); !strings.Contains(text, "hi there") || strings.Contains(text, "assistant") {
		t.Errorf("%v", got)
	}
	for _, path := range []string{"/chat/completions/input_tokens", "/v1/chat/completions/input_tokens"} {
		if _, _, got = post(t, url+path, `{"messages":[{"role":"user","content":"hi there"}]}`); at(got, "input_tokens").(float64) < 3 {
			t.Errorf("%v", got)
		}
	}
	for path, bodies := range map[string][]string{
		"/tokenize": {`{"content":5}`, `{"content":[true]}`, `{"contents":"a"}`, `{"content":[-7],"with_pieces":true}`}, "/detokenize": {`{"tokens":"a"}`, `{"tokens":[-1]}`, `{"tokens":[9999999]}`},
		"/apply-template": {`{}`, `{"messages":[{}]}`}, "/models/load": {`{}`}, "/models/unload": {`{"model":"tiny"}`},
	} {
		for _, body := range bodies {
			if status, _, got := post(t, url+path, body); status != 400 || at(got, "error", "message") == nil {
				t.Errorf("%s %s: %d %v", path, body, status, got)
			}
		}
	}
}

// TestLlamaProps is what programs ask of a server before anything else.
func TestLlamaProps(t *testing.T) {
	_, url := start(t, setup{eng: engine.Config{Parallel: 3}})
	for _, path := range []string{"/health", "/v1/health"} {
		if got := getJSON(t, url+path); at(got, "status") != "ok" {
			t.Errorf("%v", got)
		}
	}
	got := getJSON(t, url+"/props")
	if at(got, "total_slots") != 3.0 || at(got, "default_generation_settings", "n_ctx").(float64) < 100 || at(got, "modalities", "vision") != false || at(got, "model_alias") != "tiny" || at(got, "is_sleeping") != false {
		t.Errorf("%v", got)
	}
	resp, err := http.Get(url + "/slots")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var slots []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&slots); err != nil || len(slots) != 3 || slots[0]["is_processing"] != false {
		t.Errorf("%v %v", slots, err)
	}
	got = getJSON(t, url+"/models")
	if at(got, "data", 0, "status", "value") != "loaded" || at(got, "data", 0, "meta", "n_ctx") == nil {
		t.Errorf("%v", got)
	}
	for _, path := range []string{"/props", "/slots/0?action=save", "/models"} {
		if status, _, got := post(t, url+path, `{}`); status != 501 || at(got, "error", "type") != "not_supported_error" {
			t.Errorf("%s: %d %v", path, status, got)
		}
	}
	status, _, got := post(t, url+"/chat/completions", `{"messages":[{"role":"user","content":"`+strings.Repeat("word ", 3000)+`"}]}`)
	if status != 400 || at(got, "error", "type") != "exceed_context_size_error" || at(got, "error", "n_prompt_tokens").(float64) < 3000 || at(got, "error", "n_ctx") == nil {
		t.Errorf("%d %v", status, got)
	}
}

// TestAnyModelName has one model answer to every name, unless names are strict.
func TestAnyModelName(t *testing.T) {
	for _, strict := range []bool{false, true} {
		srv, url := start(t, setup{reply: " ok", cfg: Config{StrictModels: strict}})
		for path, body := range map[string]string{
			"/v1/chat/completions": `{"model":"gpt-4o",` + userX + `}`, "/v1/messages": `{"model":"claude-9","max_tokens":5,` + userX + `}`,
			"/v1/responses": `{"model":"gpt-5","input":"x"}`, "/completion": `{"model":"x","prompt":"x"}`, "/api/chat": `{"model":"llama3","stream":false,` + userX + `}`,
		} {
			status, _, got := post(t, url+path, body)
			if strict && status != 404 || !strict && (status != 200 || at(got, "model") != "tiny") {
				t.Errorf("strict %v, %s: %d %v", strict, path, status, got)
			}
		}
		e, err := engine.New(scripted.New(loadVocab(t), scripted.Random(3), scripted.Options{}), engine.Config{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		if err := srv.SetModel("other", e); err != nil {
			t.Fatal(err)
		}
		if status, _, got := post(t, url+"/v1/chat/completions", `{"model":"gpt-4o",`+userX+`}`); status != 404 {
			t.Errorf("with two models: %d %v", status, got)
		}
	}
}

// infillVocab has the tokens with which Qwen's coders are asked to fill in code.
func infillVocab(t *testing.T) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	for c := range 256 {
		tokens = append(tokens, vocab.Token{Text: byteText(byte(c)), Kind: vocab.Normal})
	}
	for _, name := range []string{"<|endoftext|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|repo_name|>", "<|file_sep|>"} {
		tokens = append(tokens, vocab.Token{Text: name, Kind: vocab.Control})
	}
	end := int32(256)
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: vocab.BPE, EOS: &end})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// byteText is a byte as byte-level vocabularies spell it.
func byteText(c byte) string {
	if c >= '!' && c <= '~' || c >= 0xa1 && c <= 0xac || c >= 0xae {
		return string(rune(c))
	}
	n := 0
	for b := range int(c) {
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			n++
		}
	}
	return string(rune(256 + n))
}

// TestInfill sends what llama.vim and llama.vscode send.
func TestInfill(t *testing.T) {
	v := infillVocab(t)
	_, url := start(t, setup{vocab: v, next: scripted.Say(v, "n + 1")})
	status, _, got := post(t, url+"/infill", `{"id_slot":0,"input_prefix":"def f(n):\n","input_suffix":"\n\nprint(f(2))","input_extra":[{"text":"x = 1\n","time":123,"filename":"a.py"}],"prompt":"    return ",
		"n_predict":128,"stop":[],"n_indent":4,"top_k":40,"top_p":0.99,"stream":false,"cache_prompt":true,"t_max_prompt_ms":500,"t_max_predict_ms":1000,
		"response_fields":["content","timings/prompt_n","timings/prompt_ms","timings/predicted_n","timings/predicted_ms","truncated","tokens_cached","prompt"]}`)
	if status != 200 || at(got, "content") != "n + 1" || at(got, "timings/predicted_n") == nil || at(got, "truncated") != false {
		t.Fatalf("%d %v", status, got)
	}
	if want := "<|repo_name|>project\n<|file_sep|>a.py\nx = 1\n<|file_sep|>file\n<|fim_prefix|>def f(n):\n    return <|fim_suffix|>\n\nprint(f(2))<|fim_middle|>"; at(got, "prompt") != want {
		t.Errorf("prompt %q", at(got, "prompt"))
	}
	// llama.vim fills the cache so.
	if status, _, got := post(t, url+"/infill", `{"input_prefix":"","input_suffix":"","input_extra":[],"prompt":"","n_predict":0,"temperature":0.0,"stream":false,"cache_prompt":true,"response_fields":[""]}`); status != 200 {
		t.Errorf("%d %v", status, got)
	}
	for _, extra := range []string{`[{}]`, `[{"filename":"ok"}]`, `[{"filename":123,"text":"abc"}]`, `[{"text":5}]`, `{}`, `[5]`} {
		if status, _, got := post(t, url+"/infill", `{"input_prefix":"a","input_suffix":"b","input_extra":`+extra+`}`); status != 400 {
			t.Errorf("%s: %d %v", extra, status, got)
		}
	}
	_, url = start(t, setup{})
	if status, _, got := post(t, url+"/infill", `{"input_prefix":"a","input_suffix":"b"}`); status != 501 || at(got, "error", "type") != "not_supported_error" {
		t.Errorf("a model that can't: %d %v", status, got)
	}
}

// TestBiasForms are llama.cpp's ways to write logit_bias, on every path.
func TestBiasForms(t *testing.T) {
	v := loadVocab(t)
	_, url := start(t, setup{reply: " hello"})
	said := func(form string) string {
		_, _, got := post(t, url+"/v1/completions", `{"prompt":"x","temperature":0,"max_tokens":30,"logit_bias":`+form+`}`)
		text, _ := at(got, "choices", 0, "text").(string)
		return text
	}
	plain := said("null")
	if !strings.HasPrefix(plain, " hello") {
		t.Fatalf("%q", plain)
	}
	first := v.Tokenize(nil, plain, false)[0]
	id, _ := json.Marshal(first)
	spelt, _ := json.Marshal(string(v.Bytes(first)))
	for _, form := range []string{`[[` + string(id) + `,-100]]`, `[[` + string(id) + `,false]]`, `{"` + string(id) + `":false}`, `[[` + string(spelt) + `,false]]`, `{` + string(spelt) + `:-100}`} {
		if got := said(form); strings.HasPrefix(got, string(v.Bytes(first))) && !slices.Contains([]string{""}, got) {
			t.Errorf("%s: %q", form, got)
		}
	}
	for _, form := range []string{`[5]`, `[[5]]`, `[[5,true]]`, `[[5,"x"]]`, `[[5,null]]`, `{"5":null}`, `[["",1]]`, `[[5,1000]]`, `5`, `[[null,1]]`} {
		if status, _, _ := post(t, url+"/v1/completions", `{"prompt":"x","logit_bias":`+form+`}`); status != 400 {
			t.Errorf("%s: %d", form, status)
		}
	}
}
