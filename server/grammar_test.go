package server

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
)

func TestGrammarRegexChoice(t *testing.T) {
	_, url := start(t, setup{})
	date := regexp.MustCompile(`^\d{4}-\d\d$`)
	choices := []string{"yes", "no", "perhaps", "日本"}
	for _, test := range []struct {
		kind string
		body string
		fits func(string) bool
	}{
		{"regex", `"regex": "\\d{4}-\\d\\d"`, date.MatchString},
		{"regex", `"json_mode": {"regex": "\\d{4}-\\d\\d"}`, date.MatchString},
		{"grammar", `"grammar": "root ::= [0-9]{4} \"-\" d d\nd ::= [0-9]"`, date.MatchString},
		{"choice", `"choice": ["yes", "no", "perhaps", "日本"]`, func(s string) bool { return slices.Contains(choices, s) }},
	} {
		for seed := range 8 {
			status, _, got := post(t, url+"/generate", fmt.Sprintf(`{"prompt": "x", "seed": %d, "max_tokens": 30, %s}`, seed, test.body))
			text, _ := got["text"].(string)
			if status != 200 || !test.fits(text) || at(got, "constraint", "validated") != true || at(got, "constraint", "type") != test.kind || got["finish_reason"] != "stop" {
				t.Errorf("%s: %d %v", test.body, status, got)
			}
		}
	}
	for _, body := range []string{
		`"response_format": {"type": "regex", "value": "\\d{4}-\\d\\d"}`,
		`"guided_regex": "\\d{4}-\\d\\d"`, `"structured_outputs": {"regex": "\\d{4}-\\d\\d"}`, `"regex": "\\d{4}-\\d\\d"`,
		`"grammar": "root ::= [0-9]{4} \"-\" [0-9]{2}"`, `"ebnf": "root ::= [0-9]{4} \"-\" [0-9]{2}"`, `"guided_grammar": "root ::= [0-9]{4} \"-\" [0-9]{2}"`,
		`"guided_choice": ["2026-11"]`,
	} {
		status, _, got := post(t, url+"/v1/chat/completions", chatBody(body))
		if content, _ := at(got, "choices", 0, "message", "content").(string); status != 200 || !date.MatchString(content) {
			t.Errorf("%s: %d %v", body, status, got)
		}
		status, _, got = post(t, url+"/v1/completions", `{"prompt": "x", "max_tokens": 30, `+body+`}`)
		if content, _ := at(got, "choices", 0, "text").(string); status != 200 || !date.MatchString(content) {
			t.Errorf("%s: %d %v", body, status, got)
		}
	}
	// A body in TGI's form may have a grammar beside its parameters, which have one of TGI's own.
	own := `"grammar": "root ::= [0-9]{4} \"-\" [0-9]{2}"`
	status, _, got := post(t, url+"/generate", `{"inputs": "x", `+own+`, "parameters": {"max_new_tokens": 30}}`)
	if text, _ := got["generated_text"].(string); status != 200 || !date.MatchString(text) || at(got, "x_constraint", "type") != "grammar" {
		t.Errorf("TGI with a grammar: %d %v", status, got)
	}
	if status, _, got = post(t, url+"/generate", `{"inputs": "x", `+own+`, "parameters": {"grammar": {"type": "regex", "value": "a"}}}`); status != 400 || at(got, "error", "code") != "two_constraints" {
		t.Errorf("TGI with two grammars: %d %v", status, got)
	}
}
