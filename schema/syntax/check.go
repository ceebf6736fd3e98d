package syntax

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/language"
)

// CheckTexts checks all patterns and formats, so that everything that can't be
// enforced is reported at once.
func (d *Document) CheckTexts(lang *language.Pool) {
	check := func(n *Node, keyword, text string, v *jsondoc.Value) {
		e, err := lang.Pattern(text)
		switch {
		case err != nil:
			d.patternError(n, keyword, v, err)
		case lang.Least(e) > MaxMinLength:
			if m, err := lang.Machine(e); err == nil && m.Start() == regular.Dead {
				return // no string at all: not a demand for too much
			}
			d.cannot(n, keyword, v, fmt.Sprintf("strings of more than %d characters can't be made sure of", MaxMinLength), "")
		}
	}
	for _, n := range d.Nodes {
		if k := n.String; k != nil {
			if k.HasPattern {
				check(n, "pattern", k.Pattern, n.Value.Get("pattern"))
			}
			if k.Format != "" {
				d.checkFormat(n, k.Format, lang)
			}
		}
		if n.Object != nil {
			for _, p := range n.Object.Patterns {
				check(n, "patternProperties", p.Name, n.Value.Get("patternProperties"))
			}
		}
	}
}

// formats lists the formats that the specification defines.
var formats = []string{
	"date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6",
	"uri", "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer",
	"relative-json-pointer", "regex",
}

func (d *Document) checkFormat(n *Node, format string, lang *language.Pool) {
	if _, ok := lang.Format(format); ok {
		return
	}
	at := n.Value.Get("format")
	if slices.Contains(formats, format) {
		d.cannot(n, "format", at, "the format is no regular language", "use a pattern")
		return
	}
	issue := Issue{Pointer: n.Pointer() + "/format", Keyword: "format", Value: short(at), Reason: "unknown format, taken as an annotation"}
	if hint := similar(format, formats); hint != "" {
		issue.Hint = "did you mean " + hint + "?"
	}
	d.warn(issue, at)
}

func (d *Document) patternError(n *Node, keyword string, v *jsondoc.Value, err error) {
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

// Maximum lower bounds of a schema. Beyond them, the shortest document is
// useless, and finding it would take long: where required values must differ,
// the time is quadratic in their number.
const (
	MaxMinLength   = 1 << 16
	MaxMinItems    = 1 << 16
	MaxMinDistinct = 256
)

// CheckSizes reports demands for too much as unsupported.
func (d *Document) CheckSizes() {
	check := func(n *Node, keyword string, size *int, most int, what string) {
		if *size > most {
			d.cannot(n, keyword, n.Value.Get(keyword), fmt.Sprintf("more than %d %s can't be made sure of", most, what), "")
			*size = 0
		}
	}
	for _, n := range d.Nodes {
		if k := n.String; k != nil {
			check(n, "minLength", &k.Min, MaxMinLength, "characters")
		}
		if k := n.Object; k != nil {
			check(n, "minProperties", &k.Min, MaxMinDistinct, "properties")
		}
		if k := n.Array; k != nil {
			if k.Unique {
				check(n, "minItems", &k.Min, MaxMinDistinct, "different items")
			}
			check(n, "minItems", &k.Min, MaxMinItems, "items")
			if k.Contains != nil {
				check(n, "minContains", &k.MinContains, MaxMinDistinct, "items of a kind")
			}
		}
	}
}
