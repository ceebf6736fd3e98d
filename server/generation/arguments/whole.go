package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/server/wire"
)

// ObjectOnly returns a schema restricted to objects, nil if it already is.
func ObjectOnly(src json.RawMessage) (json.RawMessage, error) {
	if o, err := wire.ParseObject(src, ""); err == nil && string(o.Members["type"]) == `"object"` {
		return nil, nil
	}
	return Within(src, `"type":"object"`)
}

// Within returns the schema of what fits both a schema and other keywords.
func Within(src json.RawMessage, keywords string) (json.RawMessage, error) {
	o, err := wire.ParseObject(src, "")
	if err != nil { // true or false
		return json.RawMessage(fmt.Sprintf(`{%s,"allOf":[%s]}`, keywords, src)), nil
	}
	inside := src
	if !o.Given("$id") && !o.Given("id") {
		// With an identifier, its references keep their meaning.
		var b bytes.Buffer
		b.WriteString(`{"$id":"tool:///arguments"`)
		for _, key := range o.Names {
			quoted, err := wire.Marshal(key)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&b, ",%s:%s", quoted, o.Members[key])
		}
		b.WriteByte('}')
		inside = b.Bytes()
	}
	draft := ""
	if o.Given("$schema") {
		draft = fmt.Sprintf(`"$schema":%s,`, o.Members["$schema"])
	}
	return json.RawMessage(fmt.Sprintf(`{%s%s,"allOf":[%s]}`, draft, keywords, inside)), nil
}

// Described reports whether a schema describes something in words: what a model can't know from names that masks lead it to.
func Described(src json.RawMessage) bool {
	var whole any
	if json.Unmarshal(src, &whole) != nil {
		return false
	}
	var visit func(node any) bool
	visit = func(node any) bool {
		switch node := node.(type) {
		case []any:
			return slices.ContainsFunc(node, visit)
		case map[string]any:
			if text, _ := node["description"].(string); strings.TrimSpace(text) != "" {
				return true
			}
			for key, value := range node {
				switch key {
				case "enum", "const", "default", "examples", "example": // values, not schemas
				default:
					if visit(value) {
						return true
					}
				}
			}
		}
		return false
	}
	return visit(whole)
}
