package repair

import (
	"strings"
	"unicode"
)

// prose reports whether the text beside a document is prose about it rather than part
// of a broken document.
func prose(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return true
	}
	letters, worded := 0, false
	for _, r := range text {
		switch {
		case unicode.IsLetter(r):
			if letters++; letters >= 2 {
				worded = true
			}
		case r == '{' || r == '}':
			return false
		default:
			letters = 0
		}
	}
	return worded && strings.IndexByte(",]:\"'", text[0]) < 0
}

// region returns the end of the bracketed text that starts at src[0], ignoring
// brackets within strings; 0 if its brackets don't close.
func region(src string) int {
	var open []byte
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '"':
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			if open[len(open)-1] != c {
				return 0
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// A span is a part of a text.
type span struct{ start, end int }

// maxStray is how many unbalanced brackets prose may have: each costs a scan of the
// whole text.
const maxStray = 16

// documents returns the JSON documents (objects and arrays) in a text, and whether the
// rest of the text could be prose about them.
func documents(text string) (found []span, clean bool) {
	outside := strings.Builder{}
	last, failed := 0, 0
	for i := 0; i < len(text); i++ {
		if text[i] != '{' && text[i] != '[' {
			continue
		}
		n := region(text[i:])
		if n == 0 {
			if text[i] == '{' || len(found) == 0 && strings.TrimSpace(text[:i]) == "" {
				return nil, false
			}
			if failed++; failed > maxStray {
				return nil, false
			}
			continue // a bracket in the prose
		}
		if parses(text[i : i+n]) {
			outside.WriteString(text[last:i])
			outside.WriteByte('\n')
			found = append(found, span{i, i + n})
			last = i + n
		} else if text[i] == '{' {
			return nil, false
		}
		i += n - 1
	}
	if len(found) == 0 {
		return nil, false
	}
	after := text[last:]
	outside.WriteString(after)
	if t := strings.TrimSpace(after); t != "" && (strings.IndexByte(",]:\"'", t[0]) >= 0 || strings.ContainsAny(t, "{}")) {
		return nil, false
	}
	if len(found) > 1 && strings.TrimSpace(outside.String()) == "" {
		return nil, false // a list of documents without its brackets and commas
	}
	return found, prose(outside.String())
}
