package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestValidatorIsBounded checks that validation ends even for schemas whose
// evaluation explodes: with a verdict, or with a warning.
func TestValidatorIsBounded(t *testing.T) {
	doubling := map[string]any{"a0": map[string]any{"type": "integer"}}
	for i := range 40 {
		ref := map[string]any{"$ref": fmt.Sprintf("#/$defs/a%d", i)}
		doubling[fmt.Sprintf("a%d", i+1)] = map[string]any{"allOf": []any{ref, ref}}
	}
	const slow = `{"const":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaac","pattern":"^(?:(a+)+b|a+c)$"}`
	defs, err := json.Marshal(doubling)
	if err != nil {
		t.Fatal(err)
	}
	_, url := start(t, setup{})
	for _, test := range []struct {
		name, schema string
		tokens       int
		verdict      any
	}{
		{"many ways to one subschema", `{"$defs": ` + string(defs) + `, "$ref": "#/$defs/a40"}`, 20, true},
		{"a pattern that backtracks elsewhere", `{"type": "array", "minItems": 20, "maxItems": 20, "items": ` + slow + `}`, 1500, true},
		{"ten of them", `{"allOf": [` + strings.Repeat(slow+",", 9) + slow + `]}`, 100, true},
	} {
		body := fmt.Sprintf(`{"prompt": "x", "max_tokens": %d, "schema": %s}`, test.tokens, test.schema)
		status, _, got := post(t, url+"/generate_json", body)
		if status != 200 || at(got, "constraint", "validated") != test.verdict {
			t.Errorf("%s: %d, validated %v: %.500v", test.name, status, at(got, "constraint", "validated"), got)
		}
	}
}
