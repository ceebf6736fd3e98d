package generation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/chat"
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
	// Each visit leads to a thousand
	// more.
	loop := `{"anyOf": [` + strings.Repeat(`{"$ref": "#"},`, 1000) + `true]}`
	if got := outerNames(json.RawMessage(loop)); got != nil {
		t.Error(got)
	}
}

func TestMention(t *testing.T) {
	list := []chat.Message{{Role: "system", Content: "Give the first name."}, {Role: "developer", Parts: []chat.Part{{Type: "text", Text: "And die Straße, please"}}}, {Role: "user", Content: "last"}, {Role: "assistant", Content: `{"zip": 1}`}, {Role: "tool", Content: "result"}}
	for names, want := range map[string]bool{
		"firstName": true, "first_name STRASSE": false, "straße firstName": true, "name please": true, "nameand": false, "last": true, "zip firstName": true, "result": false, "--": false, "": false,
	} {
		if got := mention(list, strings.Fields(names)); got != want {
			t.Errorf("%q: %v", names, got)
		}
	}
}
