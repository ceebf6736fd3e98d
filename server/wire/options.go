package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

var pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")

// maxAlternatives is the largest enumeration whose distribution is reported.
const maxAlternatives = 64

// Enumerations finds the values of a document whose schema enumerates them.
type Enumerations struct {
	once sync.Once
	root any
}

// Read parses the schema, unless one has been read already.
func (e *Enumerations) Read(document []byte) {
	e.once.Do(func() {
		d := json.NewDecoder(bytes.NewReader(document))
		d.UseNumber()
		if d.Decode(&e.root) != nil {
			e.root = nil
		}
	})
}

// At returns the alternatives of the leaf at a pointer, as JSON; nil if its
// schema does not enumerate them.
func (e *Enumerations) At(pointer string) []string {
	schemas := e.flat(nil, e.root, 0)
	for _, part := range strings.Split(pointer, "/")[1:] {
		part = pointerUnescape.Replace(part)
		var next []map[string]any
		for _, s := range schemas {
			next = e.flat(next, below(s, part), 0)
		}
		schemas = next
	}
	return alternatives(schemas)
}

// flat appends a schema and all schemas that it refers to or combines.
func (e *Enumerations) flat(list []map[string]any, node any, depth int) []map[string]any {
	const deepest, most = 16, 256
	s, ok := node.(map[string]any)
	if !ok || depth > deepest || len(list) > most {
		return list
	}
	list = append(list, s)
	if ref, ok := s["$ref"].(string); ok {
		list = e.flat(list, e.resolve(ref), depth+1)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := s[key].([]any)
		for _, p := range parts {
			list = e.flat(list, p, depth+1)
		}
	}
	return list
}

// resolve follows a reference within the document.
func (e *Enumerations) resolve(ref string) any {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if path, ok = strings.CutPrefix(path, "/"); !ok {
		return e.root
	}
	node := e.root
	for _, part := range strings.Split(path, "/") {
		part = pointerUnescape.Replace(part)
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		switch n := node.(type) {
		case map[string]any:
			node = n[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(n) {
				return nil
			}
			node = n[i]
		default:
			return nil
		}
	}
	return node
}

// below returns the subschema of a member or item.
func below(s map[string]any, part string) any {
	if properties, ok := s["properties"].(map[string]any); ok && properties[part] != nil {
		return properties[part]
	}
	if i, err := strconv.Atoi(part); err == nil {
		if prefix, ok := s["prefixItems"].([]any); ok && i < len(prefix) {
			return prefix[i]
		}
		if items := s["items"]; items != nil {
			if list, ok := items.([]any); ok {
				if i < len(list) {
					return list[i]
				}
				return s["additionalItems"]
			}
			return items
		}
	}
	return s["additionalProperties"]
}

// alternatives returns the union of the values that schemas enumerate. The type
// boolean enumerates two values. A schema that leaves the value open, such as a
// union with a plain string, makes the result nil.
func alternatives(schemas []map[string]any) []string {
	var out []string
	seen := map[string]bool{}
	add := func(v any) {
		text, err := Marshal(v)
		if err == nil && !seen[string(text)] {
			seen[string(text)] = true
			out = append(out, string(text))
		}
	}
	for _, s := range schemas {
		if list, ok := s["enum"].([]any); ok {
			for _, v := range list {
				if add(v); len(out) > maxAlternatives {
					return nil
				}
			}
			continue
		}
		if v, ok := s["const"]; ok {
			add(v)
			continue
		}
		types, _ := s["type"].([]any)
		if t, ok := s["type"]; ok && types == nil {
			types = []any{t}
		}
		for _, t := range types {
			switch t {
			case "boolean":
				add(true)
				add(false)
			case "null":
				add(nil)
			default:
				return nil
			}
		}
	}
	if len(out) > maxAlternatives {
		return nil
	}
	return out
}
