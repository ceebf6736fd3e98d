package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stencil/chat"
)

func TestOuterNames(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "object", "properties": {"b": {"properties": {"inner": {}}}, "a": {}}}`:                        "a b",
		`{"type": "array", "items": {"properties": {"x": {}}}}`:                                                  "x",
		`{"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"properties": {"x": {}}}}}`:                                  "x",
		`{"anyOf": [{"properties": {"x": {}}}, {"type": "null"}, {"allOf": [{"properties": {"y": {}}}, true]}]}`: "x y",
		`{"$ref": "#"}`: "", `{"$ref": "#/no/where", "items": 5}`: "", `{"enum": [1]}`: "", `true`: "", `{`: "",
	} {
		got := outerNames(json.RawMessage(schema))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", schema, got, want)
		}
	}
	// Each step leads to a thousand more.
	loop := `{"anyOf": [` + strings.Repeat(`{"$ref": "#"},`, 1000) + `true]}`
	if got := outerNames(json.RawMessage(loop)); got != nil {
		t.Error(got)
	}
}

func TestMention(t *testing.T) {
	list := []chat.Message{{Role: "system", Content: "Give the first name."}, {Role: "user", Parts: []chat.Part{{Type: "text", Text: "And die Straße, please"}}}}
	for names, want := range map[string]bool{
		"firstName": true, "first_name STRASSE": false, "straße firstName": true, "name please": true, "nameand": false, "last": false, "--": false, "": false,
	} {
		if got := mention(list, strings.Fields(names)); got != want {
			t.Errorf("%q: %v", names, got)
		}
	}
}

// TestPromptSchemaAuto has the schema in the prompt only where the messages don't
// name its properties.
func TestPromptSchemaAuto(t *testing.T) {
	_, url := start(t, setup{})
	const schema = `"schema": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 3}}, "required": ["city"]}, "max_tokens": 30`
	tokens := func(body string) float64 {
		status, _, got := post(t, url+"/generate", body)
		if status != 200 {
			t.Fatal(status, got)
		}
		return at(got, "usage", "prompt_tokens").(float64)
	}
	message := func(text string) string { return `{"messages": [{"role": "user", "content": "` + text + `"}], ` }
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
