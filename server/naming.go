package server

import (
	"encoding/json"
	"strings"
	"unicode"

	"stencil/chat"
)

// namingSteps bounds how many subschemas outerNames looks at: references can
// lead in circles.
const namingSteps = 1000

// outerNames returns the names of the properties of a schema's outermost
// objects: those of the document itself, of the items of a list, of each
// alternative. There are none in a schema that it can't follow.
func outerNames(schema json.RawMessage) []string {
	var root any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	var out []string
	steps := 0
	var visit func(node any)
	visit = func(node any) {
		object, _ := node.(map[string]any)
		if steps++; object == nil || steps > namingSteps {
			return
		}
		if properties, ok := object["properties"].(map[string]any); ok && len(properties) > 0 {
			for name := range properties {
				out = append(out, name)
			}
			return
		}
		if ref, ok := object["$ref"].(string); ok {
			visit(refer(root, ref))
		}
		visit(object["items"])
		for _, keyword := range []string{"prefixItems", "allOf", "anyOf", "oneOf"} {
			list, _ := object[keyword].([]any)
			for _, one := range list {
				visit(one)
			}
		}
	}
	visit(root)
	return out
}

// refer returns what a reference within the document leads to; nil: nothing.
func refer(root any, ref string) any {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	for _, step := range strings.Split(path, "/") {
		object, _ := root.(map[string]any)
		root = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return root
}

// mention reports whether the texts of a conversation have all of some names, and
// there are any. Case, and what is neither letter nor digit, doesn't count:
// firstName, first_name and "first name" are the same.
func mention(list []chat.Message, names []string) bool {
	var b strings.Builder
	for i := range list {
		b.WriteString(lettersOf(list[i].Content))
		for _, part := range list[i].Parts {
			b.WriteString(lettersOf(part.Text))
		}
		b.WriteByte(' ')
	}
	text := b.String()
	for _, name := range names {
		if letters := lettersOf(name); letters == "" || !strings.Contains(text, letters) {
			return false
		}
	}
	return len(names) > 0
}

func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
