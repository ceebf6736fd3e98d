package server

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestForeignGenerate(t *testing.T) {
	_, url := start(t, setup{})
	quoted, err := json.Marshal(personSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ body, field string }{
		{`{"inputs": "x", "parameters": {"max_new_tokens": 40, "do_sample": true, "grammar": {"type": "json", "value": ` + personSchema + `}}}`, "generated_text"},
		{`{"inputs": "x", "parameters": {"max_new_tokens": 40, "grammar": {"type": "json", "value": ` + string(quoted) + `}}}`, "generated_text"},
		{`{"inputs": "x", "parameters": {"max_new_tokens": 40, "details": true, "grammar": {"type": "json_schema", "value": {"name": "p", "schema": ` + personSchema + `}}}}`, "generated_text"},
		{`{"inputs": "x", "parameters": {"max_new_tokens": 40, "grammar": {"type": "regex", "value": "\\{\"name\":\"a*\",\"age\":7\\}"}}}`, "generated_text"},
		{`{"text": "x", "sampling_params": {"max_new_tokens": 40, "json_schema": ` + string(quoted) + `}}`, "text"},
		{`{"text": "x", "sampling_params": {"max_new_tokens": 40, "regex": "\\{\"name\":\"a*\",\"age\":7\\}"}}`, "text"},
	} {
		status, _, got := post(t, url+"/generate", test.body)
		text, _ := got[test.field].(string)
		var person struct {
			Name *string
			Age  *int
		}
		if err := json.Unmarshal([]byte(text), &person); status != 200 || err != nil || person.Name == nil || person.Age == nil || at(got, "x_constraint", "validated") != true {
			t.Errorf("%s: %d %v", test.body, status, got)
		}
		if strings.Contains(test.body, "details") && (at(got, "details", "finish_reason") != "eos_token" || len(at(got, "details", "tokens").([]any)) == 0) {
			t.Errorf("details %v", got["details"])
		}
		if test.field == "text" && (at(got, "meta_info", "finish_reason", "type") != "stop" || at(got, "meta_info", "completion_tokens") == 0.0) {
			t.Errorf("meta_info %v", got["meta_info"])
		}
		// The last event of a stream holds the same text, with greedy sampling.
		body := test.body[:len(test.body)-1] + `, "stream": true}`
		lines := postLines(t, url+"/generate", body)
		if test.field == "text" {
			lines = lines[:len(lines)-1] // [DONE]
		}
		var last map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[len(lines)-1], "data: ")), &last); err != nil {
			t.Fatal(err)
		}
		streamed, _ := last[test.field].(string)
		if !json.Valid([]byte(streamed)) || at(last, "x_constraint", "validated") != true {
			t.Errorf("%s: last event %v", body, last)
		}
	}
	for _, body := range []string{
		`{"inputs": "x", "parameters": {"grammer": {}}}`, `{"inputs": "x", "parameters": {"grammar": {"type": "xml", "value": ""}}}`, `{"inputs": "x", "parameters": {"grammar": {"type": "json"}}}`,
		`{"inputs": 5}`, `{"text": "x", "sampling_params": {"json_schema": "{"}}`, `{"text": "x", "sampling_params": {"structural_tag": "x"}}`, `{"text": "x", "inputs": "y"}`,
		`{"text": "x", "sampling_params": {"regex": "a", "ebnf": "b"}}`,
	} {
		if status, _, got := post(t, url+"/generate", body); status != 400 {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
}
