package repair

import (
	"encoding/json"
	"regexp"
	"strings"

	"stencil/schema"
)

// Check says what is wrong with a document: nothing, a list of places, or an
// error if there is no verdict.
type Check func(document []byte) ([]schema.Issue, error)

// maxCoercions bounds the values of one document that are changed.
const maxCoercions = 256

// Coerce changes values that are of another type than the schema has into what
// they say, where nothing is lost and only one change helps: a string that
// spells a number, a boolean or a document; a number or boolean where its
// spelling is wanted; a single value where an array of it is. It returns the
// document, the edits and what is still wrong with it.
//
// The check decides what is wanted, so whatever a schema says is understood,
// by the same judge that has the last word.
func Coerce(document []byte, check Check) ([]byte, []Edit, []schema.Issue, error) {
	issues, err := check(document)
	var edits []Edit
	for len(issues) > 0 && err == nil && len(edits) < maxCoercions {
		next, edit, left, ok := coerceOne(document, issues, check)
		if !ok {
			break
		}
		document, issues = next, left
		edits = append(edits, edit)
	}
	return document, edits, issues, err
}

// coerceOne changes one value that an issue is about.
func coerceOne(document []byte, issues []schema.Issue, check Check) ([]byte, Edit, []schema.Issue, bool) {
	places := map[string]span{}
	_ = walk(document, func(v visit) { places[v.pointer] = span{v.start, v.end} })
	tried := map[string]bool{}
	for _, issue := range issues {
		place, ok := places[issue.Pointer]
		if !ok || tried[issue.Pointer] {
			continue
		}
		tried[issue.Pointer] = true
		value := string(document[place.start:place.end])
		var good []change
		var result []byte
		var left []schema.Issue
		for _, c := range changes(value) {
			next := splice(document, place, c.text)
			found, err := check(next)
			if err != nil || len(found) >= len(issues) || within(found, issue.Pointer) {
				continue
			}
			good = append(good, c)
			result, left = next, found
		}
		if len(good) == 1 {
			return result, Edit{Step: good[0].step, Pointer: issue.Pointer, Note: good[0].note}, left, true
		}
	}
	return nil, Edit{}, nil, false
}

// within reports whether an issue is about a value or something in it.
func within(issues []schema.Issue, pointer string) bool {
	for _, i := range issues {
		if i.Pointer == pointer || strings.HasPrefix(i.Pointer, pointer+"/") {
			return true
		}
	}
	return false
}

func splice(document []byte, place span, text string) []byte {
	out := append([]byte(nil), document[:place.start]...)
	out = append(out, text...)
	return append(out, document[place.end:]...)
}

// A change is another way of saying what a value says.
type change struct{ text, step, note string }

// maxNumber is the length up to which a spelling is taken for a number: what
// is longer would be another number to most readers.
const maxNumber = 17

var spelledNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// changes returns what a value can be changed to without loss. The spelling of
// a number is kept.
func changes(value string) (out []change) {
	switch {
	case value[0] == '"':
		text, ok := decodeString(value)
		if !ok {
			return nil
		}
		switch {
		case spelledNumber.MatchString(text) && len(text) <= maxNumber && text != "-0":
			out = append(out, change{text, StepCoercion, "string to number"})
		case text == "true" || text == "false":
			out = append(out, change{text, StepCoercion, "string to boolean"})
		case text == "null":
			out = append(out, change{text, StepCoercion, "string to null"})
		case parses(text) && strings.IndexByte("{[", strings.TrimSpace(text)[0]) >= 0 && !repeated([]byte(text)):
			out = append(out, change{text, StepUnwrapping, "string to the document it holds"})
		}
	case value[0] == 't' || value[0] == 'f':
		out = append(out, change{`"` + value + `"`, StepCoercion, "boolean to string"})
	case isDigit(value[0]) || value[0] == '-':
		quoted, _ := json.Marshal(value)
		out = append(out, change{string(quoted), StepCoercion, "number to string"})
	}
	if value[0] != '[' && value != "null" {
		for _, c := range out {
			out = append(out, change{"[" + c.text + "]", StepWrapping, c.note + ", in an array of its own"})
		}
		out = append(out, change{"[" + value + "]", StepWrapping, "put into an array of its own"})
	}
	return out
}
