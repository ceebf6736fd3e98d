package syntax

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/nearest"
)

// annotations are keywords that have no effect on which values are valid.
var annotations = []string{
	"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment",
	"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
	"contentEncoding", "contentMediaType", "contentSchema",
}

// Assertions are the keywords that an unknown keyword may be a misspelling of.
var Assertions = []string{
	"type", "enum", "const", "properties", "patternProperties", "additionalProperties", "propertyNames",
	"required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
	"unevaluatedProperties", "prefixItems", "items", "additionalItems", "contains", "minContains",
	"maxContains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems", "minLength", "maxLength",
	"pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "$dynamicRef", "$recursiveRef",
	"$defs", "definitions",
}

// known holds the annotations and assertions.
var known = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range slices.Concat(annotations, Assertions) {
		m[k] = true
	}
	return m
}()

// unknown handles a keyword that the draft doesn't define: it is an annotation,
// unless it looks like a misspelling.
func (d *Document) unknown(n *Node, key string, v *jsondoc.Value) {
	if key == "description" || key == "title" || known[key] || strings.HasPrefix(key, "x-") {
		return
	}
	if key == "" {
		return
	}
	at := &d.strange[hashOf(key)%uint(len(d.strange))]
	if *at == key {
		return
	}
	hint := similar(key, Assertions)
	if hint == "" {
		*at = key
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

// similar returns the word that differs from key by at most two edits (one for
// short keys), ignoring case, or "".
func similar(key string, words []string) string {
	limit := 2
	if len(key) < 6 {
		limit = 1
	}
	lower := strings.ToLower(key)
	letters := lettersOf(lower)
	best := ""
	for _, w := range words {
		if d := len(w) - len(lower); d > limit || -d > limit {
			continue // an edit changes the length by one at most
		}
		if bits.OnesCount32(letters^lettersOf(w)) > 2*limit {
			continue // and the set of letters by two
		}
		if n := nearest.Distance(lower, strings.ToLower(w)); n <= limit {
			limit, best = n-1, w
		}
	}
	return best
}

// lettersOf returns the set of bytes in a word, ignoring case, some of which share a bit.
func lettersOf(word string) (set uint32) {
	for i := range len(word) {
		set |= 1 << (word[i] & 31)
	}
	return set
}
