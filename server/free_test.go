package server

import "testing"

// TestWithoutMasks checks that without masks the text is what the model writes,
// and that the receipt reports it correctly.
func TestWithoutMasks(t *testing.T) {
	const body = `{"prompt": "x", "max_tokens": 60, "temperature": 0, "constrained_decoding": false, "schema": ` + personSchema
	_, url := start(t, setup{reply: "Sure:\n```json\n{\"name\": \"Ann\", \"age\": 5}\n```"})
	status, _, got := post(t, url+"/generate_json", body+`}`)
	if status != 200 || at(got, "json", "name") != "Ann" || at(got, "constraint", "validated") != true || len(at(got, "constraint", "enforced").([]any)) != 0 || len(at(got, "constraint", "checked").([]any)) == 0 {
		t.Errorf("%d %v", status, got)
	}
	_, url = start(t, setup{reply: `{"name": "Ann", "age": 500}`})
	status, _, got = post(t, url+"/generate_json", body+`}`)
	if status != 422 || at(got, "error", "code") != "validation_failed" || at(got, "error", "details", 0, "pointer") != "/age" || at(got, "error", "text") == nil {
		t.Errorf("strict: %d %v", status, got)
	}
	status, _, got = post(t, url+"/generate_json", body+`, "strict": false}`)
	if status != 200 || at(got, "constraint", "validated") != false || at(got, "constraint", "errors", 0, "pointer") != "/age" || at(got, "json", "age") != 500.0 {
		t.Errorf("not strict: %d %v", status, got)
	}
	_, events := postStream(t, url+"/generate_json", body+`, "stream": true}`)
	if last := events[len(events)-1]; last.name != "error" || at(last.data, "error", "code") != "validation_failed" {
		t.Errorf("stream: %v", last)
	}
}

// TestFreeRepair checks that freely generated text of a local model is handled
// like that of an upstream.
func TestFreeRepair(t *testing.T) {
	const body = `{"prompt": "x", "max_tokens": 60, "temperature": 0, "constrained_decoding": false, "schema": ` + personSchema
	_, url := start(t, setup{reply: `{"name": "Ann", "age": "5",}`})
	status, _, got := post(t, url+"/generate_json", body+`, "repair": true, "n": 2}`)
	if status != 200 || at(got, "json", "age") != 5.0 || at(got, "constraint", "strategy") != "free" || at(got, "constraint", "edits", 1, "pointer") != "/age" || at(got, "choices", 1, "json", "name") != "Ann" || at(got, "constraint", "tries") != 1.0 {
		t.Errorf("%d %v", status, got)
	}
	_, events := postStream(t, url+"/generate_json", body+`, "repair": true, "stream": true}`)
	if last := events[len(events)-1]; last.name != "done" || at(last.data, "json", "age") != 5.0 {
		t.Errorf("%v", last)
	}
	// Two re-asks by default, each of which adds the errors to the prompt.
	status, _, got = post(t, url+"/generate_json", body+`}`)
	if status != 422 || at(got, "error", "failure", "category") != "invalid_json" || at(got, "error", "failure", "tries") != 3.0 {
		t.Errorf("%d %v", status, got)
	}
	for _, with := range []string{`, "strict": false, "retry_max": 0`, `, "strict": false`} {
		status, _, got = post(t, url+"/generate_json", body+with+`}`)
		prompt, _ := at(got, "usage", "prompt_tokens").(float64)
		if status != 200 || at(got, "json") != nil || at(got, "warnings") == nil || (prompt > 100) != (with == `, "strict": false`) {
			t.Errorf("%s: %d %v", with, status, got)
		}
	}
	_, url = start(t, setup{reply: `{"name": "Ann", "age": "5",}`, cfg: Config{RetryMax: -1}})
	if status, _, got = post(t, url+"/generate_json", body+`}`); status != 422 || at(got, "error", "failure", "tries") != 1.0 {
		t.Errorf("%d %v", status, got)
	}
}
