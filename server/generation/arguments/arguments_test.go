package arguments

import (
	"encoding/json"
	"fmt"
	"testing"
)

// TestRead checks that members behind references keep their order and their numbers.
func TestRead(t *testing.T) {
	src := json.RawMessage(`{"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"properties": {"z": {"const": 12345678901234567890}, "a": {"$ref": "#/$defs/c"}, "m": true}, "required": ["z"]}, "c": {"enum": [1.10]}}}`)
	p := &properties{schemas: map[string]json.RawMessage{}}
	if err := json.Unmarshal(src, &p.root); err != nil {
		t.Fatal(err)
	}
	p.read(src, true)
	if got, want := fmt.Sprint(p.names, p.required), "[z a m] [z]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(p.schemas["z"]), `{"const": 12345678901234567890}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(p.refer(p.schemas["a"])), `{"enum": [1.10]}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, ref := range []string{"#/$defs/none", "#/$defs/c/enum/x", "other.json", "#"} {
		if to := Target(p.root, ref); to != nil {
			t.Errorf("%s: %s", ref, to)
		}
	}
	if len(p.root) != 2 {
		t.Errorf("the root has become %v", p.root)
	}
}

func TestDescribed(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"properties": {"a": {"description": "who"}}}`: true, `{"anyOf": [true, {"items": {"description": "x"}}]}`: true, `{"description": "A person."}`: true,
		`{"properties": {"description": {"type": "string"}}}`: false, `{"enum": [{"description": "x"}], "default": {"description": "y"}}`: false, `{"description": " "}`: false,
		`{"properties": {"a": {}}}`: false, `true`: false, `{`: false, `{"$defs": {"x": {"description": "y"}}}`: true,
	} {
		if got := Described([]byte(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}
