package typescript

import (
	"encoding/json"
	"regexp"
	"strings"
)

// numericTags are the tags with a numeric value; each is a keyword.
const numericTags = " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties "

// describe adds the content of a doc comment to a schema.
func (e *emitter) describe(s schema, doc *comment) (schema, error) {
	if doc == nil {
		return s, nil
	}
	if err := e.spend(doc.place, searched(len(doc.text))); err != nil {
		return nil, err
	}
	var text []string
	var fields schema
	integer, tags := false, false
	for _, part := range doc.parts() {
		line := cleanLine(part.text)
		if !strings.HasPrefix(line, "@") {
			if !tags { // text after a tag belongs to the tag
				text = append(text, line)
			}
			continue
		}
		tags = true
		tag, value, _ := strings.Cut(line[1:], " ")
		value = strings.TrimSpace(value)
		at := part.at
		switch {
		case strings.Contains(numericTags, " "+tag+" "):
			if !json.Valid([]byte(value)) || strings.ContainsAny(value[:1], `"[{tfn`) {
				return nil, at.errorf("@%s needs a number, not %q", tag, value)
			}
			fields.set(tag, value)
		case tag == "format" || tag == "pattern" || tag == "title":
			if value == "" {
				return nil, at.errorf("@%s needs a value", tag)
			}
			fields.set(tag, quote(value))
		case tag == "uniqueItems" && (value == "" || value == "true"), tag == "deprecated":
			fields.set(tag, "true")
		case tag == "default":
			if !json.Valid([]byte(value)) {
				value = quote(value)
			}
			fields.set(tag, value)
		case tag == "integer", (tag == "asType" || tag == "TJS-type") && value == "integer":
			integer = true
		}
	}
	if integer {
		i := 0
		for i < len(s) && (s[i].key != "type" || s[i].value != `"number"`) {
			i++
		}
		if i == len(s) {
			return nil, doc.errorf("@integer is for a number")
		}
		s[i].value = `"integer"`
	}
	if description := strings.TrimSpace(strings.Join(text, "\n")); description != "" {
		s.set("description", quote(description))
	}
	for _, f := range fields {
		s.set(f.key, f.value)
	}
	return s, nil
}

// A part is a line of a comment, or what of it begins with a tag.
type part struct {
	text string
	at   place // of its first @
}

var (
	// otherTags stand behind another tag: @minimum 0 @maximum 9.
	otherTags = regexp.MustCompile(`\s@(?:\w*(?:inimum|aximum|Length|Items|Properties)|multipleOf|title|format|pattern|default|deprecated|integer|asType|TJS-type)\b`)
	// saidTags stand behind words, where only a number makes them tags: the age @minimum 0.
	saidTags = regexp.MustCompile(`\s@(?:\w*(?:inimum|aximum|Length|Items|Properties)|multipleOf) +-?[0-9]`)
)

// parts returns the lines of a comment, those with several tags in parts.
func (c *comment) parts() (out []part) {
	for i, line := range strings.Split(c.text, "\n") {
		begins := 0
		for begins >= 0 {
			text, rest := line[begins:], -1
			tags, from := saidTags, 0
			if strings.HasPrefix(cleanLine(text), "@") {
				tags, from = otherTags, strings.Index(text, "@")+1
			}
			if loc := tags.FindStringIndex(text[from:]); loc != nil {
				rest = begins + from + loc[0]
				text = line[begins:rest]
			}
			at := place{c.line + i, max(begins+strings.Index(text, "@")+1, 1)}
			if i == 0 {
				at.column += c.column + len("/**") - 1
			}
			out, begins = append(out, part{text, at}), rest
		}
	}
	return out
}

// cleanLine removes the star and the surrounding space from a line of a comment.
func cleanLine(line string) string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "*")
	return strings.TrimSpace(line)
}
