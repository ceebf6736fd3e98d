package syntax

import (
	"slices"
	"strings"

	"stencil/schema/jsondoc"
)

// annotations are keywords that say nothing about which values are valid.
var annotations = []string{
	"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment",
	"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
	"contentEncoding", "contentMediaType", "contentSchema",
}

// Assertions are the keywords that a schema can be misspelling.
var Assertions = []string{
	"type", "enum", "const", "properties", "patternProperties", "additionalProperties", "propertyNames",
	"required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
	"unevaluatedProperties", "prefixItems", "items", "additionalItems", "contains", "minContains",
	"maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems", "minLength", "maxLength",
	"pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef",
	"$defs", "definitions",
}

// unknown deals with a keyword that the draft doesn't know: an annotation,
// unless it looks like a misspelling.
func (d *Document) unknown(n *Node, key string, v *jsondoc.Value) {
	if slices.Contains(annotations, key) || strings.HasPrefix(key, "x-") || slices.Contains(Assertions, key) {
		return
	}
	hint := nearest(key, Assertions)
	if hint == "" {
		return
	}
	issue := d.Locate(Issue{
		Pointer: n.Pointer() + "/" + jsondoc.EscapePointer(key), Keyword: key, Value: short(v),
		Reason: "unknown keyword", Hint: "did you mean " + hint + "?",
	}, v)
	if d.strict {
		d.Invalid = append(d.Invalid, issue)
	} else {
		d.Warnings = append(d.Warnings, issue)
	}
}

// nearest returns the word that differs from key by at most two edits (one
// for short words) and isn't equal, or "".
func nearest(key string, words []string) string {
	limit := 2
	if len(key) < 6 {
		limit = 1
	}
	best := ""
	for _, w := range words {
		if d := len(w) - len(key); d > limit || -d > limit {
			continue
		}
		if n := editDistance(key, w, limit); n <= limit {
			limit, best = n-1, w
		}
	}
	return best
}

// editDistance returns the optimal string alignment distance of a and b:
// insertions, deletions, substitutions, and swaps of neighbours, ignoring
// case. Results above limit are not exact.
func editDistance(a, b string, limit int) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	var rows [3][64]int
	if len(a) >= 64 || len(b) >= 64 {
		return limit + 1
	}
	for j := 0; j <= len(b); j++ {
		rows[0][j] = j
	}
	before, last, row := &rows[2], &rows[0], &rows[1]
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
