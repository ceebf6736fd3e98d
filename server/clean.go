package server

import (
	"encoding/json"
	"strings"

	"stencil/engine"
	"stencil/schema"
)

// clean finds the JSON document in a text that was written without masks: the
// text itself, what stands in a code fence, or from the first bracket to where
// the document that begins there ends. It changes nothing within the document,
// and returns the text, trimmed, when there is none.
func clean(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return text
	}
	if _, rest, ok := strings.Cut(text, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n") // the name of a language
		inside, _, _ := strings.Cut(rest, "```")
		if inside = strings.TrimSpace(inside); json.Valid([]byte(inside)) {
			return inside
		}
	}
	for i, c := range text {
		if c != '{' && c != '[' {
			continue
		}
		var document json.RawMessage
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&document) == nil {
			return string(document)
		}
	}
	return text
}

// afterwards makes of a rule one that is not enforced but only checked, on what
// is left of the text when it has been cleaned.
func (r *rule) afterwards() *rule {
	out := &rule{kind: r.kind, report: r.report, instruction: r.instruction, document: r.document, check: r.check, free: true}
	out.report.Enforced = nil
	for _, keyword := range r.report.Enforced {
		out.report.Checked = append(out.report.Checked, schema.Issue{Keyword: keyword, Reason: "constrained_decoding is false"})
	}
	return out
}

// noConstraint stands for the part of a result that only constrained texts have.
var noConstraint engine.ConstraintResult
