package schema

import (
	"errors"
	"slices"

	"stencil/regular"
)

// formats are those that the specification defines.
var formats = []string{
	"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
	"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer",
	"relative-json-pointer", "regex",
}

func (d *document) checkFormat(n *node, format string, lang *languages) {
	if _, ok := lang.format(format); ok {
		return
	}
	at := n.val.get("format")
	if slices.Contains(formats, format) {
		d.cannot(n, "format", at, "the format is no regular language", "use a pattern")
		return
	}
	issue := Issue{Pointer: n.pointer() + "/format", Keyword: "format", Value: short(at), Reason: "unknown format, taken as an annotation"}
	if hint := nearest(format, formats); hint != "" {
		issue.Hint = "did you mean " + hint + "?"
	}
	d.warn(issue, at)
}

func (d *document) patternError(n *node, keyword string, v *value, err error) {
	var unsupported *regular.UnsupportedError
	if errors.As(err, &unsupported) {
		d.cannot(n, keyword, v, err.Error(), "")
		return
	}
	var limit *regular.LimitError
	if errors.As(err, &limit) {
		d.cannot(n, keyword, v, err.Error(), "")
		return
	}
	d.bad(n, keyword, v, "%v", err)
}
