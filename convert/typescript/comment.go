package typescript

import (
	"encoding/json"
	"strings"
)

// numericTags are the tags with a numeric value; each is a keyword.
const numericTags = " minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties "

// describe adds the content of a doc comment to a schema.
func describe(s schema, doc *comment) (schema, error) {
	if doc == nil {
		return s, nil
	}
	var text []string
	var fields schema
	integer, tags := false, false
	lines := strings.Split(doc.text, "\n")
	for i := 0; i < len(lines); i++ {
		line := cleanLine(lines[i])
		if !strings.HasPrefix(line, "@") {
			if !tags { // text after a tag belongs to the tag
				text = append(text, line)
			}
			continue
		}
		tags = true
		tag, value, _ := strings.Cut(line[1:], " ")
		value = strings.TrimSpace(value)
		at := place{doc.line + i, max(strings.Index(lines[i], "@")+1, 1)}
		if i == 0 {
			at.column += doc.column + len("/**") - 1
		}
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

// cleanLine removes the star and the surrounding space from a line of a comment.
func cleanLine(line string) string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "*")
	return strings.TrimSpace(line)
}
