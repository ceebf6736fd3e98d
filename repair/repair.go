package repair

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Hints are additional information about a text.
type Hints struct {
	Fits Fits // nil: no format is known
	// Ended means that the model ended the text, so that a number at its end is
	// complete.
	Ended bool
	// Cut means that the text was truncated, so that more than brackets may be
	// missing at its end.
	Cut bool
}

// Repair returns the intended document of a broken text, and the changes made. It
// returns an error if the intended document is ambiguous. A text that parses is
// returned unchanged. Without Hints.Fits, texts with more than one reading are
// rejected, and so are values without quotes.
func Repair(text string, hints Hints) ([]byte, []Edit, error) {
	if parses(text) {
		return []byte(text), nil, nil
	}
	if len(text) > maxText {
		return nil, nil, errTooLong
	}
	if inner, ok := unescaped(text); ok {
		return []byte(inner), []Edit{{Step: StepEscaped, Note: "one level of escapes taken away"}}, nil
	}
	return read(text, hints)
}

// read returns the only reading of a text with the least cost, or the only one of
// these that fits.
func read(text string, hints Hints) ([]byte, []Edit, error) {
	begin := strings.IndexAny(text, "{[")
	s, err := readings(text, hints)
	if err == errNothing && begin > 0 && prose(text[:begin]) && !strings.ContainsAny(text[:begin], `"`) {
		document, edits, err := read(text[begin:], hints)
		if err != nil {
			return nil, nil, err
		}
		for i := range edits {
			edits[i].Offset += begin
		}
		return document, append([]Edit{{Step: StepSurround, Note: "dropped"}}, edits...), nil
	}
	if err != nil {
		return nil, nil, err
	}
	if s.crowded {
		return nil, nil, errTooMany
	}
	var good []reading
	for _, r := range s.found {
		document := s.document(r)
		if !parses(string(document)) || repeated(document) {
			continue
		}
		if hints.Fits == nil || len(s.found) == 1 && !r.guess || hints.Fits(document) {
			good = append(good, r)
		}
	}
	if len(good) > 1 {
		good = alike(s, good)
	}
	switch {
	case len(good) == 0:
		return nil, nil, errNothing
	case len(good) > 1:
		return nil, nil, errUnclear
	case good[0].guess && hints.Fits == nil:
		return nil, nil, errUnquoted
	}
	return s.document(good[0]), s.changes(good[0]), nil
}

// unescaped returns the document in a text in which every quote is escaped.
func unescaped(text string) (string, bool) {
	t := strings.TrimSpace(text)
	if !strings.Contains(t, `\"`) || strings.Contains(strings.ReplaceAll(strings.ReplaceAll(t, `\\`, ``), `\"`, ``), `"`) {
		return "", false
	}
	inner, ok := decodeString(`"` + t + `"`)
	return inner, ok && parses(inner)
}

// alike returns the only reading in which the objects of every array have the same
// keys, if there is one: if only closing brackets are missing, records of the same
// shape are not split.
func alike(s *search, list []reading) []reading {
	var good []reading
	for _, r := range list {
		for _, e := range s.changes(r) {
			if e.Step == StepBracket && e.Note != "} added" && e.Note != "] added" {
				return list
			}
		}
		if uniform(s.document(r)) {
			good = append(good, r)
		}
	}
	if len(good) == 1 {
		return good
	}
	return list
}

// uniform reports whether the objects within each array of a document have the
// same keys.
func uniform(document []byte) bool {
	var v any
	return json.Unmarshal(document, &v) == nil && uniformValue(v)
}

func uniformValue(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if !uniformValue(x) {
				return false
			}
		}
	case []any:
		var keys []string
		for i, x := range v {
			if !uniformValue(x) {
				return false
			}
			object, _ := x.(map[string]any)
			own := slices.Sorted(maps.Keys(object))
			if i > 0 && !slices.Equal(own, keys) {
				return false
			}
			keys = own
		}
	}
	return true
}
