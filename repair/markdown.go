package repair

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/jsondoc"
)

// This file handles Markdown within strings: "**4**" where 4 was meant. Emphasis around a whole
// string or key is removed if that alone makes a document valid; on request, everywhere.

// unmark removes emphasis if that makes the document valid: from the values in the issues and
// the keys beside them, else from all. ok is false if neither helps.
func unmark(document []byte, issues []schema.Issue, check Check) ([]byte, []Edit, bool) {
	if len(issues) == 0 || check == nil {
		return document, nil, false
	}
	at := map[string]bool{}
	for _, i := range issues {
		at[i.Pointer] = true
	}
	for _, chosen := range []func(pointer string) bool{func(p string) bool { return at[p] }, func(string) bool { return true }} {
		next, edits := unmarked(document, chosen, bare)
		if len(edits) == 0 {
			continue
		}
		if left, err := check(next); err == nil && len(left) == 0 {
			return next, edits, true
		}
	}
	return document, nil, false
}

// unmarkAll removes emphasis from all strings, unless the document is valid with it and would
// not be without.
func unmarkAll(document []byte, check Check) ([]byte, []Edit) {
	next, edits := unmarked(document, func(string) bool { return true }, plainText)
	if len(edits) == 0 {
		return document, nil
	}
	if check != nil {
		before, err := check(document)
		after, err2 := check(next)
		if err != nil || err2 != nil || len(before) == 0 && len(after) > 0 {
			return document, nil
		}
	}
	return next, edits
}

// unmarked removes emphasis from chosen values, and from the keys of chosen objects. A key is
// kept if it would become a duplicate.
func unmarked(document []byte, chosen func(pointer string) bool, plain func(string) string) ([]byte, []Edit) {
	var edits []Edit
	var out []byte
	done := 0
	replace := func(start, end int, text, pointer, note string) {
		quoted, err := marshalText(text)
		if err != nil {
			return
		}
		out = append(append(out, document[done:start]...), quoted...)
		done = end
		edits = append(edits, Edit{Step: StepMarkers, Offset: start, Pointer: pointer, Note: note, Inside: true})
	}
	keys := allKeys(document)
	// walkKeys doesn't fail, since the document is JSON; otherwise nothing is changed.
	err := walkKeys(document, func(v visit) {
		if document[v.start] != '"' || !chosen(v.pointer) {
			return
		}
		if text, ok := decodeString(string(document[v.start:v.end])); ok {
			if p := plain(text); p != text {
				replace(v.start, v.end, p, v.pointer, "emphasis dropped")
			}
		}
	}, func(object, key string, start, end int) {
		p := bare(key)
		if p == key || !chosen(object) && !chosen(object+"/"+jsondoc.EscapePointer(key)) || keys[object][p] {
			return
		}
		keys[object][p] = true
		replace(start, end, p, object, "emphasis around the key "+p+" dropped")
	})
	if err != nil || len(edits) == 0 {
		return document, nil
	}
	return append(out, document[done:]...), edits
}

// allKeys returns the keys of each object, by the object's pointer.
func allKeys(document []byte) map[string]map[string]bool {
	keys := map[string]map[string]bool{}
	_ = walkKeys(document, func(visit) {}, func(object, key string, _, _ int) {
		if keys[object] == nil {
			keys[object] = map[string]bool{}
		}
		keys[object][key] = true
	})
	return keys
}

func marshalText(text string) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(text)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// bare removes all layers of emphasis around a whole text; it returns the text itself if there
// are none.
func bare(text string) string {
	for {
		t := strings.TrimSpace(text)
		m := marker(t)
		if m == "" || len(t) <= 2*len(m) || !strings.HasSuffix(t, m) {
			return text
		}
		inside := t[len(m) : len(t)-len(m)]
		if strings.Contains(inside, m[:1]) || strings.TrimSpace(inside) != inside {
			return text // **a** and **b**; * a *
		}
		text = inside
	}
}

// Bare removes emphasis around a whole text, such as a name; it returns the text itself if
// there is none.
func Bare(text string) string { return bare(text) }

// plainText is bare for arbitrary text: it keeps names such as __init__, and also removes bold
// within the text.
func plainText(text string) string {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "_") && identifier(t) || strings.Contains(text, "```") {
		return text
	}
	if p := bare(text); p != text {
		return p
	}
	return unbold(text)
}

func identifier(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// unbold removes the markers of **bold** text according to Markdown's rules: there is no white
// space inside of them, no letter or digit outside, and they are not in code.
func unbold(text string) string {
	const mark = "**"
	var b strings.Builder
	rest := text
	last, ticks := utf8.RuneError, 0 // the last character written, and the number of backticks
	write := func(part string) {
		if part != "" {
			last, _ = utf8.DecodeLastRuneInString(part)
			ticks += strings.Count(part, "`")
			b.WriteString(part)
		}
	}
	for {
		i := strings.Index(rest, mark)
		if i < 0 {
			break
		}
		write(rest[:i])
		rest = rest[i+len(mark):]
		inside, after, closed := strings.Cut(rest, mark)
		next, _ := utf8.DecodeRuneInString(after)
		if !closed || inside == "" || strings.ContainsAny(inside, "*`\n") || strings.TrimSpace(inside) != inside || wordy(last) || wordy(next) || ticks%2 == 1 {
			write(mark)
			continue
		}
		write(inside)
		rest = after
	}
	return b.String() + rest
}

// wordy matches characters that can't be next to emphasis.
func wordy(r rune) bool { return r == '*' || unicode.IsLetter(r) || unicode.IsDigit(r) }
