package repair

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// parses reports whether a text is a JSON document in UTF-8.
func parses(text string) bool { return utf8.ValidString(text) && json.Valid([]byte(text)) }

// Fits reports whether a document that parses fits the requested format. It selects
// among several possible readings of a text.
type Fits func(document []byte) bool

// A cleaner is a step of the clean-up: it returns the cleaned text and its edits,
// none if it changes nothing.
type cleaner func(text string, fits Fits) (string, []Edit)

var cleaners = []cleaner{dropMark, dropThoughts, unfence, dropSurround, dropMarkers, plainQuotes}

// Clean removes text around a document, and replaces typographic quotes around its
// strings. It applies steps until the text parses; a text that already parses is
// returned unchanged. The result need not parse: the inside of the document is not
// changed. fits may be nil.
func Clean(text string, fits Fits) (string, []Edit) {
	var all []Edit
	for _, step := range cleaners {
		if parses(text) {
			break
		}
		next, edits := step(text, fits)
		text, all = next, append(all, edits...)
	}
	return text, all
}

const byteOrderMark = "\ufeff"

func dropMark(text string, _ Fits) (string, []Edit) {
	rest := strings.TrimLeft(text, " \t\r\n")
	if after, ok := strings.CutPrefix(rest, byteOrderMark); ok {
		return after, []Edit{{Step: StepMark, Note: "dropped"}}
	}
	return text, nil
}

// thoughts are the marks around the reasoning before an answer.
var thoughts = [][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}, {"[THINK]", "[/THINK]"}}

// dropThoughts removes the reasoning at the start of an answer.
func dropThoughts(text string, _ Fits) (string, []Edit) {
	for _, marks := range thoughts {
		if inside, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), marks[0]); ok {
			if _, answer, ok := strings.Cut(inside, marks[1]); ok {
				return answer, []Edit{{Step: StepThoughts, Note: "dropped"}}
			}
		}
	}
	return text, nil
}

// only returns the only element that fits, or the only element.
func only(list []string, fits Fits) (string, bool) {
	var distinct []string
	for _, one := range list {
		if len(distinct) == 0 || distinct[0] != one {
			distinct = append(distinct, one)
		}
	}
	if len(distinct) > 1 && fits != nil {
		var good []string
		for _, one := range distinct {
			if fits([]byte(one)) {
				good = append(good, one)
			}
		}
		distinct = good
	}
	if len(distinct) != 1 {
		return "", false
	}
	return distinct[0], true
}

const fence = "```"

// maxFences is how many fences of a text are considered: each costs a scan of the
// text before it.
const maxFences = 32

// unfence extracts a document from the code fence around it. Of several fences, it
// takes the only one whose content parses, or the only one whose content fits.
func unfence(text string, fits Fits) (string, []Edit) {
	start := strings.Index(text, fence)
	if start < 0 || strings.ContainsAny(text[:start], "{}") {
		return text, nil
	}
	var blocks []string
	rest := text
	for range maxFences {
		_, after, ok := strings.Cut(rest, fence)
		if !ok {
			break
		}
		body := fenceBody(after)
		end := fenceEnd(body)
		if block := strings.TrimSpace(body[:end]); block != "" {
			blocks = append(blocks, block)
		}
		if end == len(body) {
			break
		}
		rest = body[end+len(fence):]
	}
	var good []string
	for _, b := range blocks {
		if parses(b) {
			good = append(good, b)
		}
	}
	one, ok := only(good, fits)
	if len(good) == 0 && len(blocks) == 1 {
		one, ok = blocks[0], strings.ContainsAny(blocks[0], "{[")
	}
	if !ok {
		return text, nil
	}
	return one, []Edit{{Step: StepFence, Offset: start, Note: "dropped"}}
}

// fenceBody removes the language name after an opening fence.
func fenceBody(text string) string {
	name, rest := word(text)
	switch {
	case name == "":
		return text
	case rest == "", isSpace(rest[0]), rest[0] == '{', rest[0] == '[':
		if literals[name] == "" {
			return rest
		}
	}
	return text
}

// fenceEnd returns the end of a fenced text: the first fence up to which the text
// parses, else the first fence that begins a line, else the first fence, else the end.
func fenceEnd(body string) int {
	first := -1
	at := 0
	for range maxFences {
		i := strings.Index(body[at:], fence)
		if i < 0 {
			break
		}
		i += at
		if parses(body[:i]) {
			return i
		}
		if begins := strings.TrimRight(body[:i], " \t"); first < 0 || strings.HasSuffix(begins, "\n") && !strings.HasSuffix(strings.TrimRight(body[:first], " \t"), "\n") {
			first = i
		}
		at = i + len(fence)
	}
	if first < 0 {
		return len(body)
	}
	return first
}

// dropSurround extracts a document from the prose around it: the only one, or the
// only one that fits.
func dropSurround(text string, fits Fits) (string, []Edit) {
	found, ok := documents(text)
	if !ok {
		return text, nil
	}
	var objects, all []string
	for _, f := range found {
		one := text[f.start:f.end]
		if all = append(all, one); one[0] == '{' {
			objects = append(objects, one)
		}
	}
	one, ok := only(all, fits)
	if !ok && len(objects) == 1 && fits == nil {
		// [1] in prose is a footnote, not a document.
		one, ok = objects[0], true
	}
	if !ok {
		return text, nil
	}
	at := strings.Index(text, one)
	return one, []Edit{{Step: StepSurround, Offset: at, Note: "dropped"}}
}

// dropMarkers removes the markers of bold, italic and code around keys and values,
// outside of strings.
func dropMarkers(text string, _ Fits) (string, []Edit) {
	var b strings.Builder
	var edits []Edit
	open := false
	for i := 0; i < len(text); {
		if n := copyString(&b, text[i:], &open); n > 0 {
			i += n
			continue
		}
		m := marker(text[i:])
		if m == "" || !markerPlace(text[:i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		rest := text[i+len(m):]
		end := stringEnd(rest)
		if end == 0 {
			end = strings.IndexAny(rest, "*_`,{}[]:\"\n")
		}
		if end <= 0 || !strings.HasPrefix(rest[end:], m) || !markable(rest[:end]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		edits = append(edits, Edit{Step: StepMarkers, Offset: i, Note: m + " dropped"})
		b.WriteString(rest[:end])
		i += 2*len(m) + end
	}
	if len(edits) == 0 {
		return text, nil
	}
	return b.String(), edits
}

// copyString copies the JSON string at the start of a text and returns its length. A
// quote whose string does not end is an ordinary character, and so are all later ones.
func copyString(b *strings.Builder, text string, open *bool) int {
	if *open || text[0] != '"' {
		return 0
	}
	n := stringEnd(text)
	*open = n == 0
	b.WriteString(text[:n])
	return n
}

// stringEnd returns the length of the JSON string at the start of a text, 0 if there
// is none.
func stringEnd(s string) int {
	if s == "" || s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// marker returns the marker at the start of a text.
func marker(s string) string {
	for _, m := range []string{"***", "**", "__", "*", "_", "`"} {
		if strings.HasPrefix(s, m) {
			return m
		}
	}
	return ""
}

// markerPlace reports whether a key or value may begin after a text.
func markerPlace(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before != "" && strings.IndexByte("{[,:", before[len(before)-1]) >= 0
}

// markable matches what may have markers around it: a string, a number or a literal.
// Typographic quotes are replaced in a later step.
func markable(s string) bool {
	if open := typographicOpening(s); open != "" {
		at, size := typographicEnd(s[len(open):])
		return at >= 0 && len(open)+at+size == len(s)
	}
	return parses(s) && s[0] != '{' && s[0] != '['
}

// plainQuotes replaces typographic quotes around keys and values.
func plainQuotes(text string, _ Fits) (string, []Edit) {
	if !strings.ContainsAny(text, "“”„‟") {
		return text, nil
	}
	var b strings.Builder
	at, replaced, open := -1, 0, false
	for i := 0; i < len(text); {
		if n := copyString(&b, text[i:], &open); n > 0 {
			i += n
			continue
		}
		mark := typographicOpening(text[i:])
		if mark == "" || !markerPlace(text[:i]) {
			b.WriteByte(text[i])
			i++
			continue
		}
		body := text[i+len(mark):]
		end, size := typographicEnd(body)
		if end < 0 {
			return text, nil
		}
		inside, _, cost, ok := content(body[:end], i, "")
		if !ok || cost > 0 {
			return text, nil
		}
		b.WriteString(inside)
		if at < 0 {
			at = i
		}
		replaced++
		i += len(mark) + end + size
	}
	if replaced == 0 {
		return text, nil
	}
	return b.String(), []Edit{{Step: StepTypographic, Offset: at, Note: "replaced"}}
}

func typographicOpening(s string) string {
	for _, q := range []string{"“", "”", "„", "‟"} {
		if strings.HasPrefix(s, q) {
			return q
		}
	}
	return ""
}

// typographicEnd returns the end of a string that begins with a typographic quote,
// and the length of its closing quote: the first quote before a comma, a colon or a
// bracket.
func typographicEnd(body string) (at, size int) {
	for i, r := range body {
		if r != '”' && r != '“' && r != '‟' && r != '"' {
			continue
		}
		n := utf8.RuneLen(r)
		rest := strings.TrimLeft(body[i+n:], " \t\r\n")
		if rest == "" || strings.IndexByte(",:}]", rest[0]) >= 0 {
			return i, n
		}
	}
	return -1, 0
}
