package repair

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scalar is one reading of a string, number or literal.
type scalar struct {
	text  string // as JSON
	end   int
	cost  int
	edits []Edit
	shaky bool // it may be truncated if the text ends here
	guess bool // it had no quotes
	half  bool // it had one quote
	key   bool // it may be a key
}

// scalars returns the readings of the scalar at a position. They are cached, because
// many states need the same.
func (s *search) scalars(pos int, key bool) []scalar {
	at := scalarPlace{pos, key}
	list, ok := s.known[at]
	if !ok {
		list = s.scalarsAt(pos, key)
		s.known[at] = list
	}
	return list
}

type scalarPlace struct {
	pos int
	key bool
}

func (s *search) scalarsAt(pos int, key bool) []scalar {
	rest := s.src[pos:]
	if rest == "" {
		return nil
	}
	switch rest[0] {
	case '"', '\'', '`':
		return s.quoted(pos, key)
	}
	for open, closer := range typographic {
		if strings.HasPrefix(rest, open) {
			return s.typographicQuoted(pos, open, closer)
		}
	}
	if key {
		return s.bareKey(pos)
	}
	if isDigit(rest[0]) || strings.IndexByte("+-.", rest[0]) >= 0 {
		if list := number(rest, pos); list != nil {
			return list
		}
		return s.code(pos)
	}
	return s.bareValue(pos)
}

// bareCode matches text that looks like a number but is not: a version, a time, a
// quantity with its unit, an identifier with leading zeros.
var bareCode = regexp.MustCompile(`^\+?[0-9]+([.:-][0-9]+)*( ?\pL{1,6})?\b`)

// code reads text that matches bareCode as a string, which only a schema can confirm.
func (s *search) code(pos int) []scalar {
	rest := s.src[pos:]
	n := len(bareCode.FindString(rest))
	if n == 0 || n == len(rest) || strings.IndexByte(",}]\n", rest[n]) < 0 || hexadecimal.MatchString(rest) {
		return nil
	}
	return []scalar{{text: `"` + rest[:n] + `"`, end: pos + n, cost: 1, guess: true, edits: []Edit{{Step: StepQuotes, Offset: pos, Note: "added"}}}}
}

var hexadecimal = regexp.MustCompile(`^0[xXoObB][0-9a-fA-F]`)

// typographic maps opening quotes to the quotes that close them before a comma, a
// colon or a bracket.
var typographic = map[string]string{"“": "”", "‘": "’", "«": "»", "「": "」"}

func (s *search) typographicQuoted(pos int, open, closer string) []scalar {
	body := s.src[pos+len(open):]
	i := -1
	for at := 0; ; {
		n := strings.Index(body[at:], closer)
		if n < 0 {
			return nil
		}
		at += n + len(closer)
		if end := pos + len(open) + at; end >= len(s.src) || s.followedBy(end, ",:}]") {
			i = at - len(closer)
			break
		}
	}
	text, edits, cost, ok := content(body[:i], pos, closer)
	if !ok {
		return nil
	}
	end := pos + len(open) + i + len(closer)
	return []scalar{{text: text, end: end, cost: cost, key: true,
		edits: append(edits, Edit{Step: StepQuotes, Offset: pos, Note: open + closer + " replaced"})}}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter reports whether a text starts with a character that may start a name.
func isLetter(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || r == '_' || r == '$'
}

// word returns the name at the start of a text, and the rest.
func word(s string) (name, rest string) {
	for i, r := range s {
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '$' || r == '-' && i > 0) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// literals are JSON's literals, and unambiguous ones of other languages.
var literals = map[string]string{
	"true": "true", "false": "false", "null": "null",
	"True": "true", "False": "false", "None": "null", "TRUE": "true", "FALSE": "false", "NULL": "null", "Null": "null",
}

// unknowable are words of other languages for values that JSON lacks, and words that
// may or may not mean a boolean.
var unknowable = map[string]bool{
	"undefined": true, "nan": true, "infinity": true, "inf": true, "nil": true, "none": true, "null": true, "true": true, "false": true,
	"yes": true, "no": true, "on": true, "off": true, "y": true, "n": true, "na": true, "todo": true, "tbd": true, "unknown": true,
}

var (
	plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`)
	looseNumber = regexp.MustCompile(`^[+-]?([0-9][0-9_]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?`)
	bareDate    = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?`)
)

// number reads a number, or a date without quotes.
func number(rest string, pos int) []scalar {
	ends := func(n int) bool { // the following text is not part of it
		if n >= len(rest) {
			return true
		}
		return strings.IndexByte(",;}])\n\r\t /#", rest[n]) >= 0 && !operator(rest[n:])
	}
	if d := bareDate.FindString(rest); d != "" && ends(len(d)) {
		return []scalar{{text: `"` + d + `"`, end: pos + len(d), cost: 1, shaky: true, edits: []Edit{{Step: StepQuotes, Offset: pos, Note: "added"}}}}
	}
	if n := plainNumber.FindString(rest); n != "" && ends(len(n)) {
		return []scalar{{text: n, end: pos + len(n), shaky: true}}
	}
	n := looseNumber.FindString(rest)
	if !ends(len(n)) {
		return nil
	}
	t := strings.ReplaceAll(strings.TrimPrefix(n, "+"), "_", "")
	sign := ""
	if strings.HasPrefix(t, "-") {
		sign, t = "-", t[1:]
	}
	if strings.HasPrefix(t, ".") {
		t = "0" + t
	}
	mantissa, exponent := t, ""
	if i := strings.IndexAny(t, "eE"); i >= 0 {
		mantissa, exponent = t[:i], t[i:]
	}
	mantissa = strings.TrimSuffix(mantissa, ".")
	t = sign + mantissa + exponent
	if strings.Contains(n, "__") || strings.Contains(n, "_.") || !json.Valid([]byte(t)) {
		return nil
	}
	return []scalar{{text: t, end: pos + len(n), shaky: true, edits: []Edit{{Step: StepNumber, Offset: pos, Note: n + " spelt as JSON has it"}}}}
}

// operator reports whether an arithmetic operator follows.
func operator(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
		return false
	}
	return strings.IndexByte("+-*/%^(<>=&|?.", rest[0]) >= 0
}

// bareWords matches a key of several words.
var bareWords = regexp.MustCompile(`^\pL[\pL0-9_]*( [\pL0-9_]+){1,4}`)

// bareKey reads a key without quotes, or with only the closing one.
func (s *search) bareKey(pos int) []scalar {
	name, after := word(s.src[pos:])
	if name == "" || strings.HasSuffix(name, "-") {
		return nil
	}
	end := pos + len(name)
	quoted, _ := json.Marshal(name)
	one := scalar{text: string(quoted), end: end, key: true, edits: []Edit{{Step: StepQuotes, Offset: pos, Note: "added"}}}
	switch {
	case strings.HasPrefix(after, `"`), strings.HasPrefix(after, "'"):
		one.end++
		one.cost, one.half = 1, true
	case !s.followedBy(end, ":="):
		several := bareWords.FindString(s.src[pos:])
		if several == "" || !s.followedBy(pos+len(several), ":") {
			return nil // its end is ambiguous
		}
		one.text, one.end, one.cost = `"`+several+`"`, pos+len(several), 1
	}
	return []scalar{one}
}

// bareValue reads a literal, or text without quotes.
func (s *search) bareValue(pos int) []scalar {
	rest := s.src[pos:]
	name, after := word(rest)
	if t := literals[name]; t != "" && !operator(after) && s.separated(pos+len(name)) {
		one := scalar{text: t, end: pos + len(name)}
		if t != name {
			one.edits = []Edit{{Step: StepLiteral, Offset: pos, Note: name + " spelt as JSON has it"}}
		}
		return []scalar{one}
	}
	if !isLetter(rest) {
		return nil
	}
	n := 0
	for n < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" _-.@'&!?", r) {
			break
		}
		n += size
	}
	text := strings.TrimRight(rest[:n], " ")
	quoted, _ := json.Marshal(text)
	if n < len(rest) && rest[n] == '"' && text == rest[:n] && s.followedBy(pos+n+1, ",}]") {
		// Only the opening quote is missing.
		return []scalar{{text: string(quoted), end: pos + n + 1, cost: 1, half: true, edits: []Edit{{Step: StepQuotes, Offset: pos, Note: "first one added"}}}}
	}
	if unknowable[strings.ToLower(name)] || n >= len(rest) || strings.IndexByte(",}]\n\r", rest[n]) < 0 || strings.Contains(text, " - ") {
		return nil
	}
	return []scalar{{text: string(quoted), end: pos + len(text), cost: 1, guess: true, edits: []Edit{{Step: StepQuotes, Offset: pos, Note: "added"}}}}
}

// separated reports whether a word ends at a position.
func (s *search) separated(pos int) bool {
	return pos >= len(s.src) || strings.IndexByte(",;:}])\n\r\t /#", s.src[pos]) >= 0
}

// followedBy reports whether one of the characters follows, after white space.
func (s *search) followedBy(pos int, chars string) bool {
	next, _, ok := s.blank(pos)
	return ok && next < len(s.src) && strings.IndexByte(chars, s.src[next]) >= 0
}

// ender reports whether a quote ends its string, judged by what follows it.
func (s *search) ender(pos int, key bool) bool {
	if key {
		return s.followedBy(pos+1, ":")
	}
	next, _, ok := s.blank(pos + 1)
	return ok && (next >= len(s.src) || strings.IndexByte(",}]", s.src[next]) >= 0)
}

// maxInner is how many quotes within a string are considered.
const maxInner = 16

// quoted returns the readings of a string whose opening quote is at pos: up to the
// first quote of its kind; further, if the quotes in between look like a quotation or
// an apostrophe; or up to the position where its closing quote is missing.
func (s *search) quoted(pos int, key bool) (out []scalar) {
	quote := s.src[pos]
	var inner []int // quotes that are part of the string
	finish := func(end, next, cost int, note string, half bool) {
		if len(inner) >= 2 && inner[0] == pos+1 && inner[len(inner)-1] == end-1 {
			return // doubled quotes around the string, or a quotation that is all of it
		}
		text, edits, more, ok := content(s.src[pos+1:end], pos, string(quote))
		if !ok || strings.Count(text, "“")+strings.Count(text, "„") != strings.Count(text, "”") && strings.Contains(text, "”") {
			return // half a pair of typographic quotes is a string's end
		}
		if quote != '"' {
			edits = append(edits, Edit{Step: StepQuotes, Offset: pos, Note: string(quote) + " replaced"})
		}
		if note != "" {
			edits = append(edits, Edit{Step: StepQuotes, Offset: pos, Note: note})
		}
		out = append(out, scalar{text: text, end: next, cost: cost + more, edits: edits, key: true, half: half})
	}
	first := true
	for i := pos + 1; i < len(s.src); i++ {
		switch {
		case s.src[i] == '\\':
			i++
			continue
		case s.src[i] != quote:
			continue
		}
		if quote == '\'' && s.letterBefore(i) && s.letterAfter(i) && !key {
			continue // an apostrophe
		}
		switch {
		case len(inner) == 0:
			finish(i, i+1, 0, "", false)
		case s.innerQuotes(pos, inner, i) && s.ender(i, key):
			finish(i, i+1, len(inner), "inner ones escaped", false)
		}
		if first {
			first = false
			if end, next := s.missingEnd(pos, i, key); end > 0 {
				finish(end, next, 1, "last one added", true)
			}
		}
		if inner = append(inner, i); len(inner) > maxInner || !s.innerQuotes(pos, inner, -1) {
			return out
		}
	}
	if first {
		if end, next := s.missingEnd(pos, len(s.src), key); end > 0 {
			finish(end, next, 1, "last one added", true)
		}
	}
	return out
}

func (s *search) letterBefore(i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s.src[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func (s *search) letterAfter(i int) bool {
	r, _ := utf8.DecodeRuneInString(s.src[i+1:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// innerQuotes reports whether the quotes within a string that begins at pos look
// intended: pairs around a text, inch marks after a number, and apostrophes after an
// s. With end, the end of the string, every pair must be complete.
func (s *search) innerQuotes(pos int, inner []int, end int) bool {
	inside := false
	for _, i := range inner {
		before := s.src[i-1]
		atStart := i == pos+1
		spaceAfter := i+1 >= len(s.src) || isSpace(s.src[i+1])
		switch {
		case !inside && (atStart || strings.IndexByte(" ([-:\n/>=", before) >= 0) && !spaceAfter && (s.letterAfter(i) || strings.IndexByte("<./#$%&!?¿", s.src[i+1]) >= 0):
			inside = true
		case inside && !isSpace(before) && !s.letterAfter(i):
			inside = false
		case !inside && s.src[i] == '"' && isDigit(before) && !s.ender(i, false) && spaceAfter:
			// inches
		case !inside && s.src[i] == '\'' && before == 's' && spaceAfter:
		default:
			return false
		}
	}
	return end < 0 || !inside
}

var (
	nextMember = regexp.MustCompile(`^,\s*["']?[\pL_$][\pL\pN _$-]*["']?\s*:`)
	nextString = regexp.MustCompile(`^,\s*"[^"\\,]*"\s*[,\]]`)
)

// missingEnd returns the end of a string without a closing quote, and the position
// after it, if the next quote is at limit; 0 if the end is ambiguous.
func (s *search) missingEnd(pos, limit int, key bool) (end, next int) {
	body := s.src[pos+1 : limit]
	if key {
		if i := strings.IndexByte(body, ':'); i > 0 {
			name, rest := word(body[:i])
			if name != "" && strings.TrimSpace(rest) == "" {
				return pos + 1 + len(name), pos + 1 + len(name)
			}
		}
		return 0, 0
	}
	comma := false // the text after it may belong to the string or not
	for i := 0; i < len(body); i++ {
		at := pos + 1 + i
		switch body[i] {
		case '\\':
			i++
		case ',':
			if nextMember.MatchString(s.src[at:]) || nextString.MatchString(s.src[at:]) {
				if comma {
					return 0, 0
				}
				return at, at
			}
			comma = true
		case '\n', '\r':
			line := strings.TrimRight(body[:i], " \t,")
			if strings.ContainsAny(line, "{}[],") || line == "" {
				return 0, 0
			}
			return pos + 1 + len(line), pos + 1 + len(line)
		case '{', '[':
			return 0, 0
		case '}', ']':
			if comma {
				return 0, 0
			}
			rest := strings.TrimSpace(s.src[at:])
			if strings.Trim(rest, "}] \n\t\r") == "" && i > 0 {
				return at, at
			}
			if j := strings.IndexByte(s.src[at:], ','); j >= 0 && strings.Trim(s.src[at:at+j], "}] \n\t\r") == "" && i > 0 {
				return at, at
			}
			return 0, 0
		}
	}
	return 0, 0
}

// content returns the content of a string as a JSON string, with quotes. Characters
// that JSON does not allow are escaped; it returns false if the content is ambiguous.
func content(body string, pos int, quote string) (text string, edits []Edit, cost int, ok bool) {
	var b strings.Builder
	b.WriteByte('"')
	raw, valid, invalid := 0, 0, 0
	for i := 0; i < len(body); {
		c := body[i]
		switch {
		case c == '"':
			b.WriteString(`\"`)
			i++
		case c == '\\':
			n, escape, good := escapeAt(body[i:], quote)
			switch {
			case !good:
				invalid++
			case len(escape) > 1 && escape != `\\`:
				valid++
			}
			b.WriteString(escape)
			i += n
		case c < 0x20:
			raw++
			quoted, _ := json.Marshal(string(rune(c)))
			b.Write(quoted[1 : len(quoted)-1])
			i++
		default:
			r, n := utf8.DecodeRuneInString(body[i:])
			if r == utf8.RuneError && n == 1 {
				return "", nil, 0, false
			}
			b.WriteString(body[i : i+n])
			i += n
		}
	}
	b.WriteByte('"')
	if invalid > 0 && valid > 0 {
		return "", nil, 0, false // is \n in C:\new\user a line break?
	}
	if raw > 0 {
		edits = append(edits, Edit{Step: StepEscapes, Offset: pos, Note: "control characters escaped"})
	}
	if invalid > 0 {
		cost = 1
		edits = append(edits, Edit{Step: StepEscapes, Offset: pos, Note: "backslashes escaped"})
	}
	return b.String(), edits, cost, json.Valid([]byte(b.String()))
}

var unicodeEscape = regexp.MustCompile(`^\\u[0-9a-fA-F]{4}`)

// escapeAt returns the length of the escape at the start of a text, and the
// equivalent escape in JSON; false if JSON has none.
func escapeAt(s, quote string) (n int, escape string, good bool) {
	if len(s) < 2 {
		return 1, `\\`, false
	}
	switch c := s[1]; {
	case unicodeEscape.MatchString(s):
		return 6, s[:6], true
	case c == 'u':
		return 1, `\\`, false
	case strings.IndexByte(`"\/bfnrt`, c) >= 0:
		return 2, s[:2], true
	case c == '\'' || string(c) == quote:
		return 2, string(c), true
	case c == '\n': // a line continuation in JavaScript
		return 2, "", true
	}
	return 1, `\\`, false
}
