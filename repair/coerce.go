package repair

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/stencil-json/stencil/schema"
)

// Check validates a document. It returns the validation errors, none if the document
// is valid, or an error if it cannot be validated.
type Check func(document []byte) ([]schema.Issue, error)

// maxCoercions is the maximum number of changed values in a document.
const maxCoercions = 256

// coerce converts values of the wrong type if the conversion is lossless and the only
// one that helps: a string that contains a number, a boolean or a document; a number
// or boolean where a string is required; a single value where an array of such values
// is required. It returns the document, the edits and the remaining validation
// errors.
//
// Check decides whether a conversion helps, so every schema keyword is taken into
// account.
func coerce(document []byte, issues []schema.Issue, check Check) ([]byte, []Edit, []schema.Issue) {
	var edits []Edit
	for len(issues) > 0 && len(edits) < maxCoercions {
		next, edit, left, ok := coerceOne(document, issues, check)
		if !ok {
			break
		}
		document, issues = next, left
		edits = append(edits, edit)
	}
	return document, edits, issues
}

// coerceOne converts one value that an issue is about.
func coerceOne(document []byte, issues []schema.Issue, check Check) ([]byte, Edit, []schema.Issue, bool) {
	places := map[string]span{}
	for _, issue := range issues {
		places[issue.Pointer] = span{}
	}
	// walk doesn't fail, since the document is JSON; otherwise the part before an error
	// could be coerced.
	_ = walk(document, func(v visit) {
		if _, wanted := places[v.pointer]; wanted {
			places[v.pointer] = span{v.start, v.end}
		}
	})
	tried := map[string]bool{}
	for _, issue := range issues {
		place := places[issue.Pointer]
		if place.end == 0 || tried[issue.Pointer] {
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
			if err != nil {
				return nil, Edit{}, nil, false
			}
			if !fewer(found, issues) || within(found, issue.Pointer) {
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

// listed is the number of issues that package validator lists at most.
const listed = 32

// fewer reports whether fewer issues are left. Of a list that is full, further ones may have moved up.
func fewer(left, before []schema.Issue) bool {
	if len(left) != len(before) || len(before) < listed {
		return len(left) < len(before)
	}
	known := map[string]bool{}
	for _, i := range before {
		known[i.Pointer] = true
	}
	for _, i := range left[:len(left)-1] {
		if !known[i.Pointer] { // one within the list is new, so that it comes from the conversion
			return false
		}
	}
	return !known[left[len(left)-1].Pointer]
}

// within reports whether an issue is about a value or a part of it.
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

// A change is a lossless conversion of a value.
type change struct{ text, step, note string }

// maxNumber is the maximum length of a number: most parsers would round a longer one.
const maxNumber = 17

var spelledNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// changes returns the lossless conversions of a value. The notation of a number is
// kept.
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
