package server

import "testing"

// Without masks a text is what the model wants to write, and what is said about
// it is true.
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
