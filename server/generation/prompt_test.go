package generation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
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
