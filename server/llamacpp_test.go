package server

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/request"
	"github.com/stencil-json/stencil/vocab"
)

// TestLlamaCompletion checks POST /completion with llama-server's fields.
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

// TestLlamaPrompts checks the forms of a prompt.
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

// TestLlamaStream checks the events of a completion.
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

// TestLlamaProgress checks return_progress, which precedes any text in streams.
func TestLlamaProgress(t *testing.T) {
	_, url := start(t, setup{reply: " hello there"})
	for path, body := range map[string]string{
		"/completion":          `"prompt":"what to say","timings_per_token":true,`,
		"/v1/chat/completions": `"messages":[{"role":"user","content":"what to say"}],"timings_per_token":true,`,
		"/v1/responses":        `"input":"what to say","timings_per_token":true,`,
	} {
		for _, want := range []bool{true, false} {
			_, _, text := send(t, "POST", url+path, fmt.Sprintf(`{%s"stream":true,"return_progress":%t}`, body, want))
			last, wrote := -1.0, false
			for line := range strings.SplitSeq(text, "\n") {
				data, _ := strings.CutPrefix(line, "data: ")
				var got map[string]any
				if json.Unmarshal([]byte(data), &got) != nil {
					continue
				}
				p, ok := got["prompt_progress"].(map[string]any)
				if !ok {
					if text, _ := got["content"].(string); text != "" {
						wrote = true
					} else if text, _ := at(got, "choices", 0, "delta", "content").(string); text != "" {
						wrote = true
					} else if got["type"] == "response.output_text.delta" && at(got, "timings", "predicted_per_second") != nil {
						wrote = true
					} else if got["type"] == "response.completed" && at(got, "timings", "prompt_ms") == nil {
						t.Errorf("%s: %s", path, data)
					}
					continue
				}
				if last < 0 && (p["processed"] != p["cache"] || at(got, "timings", "prompt_n") != 0.0 || at(got, "timings", "prompt_ms") != 0.0) || p["processed"].(float64) <= last || wrote {
					t.Errorf("%s: %s", path, data)
				}
				if last = p["processed"].(float64); p["total"].(float64) < last {
					t.Errorf("%s: %s", path, data)
				}
			}
			if (last > 0) != want || !wrote {
				t.Errorf("%s, %t: %s", path, want, text)
			}
		}
	}
}

// TestLlamaAdapters checks LoRA adapters, whose scales requests and the server may set.
func TestLlamaAdapters(t *testing.T) {
	var last float32
	_, url := start(t, setup{reply: " hello there", opt: scripted.Options{
		Adapters: []backend.Adapter{{Path: "/secret/a.gguf", Scale: 1}},
		Adapt:    func(scales []float32) error { last = scales[0]; return nil },
	}})
	if _, _, text := send(t, "GET", url+"/lora-adapters", ""); text != `[{"id":0,"path":"a.gguf","scale":1}]`+"\n" {
		t.Errorf("%s", text)
	}
	chat := `"messages":[{"role":"user","content":"say"}],"max_tokens":4`
	for _, test := range []struct {
		path, body string
		scale      float32
	}{
		{"/completion", `"prompt":"say","lora":[{"id":0,"scale":0.5}]`, 0.5},
		{"/v1/chat/completions", chat + `,"lora":[{"id":0,"scale":0.25}]`, 0.25},
		{"/v1/messages", `"model":"tiny",` + chat + `,"lora":[{"id":0,"scale":0.125}]`, 0.125},
		{"/generate", `"prompt":"say","lora":[{"id":0,"scale":2}]`, 2},
		{"/completion", `"prompt":"say","lora":[]`, 1},
		{"/completion", `"prompt":"say"`, 1},
	} {
		if status, _, got := post(t, url+test.path, "{"+test.body+"}"); status != 200 || last != test.scale {
			t.Errorf("%s %s: %d %v, scale %g", test.path, test.body, status, got, last)
		}
	}
	if status, _, text := send(t, "POST", url+"/lora-adapters", `[{"id":0,"scale":0.75}]`); status != 200 || !strings.Contains(text, "true") {
		t.Errorf("%d %s", status, text)
	}
	if post(t, url+"/completion", `{"prompt":"say"}`); last != 0.75 {
		t.Errorf("the server's scale: %g", last)
	}
	if send(t, "POST", url+"/lora-adapters", `[]`); last != 0.75 {
		t.Errorf("adapted while nothing runs: %g", last)
	}
	if post(t, url+"/completion", `{"prompt":"say"}`); last != 0 {
		t.Errorf("a list that leaves the adapter out: %g", last)
	}
	for _, bad := range []string{`[{"id":1,"scale":1}]`, `[{"id":0}]`, `[{"scale":1}]`, `{}`, `5`, `null`, `[],"x":1`, `[]}`, ``,
		`[{"id":0,"scale":"x"}]`, `]`, "[\xff]"} {
		if status, _, text := send(t, "POST", url+"/lora-adapters", bad); status != 400 {
			t.Errorf("%s: %d %s", bad, status, text)
		}
	}
	if _, _, text := send(t, "POST", url+"/lora-adapters", `[{"id":0,,`); !strings.Contains(text, "line 1, column 10:") {
		t.Error(text)
	}
	if status, _, got := post(t, url+"/completion", `{"prompt":"say","lora":[{"id":1,"scale":1}]}`); status != 400 || at(got, "error", "param") != "lora" {
		t.Errorf("%d %v", status, got)
	}
}

// TestLlamaTokens checks the paths about tokens and templates.
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
		"/tokenize": {`{"content":5}`, `{"content":[true]}`, `{"contents":"a"}`, `{"content":[-7],"with_pieces":true}`}, "/detokenize": {`{"tokens":"a"}`, `{"tokens":[-1]}`, `{"tokens":[null]}`, `{"tokens":[9999999]}`},
		"/apply-template": {`{}`, `{"messages":[{}]}`}, "/models/load": {`{}`}, "/models/unload": {`{"model":"tiny"}`},
	} {
		for _, body := range bodies {
			if status, _, got := post(t, url+path, body); status != 400 || at(got, "error", "message") == nil {
				t.Errorf("%s %s: %d %v", path, body, status, got)
			}
		}
	}
}

// TestLlamaProps checks what programs query before anything else.
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
	if status, _, got := send(t, "GET", url+"/cors-proxy?url=http://127.0.0.1", ""); status != 403 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/v1/messages/count_tokens", `{"messages":[{"role":"user","content":"x"}]}`); status != 200 {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/responses", `{"input":"x","max_output_tokens":3}`); status != 200 || got["object"] != "response" {
		t.Errorf("%d %v", status, got)
	}
	if status, _, got := post(t, url+"/responses/input_tokens", `{"input":"x"}`); status != 200 || got["input_tokens"] == nil {
		t.Errorf("%d %v", status, got)
	}
	status, _, got := post(t, url+"/chat/completions", `{"messages":[{"role":"user","content":"`+strings.Repeat("word ", 3000)+`"}]}`)
	if status != 400 || at(got, "error", "type") != "exceed_context_size_error" || at(got, "error", "n_prompt_tokens").(float64) < 3000 || at(got, "error", "n_ctx") == nil {
		t.Errorf("%d %v", status, got)
	}
}

// TestLlamaSlots saves a slot's state, erases it, and restores it.
func TestLlamaSlots(t *testing.T) {
	folder := t.TempDir()
	_, url := start(t, setup{reply: " hello there", eng: engine.Config{Parallel: 2}, cfg: Config{SlotFolder: folder}})
	known := func(slot int) float64 {
		t.Helper()
		status, _, got := post(t, url+"/completion", fmt.Sprintf(`{"prompt":"%s","n_predict":4,"cache_prompt":true,"id_slot":%d}`, strings.Repeat("what is it? ", 20), slot))
		if status != 200 || at(got, "id_slot") != float64(slot) {
			t.Fatalf("%d %v", status, got)
		}
		return at(got, "timings", "cache_n").(float64)
	}
	if n := known(1); n != 0 {
		t.Errorf("%g tokens known at first", n)
	}
	status, _, saved := post(t, url+"/slots/1?action=save", `{"filename":"one.bin"}`)
	if status != 200 || at(saved, "id_slot") != 1.0 || at(saved, "filename") != "one.bin" || at(saved, "n_saved").(float64) < 40 || at(saved, "n_written").(float64) < 40 || at(saved, "timings", "save_ms") == nil {
		t.Fatalf("%d %v", status, saved)
	}
	if info, err := os.Stat(filepath.Join(folder, "one.bin")); err != nil || float64(info.Size()) != at(saved, "n_written") || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	status, _, got := post(t, url+"/slots/1?action=erase", ``)
	if status != 200 || at(got, "n_erased") != at(saved, "n_saved") {
		t.Errorf("%d %v", status, got)
	}
	if n := known(1); n != 0 {
		t.Errorf("%g tokens known after they were erased", n)
	}
	post(t, url+"/slots/1?action=erase", `{}`)
	status, _, got = post(t, url+"/slots/0?action=restore", `{"filename":"one.bin"}`)
	if status != 200 || at(got, "id_slot") != 0.0 || at(got, "n_restored") != at(saved, "n_saved") || at(got, "n_read") != at(saved, "n_written") || at(got, "timings", "restore_ms") == nil {
		t.Errorf("%d %v", status, got)
	}
	if n := known(0); n < 30 {
		t.Errorf("%g tokens known after they were restored", n)
	}
	if err := os.WriteFile(filepath.Join(folder, "bad.bin"), []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(folder, "link.bin")); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct{ query, body string }{
		{"9?action=save", `{"filename":"x"}`}, {"x?action=save", `{"filename":"x"}`}, {"-1?action=erase", ``}, {"1?action=keep", `{"filename":"x"}`}, {"1", `{}`},
		{"1?action=save", `{}`}, {"1?action=save", ``}, {"1?action=save", `{"filename":"../x"}`}, {"1?action=save", `{"filename":".x"}`}, {"1?action=save", `{"filename":"a/b"}`},
		{"1?action=restore", `{"filename":"missing"}`}, {"1?action=restore", `{"filename":"bad.bin"}`}, {"1?action=restore", `{"filename":"link.bin"}`}, {"1?action=save", `{"filename":5}`}, {"1?action=save", `{"file":"x"}`},
	} {
		if status, _, got := post(t, url+"/slots/"+bad.query, bad.body); status != 400 || at(got, "error", "type") != "invalid_request_error" {
			t.Errorf("%v: %d %v", bad, status, got)
		}
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 3 {
		t.Errorf("%v %v", files, err)
	}
	// A state of another model can't be restored.
	_, url = start(t, setup{reply: " other", opt: scripted.Options{StateKey: "other"}, cfg: Config{SlotFolder: folder}})
	if status, _, got := post(t, url+"/slots/0?action=restore", `{"filename":"one.bin"}`); status != 400 || !strings.Contains(fmt.Sprint(got), "another model") {
		t.Errorf("%d %v", status, got)
	}
}

// TestLlamaDefaults checks that sampler flags apply to requests without those fields, and that /props and answers show them.
func TestLlamaDefaults(t *testing.T) {
	defaults := request.Defaults{Sampling: map[string]json.RawMessage{}}
	for name, value := range map[string]string{"dry_sequence_breakers": "[]", "dry_multiplier": "0.8", "logit_bias": "[[5,1.5],[6,false]]", "ignore_eos": "true", "samplers": `"kt"`, "mirostat": "2"} {
		defaults.Sampling[name] = json.RawMessage(value)
	}
	if err := defaults.Check(); err != nil {
		t.Fatal(err)
	}
	_, url := start(t, setup{reply: " ok", cfg: Config{Defaults: defaults}})
	_, _, answer := post(t, url+"/completion", `{"prompt":"x","n_predict":2}`)
	for where, got := range map[string]any{"/props": at(getJSON(t, url+"/props"), "default_generation_settings", "params"), "/completion": answer["generation_settings"]} {
		if list, ok := at(got, "dry_sequence_breakers").([]any); !ok || len(list) > 0 || at(got, "ignore_eos") != true || at(got, "mirostat") != 2.0 || at(got, "samplers", 1) != "temperature" ||
			at(got, "logit_bias", 0, "token") != 5.0 || at(got, "logit_bias", 0, "bias") != 1.5 || at(got, "logit_bias", 1, "bias") != nil {
			t.Errorf("%s: %v", where, got)
		}
	}
	_, _, answer = post(t, url+"/completion", `{"prompt":"x","n_predict":2,"dry_sequence_breakers":["!"],"logit_bias":[],"ignore_eos":false}`)
	if got := answer["generation_settings"]; at(got, "dry_sequence_breakers", 0) != "!" || at(got, "logit_bias", 0) != nil || at(got, "ignore_eos") != false {
		t.Errorf("%v", got)
	}
}

// TestAnyModelName checks that one model answers to every name unless names are strict.
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

// infillVocab returns a vocabulary with the fill-in-the-middle tokens of Qwen's coders.
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

// byteText returns a byte as byte-level vocabularies write it.
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

// TestInfill sends the requests of llama.vim and llama.vscode.
func TestInfill(t *testing.T) {
	v := infillVocab(t)
	_, url := start(t, setup{vocab: v, next: scripted.Say(v, "n + 1")})
	status, _, got := post(t, url+"/infill", `{"id_slot":0,"input_prefix":"def f(n):\n","input_suffix":"\n\nprint(f(2))","input_extra":[{"text":"x = 1\n","time":123,"filename":"a.py"}],"prompt":"    return ",
		"n_predict":128,"stop":[],"n_indent":4,"top_k":40,"top_p":0.99,"stream":false,"samplers":["top_k","top_p","infill"],"cache_prompt":true,"t_max_prompt_ms":500,"t_max_predict_ms":1000,
		"response_fields":["content","timings/prompt_n","timings/prompt_ms","timings/predicted_n","timings/predicted_ms","truncated","tokens_cached","prompt"]}`)
	if status != 200 || at(got, "content") != "n + 1" || at(got, "timings/predicted_n") == nil || at(got, "truncated") != false {
		t.Fatalf("%d %v", status, got)
	}
	if want := "<|repo_name|>project\n<|file_sep|>a.py\nx = 1\n<|file_sep|>file\n<|fim_prefix|>def f(n):\n    return <|fim_suffix|>\n\nprint(f(2))<|fim_middle|>"; at(got, "prompt") != want {
		t.Errorf("prompt %q", at(got, "prompt"))
	}
	// llama.vim fills the cache this way.
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

// TestBiasForms checks llama.cpp's forms of logit_bias, on every path.
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
		if got := said(form); strings.HasPrefix(got, string(v.Bytes(first))) {
			t.Errorf("%s: %q", form, got)
		}
	}
	for _, form := range []string{`[5]`, `[[5]]`, `[[5,true]]`, `[[5,"x"]]`, `[[5,null]]`, `{"5":null}`, `[["",1]]`, `[[5,1000]]`, `5`, `[[null,1]]`} {
		if status, _, _ := post(t, url+"/v1/completions", `{"prompt":"x","logit_bias":`+form+`}`); status != 400 {
			t.Errorf("%s: %d", form, status)
		}
	}
}

// TestSamplersUnderConstraints checks that documents fit under every sampler of llama.cpp's.
func TestSamplersUnderConstraints(t *testing.T) {
	_, url := start(t, setup{})
	for _, options := range []string{
		`"dry_multiplier":5,"dry_allowed_length":1,"dry_sequence_breakers":["x"]`, `"xtc_probability":1,"xtc_threshold":0.001`, `"top_n_sigma":0.5`, `"dynatemp_range":2,"dynatemp_exponent":0.5,"temperature":2`, `"mirostat":1`, `"mirostat":2,"mirostat_tau":1`,
		`"samplers":["temperature","min_p","top_k"]`, `"samplers":"kt"`, `"samplers":["top_k"],"top_k":3`, `"ignore_eos":true`, `"temperature":0,"dry_multiplier":2`, `"repeat_penalty":1.5,"xtc_probability":0.5,"samplers":["xtc","penalties"]`,
	} {
		for seed := range 3 {
			status, _, got := post(t, url+"/generate_json", `{"prompt":"x","max_tokens":60,"seed":`+string(rune('0'+seed))+`,"schema":`+personSchema+`,`+options+`}`)
			if status != 200 || at(got, "json", "name") == nil || at(got, "constraint", "validated") != true {
				t.Errorf("%s: %d %v", options, status, got)
			}
		}
		for path, body := range map[string]string{"/v1/chat/completions": userX, "/v1/completions": `"prompt":"x"`, "/completion": `"prompt":"x"`, "/generate": `"prompt":"x"`} {
			if status, _, got := post(t, url+path, `{"max_tokens":5,`+body+`,`+options+`}`); status != 200 {
				t.Errorf("%s %s: %d %v", path, options, status, got)
			}
		}
	}
	for _, bad := range []string{`"mirostat":3`, `"xtc_probability":2`, `"samplers":["nonsense"]`, `"samplers":5`, `"dry_multiplier":-1`, `"dry_sequence_breakers":[""]`, `"dry_sequence_breakers":5`, `"dry_allowed_length":-1`, `"adaptive_target":0.5`, `"lora":[{"id":0}]`} {
		if status, _, got := post(t, url+"/v1/chat/completions", `{`+userX+`,`+bad+`}`); status != 400 {
			t.Errorf("%s: %d %v", bad, status, got)
		}
	}
	// SillyTavern's request, in which most samplers are off.
	status, _, got := post(t, url+"/completion", `{"prompt":"x","n_predict":5,"temperature":0.7,"top_k":0,"top_p":1,"typical_p":1,"min_p":0.05,"repeat_penalty":1,"repeat_last_n":64,"n_keep":-1,"mirostat":0,"mirostat_tau":5,"mirostat_eta":0.1,"dynatemp_range":0,"dynatemp_exponent":1,
		"dry_multiplier":0,"dry_base":1.75,"dry_allowed_length":2,"dry_penalty_last_n":0,"dry_sequence_breakers":"[\"\\n\",\":\"]","xtc_probability":0,"xtc_threshold":0.1,"top_n_sigma":0,"tfs_z":1,"grammar":"","seed":-1,"logit_bias":[],"ignore_eos":false,"stop":[],"stream":false,
		"samplers":["penalties","dry","top_n_sigma","top_k","typ_p","tfs_z","typical_p","top_p","min_p","xtc","temperature"],"min_keep":0,"adaptive_target":-1}`)
	if status != 200 {
		t.Errorf("%d %v", status, got)
	}
}

// TestPostSampling checks the probabilities with which tokens were sampled.
func TestPostSampling(t *testing.T) {
	_, url := start(t, setup{})
	_, _, got := post(t, url+"/completion", `{"prompt":"x","n_predict":4,"n_probs":5,"post_sampling_probs":true,"top_k":3,"temperature":1,"seed":2}`)
	for i := range 4 {
		one := at(got, "completion_probabilities", i)
		sum, its := 0.0, at(one, "prob")
		found := false
		for _, p := range at(one, "top_probs").([]any) {
			sum += at(p, "prob").(float64)
			found = found || at(p, "id") == at(one, "id") && at(p, "prob") == its
		}
		if n := len(at(one, "top_probs").([]any)); n < 1 || n > 3 || sum < 0.999 || sum > 1.001 || !found {
			t.Errorf("%v", one)
		}
	}
	_, _, got = post(t, url+"/completion", `{"prompt":"x","n_predict":1,"n_probs":5,"post_sampling_probs":true,"temperature":0}`)
	if at(got, "completion_probabilities", 0, "prob") != 1.0 {
		t.Errorf("greedy: %v", got)
	}
}

// TestDefaults checks the server's flags for requests that omit fields.
func TestDefaults(t *testing.T) {
	_, url := start(t, setup{cfg: Config{Defaults: request.Defaults{Sampling: map[string]json.RawMessage{"temperature": json.RawMessage("0.25"), "seed": json.RawMessage("42"), "top_k": json.RawMessage("7")}}}})
	_, _, got := post(t, url+"/completion", `{"prompt":"x","n_predict":2,"top_k":9}`)
	if s := at(got, "generation_settings"); at(s, "temperature") != 0.25 || at(s, "seed") != 42.0 || at(s, "top_k") != 9.0 {
		t.Errorf("%v", s)
	}
	_, _, one := post(t, url+"/v1/chat/completions", `{`+userX+`,"max_tokens":9}`)
	_, _, two := post(t, url+"/v1/chat/completions", `{`+userX+`,"max_tokens":9}`)
	if at(one, "choices", 0, "message", "content") != at(two, "choices", 0, "message", "content") {
		t.Errorf("not the same seed: %v %v", one, two)
	}
	if p := getJSON(t, url+"/props"); at(p, "default_generation_settings", "params", "seed") != 42.0 {
		t.Errorf("%v", p)
	}
	for _, bad := range []string{"-1", "200", `"x"`} {
		if (&request.Defaults{Sampling: map[string]json.RawMessage{"temperature": json.RawMessage(bad)}}).Check() == nil {
			t.Errorf("a temperature of %s", bad)
		}
	}
}

// TestSamplingOfTheFile checks the sampling options of a model's file: requests and the server's flags override
// them, and they override the defaults of APIs.
func TestSamplingOfTheFile(t *testing.T) {
	file := map[string]any{
		"temperature": 0.25, "top_k": int64(7), "min_p": 0.125, "xtc_threshold": 3.0, "repeat_penalty": -1.0,
		"samplers": []string{"top_k", "temperature"},
	}
	flags := Config{Defaults: request.Defaults{Sampling: map[string]json.RawMessage{"top_k": json.RawMessage("11")}}}
	_, url := start(t, setup{cfg: flags, opt: scripted.Options{Sampling: file}})
	check := func(s any, want map[string]any) {
		t.Helper()
		for name, v := range want {
			if !reflect.DeepEqual(at(s, name), v) {
				t.Errorf("%s: %v, want %v", name, at(s, name), v)
			}
		}
	}
	_, _, got := post(t, url+"/completion", `{"prompt":"x","n_predict":2,"min_p":0.5}`)
	want := map[string]any{
		"temperature": 0.25, "top_k": 11.0, "min_p": 0.5, "xtc_threshold": 0.1, "repeat_penalty": 1.0,
		"samplers": []any{"top_k", "temperature"},
	}
	check(at(got, "generation_settings"), want)
	want["min_p"] = 0.125
	check(at(getJSON(t, url+"/props"), "default_generation_settings", "params"), want)

	// In every dialect: with temperature 0 all seeds give the same text.
	_, url = start(t, setup{next: scripted.Random(17), opt: scripted.Options{Sampling: map[string]any{"temperature": int64(0)}}})
	for path, body := range map[string]string{
		"/v1/chat/completions": `{` + userX + `,"max_tokens":9,"seed":%d}`,
		"/api/generate":        `{"model":"tiny","prompt":"x","stream":false,"options":{"num_predict":9,"seed":%d}}`,
		"/generate":            `{"prompt":"x","max_tokens":9,"seed":%d}`,
	} {
		texts := map[string]bool{}
		for seed := range 4 {
			status, _, got := post(t, url+path, fmt.Sprintf(body, seed))
			if status != 200 {
				t.Fatalf("%s: %d %v", path, status, got)
			}
			text := fmt.Sprint(at(got, "choices", 0, "message", "content"), at(got, "response"), at(got, "text"))
			texts[text] = true
		}
		if len(texts) != 1 {
			t.Errorf("%s: %d texts", path, len(texts))
		}
	}
}

// TestChatTemplates checks templates that replace the model's, and reasoning that a template opens in any case.
func TestChatTemplates(t *testing.T) {
	const open = "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.role == 'assistant' %}<think>x</think>{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]<think>\n{% endif %}"
	for thoughts, want := range map[string]string{"": "[user]hi[assistant]<think>\n", "off": "[user]hi[assistant]<think>\n</think>"} {
		_, url := start(t, setup{cfg: Config{ChatTemplate: open, Defaults: request.Defaults{Thoughts: thoughts}}})
		_, _, got := post(t, url+"/apply-template", `{"messages":[{"role":"user","content":"hi"}]}`)
		if at(got, "prompt") != want {
			t.Errorf("thoughts %q: %q", thoughts, at(got, "prompt"))
		}
	}
	// At llama-server's path a conversation that ends with an assistant text is continued.
	_, url := start(t, setup{reply: " more"})
	_, _, got := post(t, url+"/apply-template", `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Well"}]}`)
	if text, _ := at(got, "prompt").(string); !strings.HasSuffix(text, "Well") {
		t.Errorf("%q", text)
	}
	if status, _, got := post(t, url+"/chat/completions", `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Well"},{"role":"assistant","content":"Well"}]}`); status != 400 {
		t.Errorf("%d %v", status, got)
	}
	_, _, got = post(t, url+"/chat/completions", `{"verbose":true,"thinking_budget_tokens":5,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"Well"}]}`)
	if text, _ := at(got, "__verbose", "prompt").(string); !strings.HasSuffix(text, "Well") || at(got, "system_fingerprint") != "stencil" {
		t.Errorf("%v", got)
	}
}
