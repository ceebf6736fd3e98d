package server

import (
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/engine"
)

// TestBadRequests checks that every mistake is reported with a status, the
// field, a code and a message, and is marked as not worth a retry.
func TestBadRequests(t *testing.T) {
	_, url := start(t, setup{cfg: Config{BodyLimit: 4000, StrictModels: true}, eng: engine.Config{Context: backend.ContextParams{Size: 64}}})
	type bad struct {
		body, code, param, message string // message "": any
	}
	const notOffered = " is not offered here, and ignoring it would change the text"
	tests := []bad{
		{``, "invalid_json", "", "the body is empty; a JSON object is expected"},
		{` `, "invalid_json", "", "the body is empty; a JSON object is expected"},
		{`[]`, "invalid_json", "", "the body must be a JSON object"},
		{`null`, "invalid_json", "", "the body must be a JSON object"},
		{`{`, "invalid_json", "", "the body is not JSON: line 1, column 1: it ends too early"},
		{`{"prompt": "x"`, "invalid_json", "", "the body is not JSON: line 1, column 14: it ends too early"},
		{`{"prompt": "x",}`, "invalid_json", "", ""},
		{`{"prompt": "x"} x`, "invalid_json", "", "there is something after the JSON object, at line 1, column 16"},
		{`{"prompt": "x"}{}`, "invalid_json", "", "there is something after the JSON object, at line 1, column 16"},
		{"{\n  \"prompt\": x}", "invalid_json", "", "the body is not JSON: line 2, column 8: invalid character 'x' looking for beginning of value"},
		{"{\"prompt\": \"\xff\"}", "invalid_utf8", "", "the body is not UTF-8: byte 12 begins no character"},
		{strings.Repeat(`{"a":`, 700) + `1` + strings.Repeat(`}`, 700), "body_too_large", "", "the body is longer than 4000 bytes"},
		{`{"prompt": "` + strings.Repeat("x", 5000) + `"}`, "body_too_large", "", "the body is longer than 4000 bytes"},

		{`{}`, "invalid_value", "prompt", "prompt or messages is needed"},
		{`{"prompt": null}`, "invalid_value", "prompt", "prompt or messages is needed"},
		{`{"prompt": ""}`, "empty_prompt", "prompt", "the prompt is empty, and this model needs at least one token to start from"},
		{`{"prompt": "x", "grammar": ""}`, "invalid_value", "grammar", "grammar is empty, which constrains nothing; leave it out for a text without a constraint"},
		{`{"prompt": "x", "regex": ""}`, "invalid_value", "regex", ""},
		{`{"prompt": "x", "typescript": ""}`, "invalid_value", "typescript", ""},
		{`{"prompt": "x", "json_mode": {"grammar": ""}}`, "invalid_value", "json_mode.grammar", ""},
		{`{"prompt": 5}`, "invalid_value", "prompt", "prompt must be a string, not 5"},
		{`{"prompt": ["x"]}`, "invalid_value", "prompt", "prompt must be a string, not an array"},
		{`{"prompt": "a", "prompt": "b"}`, "duplicate_field", "prompt", "the field prompt is given twice"},
		{`{"prompt": "x", "messages": [{"role": "user", "content": "x"}]}`, "invalid_value", "prompt", "prompt and messages exclude each other"},
		{`{"prompt": "` + strings.Repeat("x1", 40) + `"}`, "context_length_exceeded", "prompt", "prompt is too long: this model's maximum context length is 64 tokens, of which at least one is generated, and the prompt has 80; the server's flag --context sets it"},
		{`{"messages": []}`, "invalid_value", "messages", "messages must not be empty"},
		{`{"messages": 5}`, "invalid_value", "messages", "messages must be an array, not 5"},
		{`{"messages": [5]}`, "invalid_json", "messages[0]", "messages[0] must be a JSON object"},
		{`{"messages": [{}]}`, "invalid_value", "messages[0].role", "messages[0].role is missing"},
		{`{"messages": [{"role": "user"}]}`, "invalid_value", "messages[0].content", "messages[0].content is missing"},
		{`{"messages": [{"role": "robot", "content": ""}]}`, "invalid_value", "messages[0].role", `messages[0].role must be one of "system", "user", "assistant", not "robot"`},
		{`{"messages": [{"role": "user", "content": 5}]}`, "invalid_value", "messages[0].content", "messages[0].content must be a string, not 5"},
		{`{"messages": [{"role": "user", "contnet": "x"}]}`, "unknown_field", "messages[0].contnet", "the field messages[0].contnet is not known; was content meant?"},
	}
	for _, b := range []bad{ // with a prompt
		{`"model": 5`, "invalid_value", "model", "model must be a string, not 5"},
		{`"max_tokens": 0`, "invalid_value", "max_tokens", "max_tokens must be between 1 and 16777216, not 0"},
		{`"max_tokens": -1`, "invalid_value", "max_tokens", "max_tokens must be between 1 and 16777216, not -1"},
		{`"max_tokens": 1.5`, "invalid_value", "max_tokens", "max_tokens must be a whole number, not 1.5"},
		{`"max_tokens": "5"`, "invalid_value", "max_tokens", `max_tokens must be a whole number, not "5"`},
		{`"max_tokens": 1e99`, "invalid_value", "max_tokens", "max_tokens must be between 1 and 16777216, not 1e99"},
		{`"temperature": -1`, "invalid_value", "temperature", "temperature must be between 0 and 100, got -1"},
		{`"temperature": "hot"`, "invalid_value", "temperature", `temperature must be a number, not "hot"`},
		{`"temperature": 1e60`, "invalid_value", "temperature", "temperature must be between 0 and 100, got +Inf"},
		{`"top_p": 1.5`, "invalid_value", "top_p", "top_p must be between 0 and 1, got 1.5"},
		{`"top_k": -2`, "invalid_value", "top_k", "top_k must be between -1 and 2147483647, not -2"},
		{`"min_p": -0.1`, "invalid_value", "min_p", "min_p must be between 0 and 1, got -0.1"},
		{`"typical_p": 2`, "invalid_value", "typical_p", "typical_p must be between 0 and 1, got 2"},
		{`"repeat_penalty": 0`, "invalid_value", "repeat_penalty", "repeat_penalty must be greater than 0, not 0"},
		{`"presence_penalty": 1000`, "invalid_value", "presence_penalty", "presence_penalty must be between -100 and 100, got 1000"},
		{`"seed": 1.5`, "invalid_value", "seed", "seed must be a whole number of at most 64 bits, not 1.5"},
		{`"seed": 99999999999999999999`, "invalid_value", "seed", "seed must be a whole number of at most 64 bits, not 99999999999999999999"},
		{`"logit_bias": {"": 1}`, "invalid_value", "logit_bias", `logit_bias: "" is neither a token number nor a text of 1 to 256 bytes`},
		{`"logit_bias": {"5000": 1}`, "invalid_value", "logit_bias", "logit_bias names token 5000, the vocabulary ends at 639"},
		{`"logit_bias": {"5": 101}`, "invalid_value", "logit_bias", "logit_bias of token 5 must be between -100 and 100, not 101"},
		{`"logit_bias": 5`, "invalid_value", "logit_bias", "logit_bias must be an object of token numbers and biases, or a list of pairs of them, not 5"},
		{`"stop": 5`, "invalid_value", "stop", "stop must be a string or an array of strings, not 5"},
		{`"stop": [""]`, "invalid_value", "stop", "every stop string must have between 1 and 256 bytes, not 0"},
		{`"n": 0`, "invalid_value", "n", "n must be between 1 and 128, not 0"},
		{`"stream": "yes"`, "invalid_value", "stream", `stream must be true or false, not "yes"`},
		{`"top_logprobs": 3`, "invalid_value", "top_logprobs", "top_logprobs needs logprobs: true"},
		{`"logprobs": true, "top_logprobs": 21`, "invalid_value", "top_logprobs", "top_logprobs must be between 0 and 20, not 21"},
		{`"prompt_schema": "sometimes"`, "invalid_value", "prompt_schema", `prompt_schema must be one of "auto", "always", "never", not "sometimes"`},
		{`"on_budget": 5`, "invalid_value", "on_budget", `on_budget must be one of "close", "truncate", not 5`},
		{`"forced": 1`, "invalid_value", "forced", "forced must be true or false, not 1"},
		{`"reasoning": 5`, "invalid_value", "reasoning", "reasoning must be true, false or an object, not 5"},
		{`"reasoning": {"efort": "low"}`, "unknown_field", "reasoning.efort", "the field reasoning.efort is not known; was effort meant?"},

		{`"shcema": {}`, "unknown_field", "shcema", "the field shcema is not known; was schema meant?"},
		{`"Schema": {}`, "unknown_field", "Schema", "the field Schema is not known; was schema meant?"},
		{`"jsonmode": {}`, "unknown_field", "jsonmode", "the field jsonmode is not known; was json_mode meant?"},
		{`"whitespaces": {}`, "unknown_field", "whitespaces", "the field whitespaces is not known; was whitespace meant?"},
		{`"response_format": {}`, "not_offered", "response_format", "response_format" + notOffered},
		{`"inputs": "y"`, "two_dialects", "prompt", "inputs and prompt belong to different dialects of this path"},
		{`"text": "y"`, "two_dialects", "prompt", "text and prompt belong to different dialects of this path"},
		{`"sampling_params": {}`, "not_offered", "sampling_params", "sampling_params" + notOffered},
		{`"tools": [{}]`, "not_offered", "tools", "tools" + notOffered},

		{`"schema": {}, "grammar": "root ::= x"`, "two_constraints", "grammar", "schema and grammar exclude one another"},
		{`"schema": {}, "json_mode": {}`, "two_constraints", "schema", "schema is given beside json_mode; a constraint must be either in json_mode or beside it"},
		{`"json_mode": {"schema": {}, "regex": "a"}`, "two_constraints", "json_mode.regex", "json_mode.schema and json_mode.regex exclude one another"},
		{`"json_mode": {"schma": {}}`, "unknown_field", "json_mode.schma", "the field json_mode.schma is not known; was schema meant?"},
		{`"json_mode": {"temperature": 1}`, "unknown_field", "json_mode.temperature", "the field json_mode.temperature is not known"},
		{`"json_mode": 5`, "invalid_value", "json_mode", "json_mode must be true, false or an object, not 5"},
		{`"json_mode": true, "regex": "a"`, "two_constraints", "regex", "json_mode and regex exclude one another"},
		{`"whitespace": "tight"`, "invalid_value", "whitespace", `whitespace must be "natural", "compact", "pretty", "flexible" or {"max": n}, not "tight"`},
		{`"whitespace": {"min": 1}`, "unknown_field", "whitespace.min", "the field whitespace.min is not known"},
		{`"whitespace": {"max": -1}`, "invalid_value", "whitespace.max", "whitespace.max must be between 0 and 4096, not -1"},
		{`"whitespace": {}`, "invalid_value", "whitespace", ""},
		{`"property_order": "random"`, "invalid_value", "property_order", `property_order must be one of "schema", "any", not "random"`},
		{`"on_unsupported": "shrug"`, "invalid_value", "on_unsupported", `on_unsupported must be one of "error", "validate", "ignore", not "shrug"`},
		{`"constrained_decoding": "no"`, "invalid_value", "constrained_decoding", `constrained_decoding must be true or false, not "no"`},
		{`"strict": "yes"`, "invalid_value", "strict", `strict must be true or false, not "yes"`},

		{`"grammar": "root ::= x"`, "invalid_grammar", "grammar", ""},
		{`"grammar": 5`, "invalid_value", "grammar", `grammar must be a string, or an object with "builtin", not 5`},
		{`"regex": "("`, "invalid_grammar", "regex", ""},
		{`"choice": []`, "invalid_value", "choice", "choice must be an array of at least one string, not an array"},
		{`"choice": "a"`, "invalid_value", "choice", `choice must be an array of at least one string, not "a"`},
		{`"choice": [5]`, "invalid_value", "choice", "choice must be an array of at least one string, not an array"},
		{`"schema": 5`, "invalid_schema", "schema", ""},
		{`"schema": "{}"`, "invalid_schema", "schema", ""},
		{`"schema": {"type": "strin"}`, "invalid_schema", "schema", ""},
		{`"schema": {"requird": ["a"]}`, "invalid_schema", "schema", ""},
		{`"schema": {"$ref": "#/x"}`, "invalid_schema", "schema", ""},
		{`"schema": {"pattern": "("}`, "invalid_schema", "schema", ""},
		{`"schema": {"a": 1, "a": 2}`, "invalid_schema", "schema", ""},
		{`"schema": {"$ref": "https://example.com/a"}`, "unsupported_schema_keyword", "schema", ""},
		{`"schema": {"allOf": [{"type": "string"}, {"type": "number"}]}`, "unsatisfiable_schema", "schema", ""},
		{`"schema": false`, "unsatisfiable_schema", "schema", ""},
		{`"schema": {"type": "string", "minLength": 20}, "max_tokens": 5`, "budget_too_small", "max_tokens",
			"the shortest document that fits the constraint needs 22 tokens; max_tokens leaves 5"},
	} {
		b.body = `{"prompt": "x", ` + b.body + `}`
		tests = append(tests, b)
	}
	for _, test := range tests {
		want := 400
		if test.code == "body_too_large" {
			want = 413
		}
		for _, stream := range []bool{false, true} {
			body := test.body
			if stream {
				if !strings.HasPrefix(body, `{"prompt"`) || !strings.HasSuffix(body, "}") || strings.Contains(body, `"stream"`) || want == 413 || test.code == "invalid_json" && test.param == "" {
					continue
				}
				body = body[:len(body)-1] + `, "stream": true}`
			}
			status, header, got := post(t, url+"/generate", body)
			param, _ := at(got, "error", "param").(string)
			if status != want || at(got, "error", "code") != test.code || param != test.param || at(got, "error", "type") != "invalid_request_error" {
				t.Errorf("%.80s: %d %v", body, status, got)
				continue
			}
			if message := at(got, "error", "message"); test.message != "" && message != test.message || message == "" {
				t.Errorf("%.80s: message %q, want %q", body, message, test.message)
			}
			if header.Get("X-Should-Retry") != "false" {
				t.Errorf("%.80s: X-Should-Retry %q", body, header.Get("X-Should-Retry"))
			}
			for _, key := range []string{"message", "type", "param", "code"} {
				if _, there := got["error"].(map[string]any)[key]; !there {
					t.Errorf("%.80s: no %s", body, key)
				}
			}
		}
	}
	status, _, got := post(t, url+"/generate", `{"prompt": "x", "model": "other"}`)
	if status != 404 || at(got, "error", "code") != "model_not_found" || at(got, "error", "message") != `model "other" not found: it is not served here; "tiny" is` {
		t.Errorf("%d %v", status, got)
	}
}

// TestUnknownFields checks that fields that don't change the text are
// accepted, silently or with a warning.
func TestUnknownFields(t *testing.T) {
	_, url := start(t, setup{reply: "x"})
	status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 3, "user": "me", "metadata": {}, "temperatur": 1, "whatever": []}`)
	want := []any{"the field temperatur is not known and was ignored; was temperature meant?", "the field whatever is not known and was ignored"}
	if status != 200 || len(at(got, "warnings").([]any)) != 2 || at(got, "warnings", 0) != want[0] || at(got, "warnings", 1) != want[1] {
		t.Errorf("%d %v", status, got)
	}
}

// A keyword that masks can't enforce is handled as on_unsupported says.
func TestUnsupportedKeywords(t *testing.T) {
	_, url := start(t, setup{reply: "x"})
	const body = `{"prompt": "x", "max_tokens": 30, "schema": {"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}, "b": {"const": 1}}, "required": ["b"], "additionalProperties": false}`
	status, _, got := post(t, url+"/generate_json", body+`}`)
	if status != 400 || at(got, "error", "details", 0, "pointer") != "/properties/a/$ref" || at(got, "error", "details", 0, "keyword") != "$ref" {
		t.Errorf("error: %d %v", status, got)
	}
	status, _, got = post(t, url+"/generate_json", body+`, "on_unsupported": "ignore"}`)
	if status != 200 || at(got, "constraint", "ignored", 0, "pointer") != "/properties/a/$ref" || at(got, "json", "b") != 1.0 {
		t.Errorf("ignore: %d %v", status, got)
	}
}

// TestTinyTemperature checks that a temperature too small to divide by fails
// no request, including those in the same batches.
func TestTinyTemperature(t *testing.T) {
	_, url := start(t, setup{})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			status, _, got := post(t, url+"/generate", `{"prompt": "x", "max_tokens": 8, "temperature": 1e-45}`)
			if status != 200 {
				t.Errorf("%d %v", status, got)
			}
		}
	}()
	for range 100 {
		if status, _, got := post(t, url+"/generate_json", `{"prompt": "x", "max_tokens": 60, "temperature": 1e-39, "schema": `+personSchema+`}`); status != 200 {
			t.Errorf("%d %v", status, got)
		}
	}
	close(stop)
	<-done
}
