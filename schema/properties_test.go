package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestManyProperties checks that what objects cost is in proportion to their number of properties: in bytes that are
// allocated, which are much the same in each run and were quadratic where the time was.
func TestManyProperties(t *testing.T) {
	for name, c := range map[string]struct {
		rest  string // of the schema, of whose names %s is a list
		order Order
	}{
		"optional":                {``, OrderSchema},
		"closed":                  {`, "additionalProperties": false`, OrderSchema},
		"required":                {`, "required": [%s]`, OrderSchema},
		"optional, in any order":  {``, OrderAny},
		"patterns":                {`, "patternProperties": {"^q": {"type": "string"}}`, OrderSchema},
		"dependent":               {`, "dependentRequired": {"p0": ["p1"]}`, OrderSchema},
		"at least one, in places": {`, "minProperties": 1`, OrderSchema},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				var props, names []string
				for i := range n {
					props = append(props, fmt.Sprintf(`"p%d": {"type": "integer"}`, i))
					names = append(names, fmt.Sprintf(`"p%d"`, i))
				}
				src := `{"type": "object", "properties": {` + strings.Join(props, ", ") + "}" + strings.ReplaceAll(c.rest, "%s", strings.Join(names, ", ")) + "}"
				v := byteVocab(t)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				m := grammar(t, v, src, Options{Order: c.order}).NewMatcher()
				for _, token := range v.TokenizeText(nil, []byte(`{"p0":12,"p1":3`)) {
					if _, err := m.Mask(); err != nil {
						t.Fatal(err)
					}
					if err := m.Accept(token); err != nil {
						t.Fatal(err)
					}
					m.Remaining()
				}
				runtime.ReadMemStats(&after)
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			cost(500)
			if few, many := cost(1000), cost(8000); many > 12*few {
				t.Errorf("8,000 properties cost %.1f times what 1,000 do: %.0f MB", many/few, many/1e6)
			}
		})
	}
}
