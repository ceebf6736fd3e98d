package signals

import (
	"encoding/json"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/repair"
)

// Read reads the signals in a text and returns the text without them; see the package
// comment for where it searches. If nothing is removed, rest is text. Otherwise rest is
// text without the block or object and, if that was at the end, without trailing white
// space.
func Read(text string) (s Signals, rest string, from Source) {
	s, rest, from = readBlock(text)
	if from == FromBlock {
		return s, rest, from
	}
	if s, rest, ok := readObject(rest); ok {
		return s, rest, FromObject
	}
	if s, ok := readPhrases(rest); ok {
		return s, rest, FromKeywords
	}
	return Default(), rest, FromDefaults
}

// ReadDocument is Read for a requested document, JSON or other. It never treats parts
// of the document as signals: it reads only a block, or an object with only members of
// signals, on lines of its own after a complete JSON document.
func ReadDocument(text string) (s Signals, rest string, from Source) {
	s, rest, from = readBlock(text)
	if from == FromBlock {
		return s, rest, from
	}
	if s, before, ok := trailing(rest); ok && json.Valid([]byte(before)) {
		return s, before, FromObject
	}
	return Default(), rest, FromDefaults
}

// Document reads signals whose [Schema] was enforced by masks.
func Document(text string) (Signals, bool) {
	var s Signals
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, false
	}
	return s.clamped(), true
}

// readBlock removes all blocks from a text and reads the last readable one. If there is
// none, from is not FromBlock; unreadable blocks are removed all the same.
func readBlock(text string) (s Signals, rest string, from Source) {
	var kept strings.Builder
	for {
		start, body, end := findBlock(text)
		if start < 0 {
			kept.WriteString(text)
			return s, kept.String(), from
		}
		if one, ok := readBody(body); ok {
			s, from = one, FromBlock
		}
		kept.WriteString(text[:start])
		if text = text[end:]; strings.TrimSpace(text) == "" {
			return s, trimEnd(kept.String()), from
		}
	}
}

// trimEnd removes the white space between an answer and its signals.
func trimEnd(text string) string { return strings.TrimRight(text, " \t\r\n") }

// findBlock returns the start, content and end of the first block. start is -1 if there
// is none.
func findBlock(text string) (start int, body string, end int) {
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		fence, ok := opens(line)
		if !ok {
			at = next
			continue
		}
		for from := next; from < len(text); {
			line, after := lineAt(text, from)
			if closes(line, fence) {
				return at, text[next:from], after
			}
			if _, another := opens(line); another {
				break
			}
			from = after
		}
		end = next + unclosed(text[next:])
		return at, text[next:end], end
	}
	return -1, "", 0
}

// unclosed returns the length of the content of a block without a closing fence: the
// JSON at its start, else the text before an empty line.
func unclosed(text string) int {
	d := json.NewDecoder(strings.NewReader(text))
	var document json.RawMessage
	if d.Decode(&document) == nil {
		return int(d.InputOffset())
	}
	if at := emptyLine.FindStringIndex(text); at != nil {
		return at[1]
	}
	return len(text)
}

var emptyLine = regexp.MustCompile(`\n[ \t]*\r?\n`)

// lineAt returns the line at an offset, without its line break, and the offset of the
// next line.
func lineAt(text string, at int) (line string, next int) {
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		return strings.TrimSuffix(text[at:at+n], "\r"), at + n + 1
	}
	return text[at:], len(text)
}

// opens reports whether a line opens a block, and returns its fence.
func opens(line string) (fence string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	for _, c := range "`~" {
		rest := strings.TrimLeft(line, string(c))
		if n := len(line) - len(rest); n >= 3 {
			return line[:n], strings.EqualFold(strings.TrimSpace(rest), Info)
		}
	}
	return "", false
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// readBody reads the content of a block: JSON, JSON that can be repaired
// unambiguously, or lines such as "confidence: 0.8".
func readBody(body string) (Signals, bool) {
	body = strings.TrimSpace(body)
	if s, _, ok := readMembers([]byte(body)); ok {
		return s, true
	}
	if fixed, _, err := repair.Repair(body, repair.Hints{}); err == nil {
		if s, _, ok := readMembers(fixed); ok {
			return s, true
		}
	}
	return readLines(body)
}

// readLines reads signals as lines, or parts between commas, of a name, a colon or
// equals sign, and a value.
func readLines(body string) (Signals, bool) {
	members := map[string]json.RawMessage{}
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == ',' }) {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			name, value, ok = strings.Cut(line, "=")
		}
		name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'*-{ `))
		value = strings.Trim(strings.TrimSpace(value), `"'*,} `)
		if !ok || !slices.Contains(memberNames, name) {
			continue
		}
		if raw, err := json.Marshal(value); err == nil {
			members[name] = raw
		}
	}
	return fromMembers(members)
}

// memberNames are the members of signals.
var memberNames = []string{"confidence", "difficulty", "escalation", "reason", "tools"}

// readMembers reads a JSON object with at least one signal, and whether it has only
// members of signals.
func readMembers(document []byte) (s Signals, only, ok bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(document, &members) != nil {
		return s, false, false
	}
	only = true
	for name := range members {
		only = only && slices.Contains(memberNames, name)
	}
	s, ok = fromMembers(members)
	return s, only, ok
}

// fromMembers reads signals from the members of an object. It returns false if none
// could be read. Members of the wrong type are ignored.
func fromMembers(members map[string]json.RawMessage) (s Signals, ok bool) {
	if c, ok := share(members["confidence"]); ok {
		s.Confidence = &c
	}
	s.Difficulty = Difficulty(word(members["difficulty"]))
	s.Escalation = Escalation(word(members["escalation"]))
	_ = json.Unmarshal(members["reason"], &s.Reason) // a reason of another type is ignored
	var tools map[string]json.RawMessage
	if json.Unmarshal(members["tools"], &tools) == nil {
		for _, name := range slices.Sorted(maps.Keys(tools)) {
			if c, ok := share(tools[name]); ok {
				if s.Tools == nil {
					s.Tools = map[string]float64{}
				}
				s.Tools[name] = c
			}
		}
	}
	s = s.clamped()
	return s, s.Confidence != nil || s.Difficulty != "" || s.Escalation != "" || s.Tools != nil
}

// word normalises a string to a value of an enumeration: "Stronger model" is
// stronger_model.
func word(raw json.RawMessage) string {
	var w string
	if json.Unmarshal(raw, &w) != nil {
		return ""
	}
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(w)))
}

// levels are words that models write instead of a confidence.
var levels = map[string]float64{"very_low": 0.1, "low": 0.3, "medium": 0.5, "moderate": 0.5, "high": 0.8, "very_high": 0.95}

// share reads a confidence: a number; a string with a number or percentage; or one of
// levels.
func share(raw json.RawMessage) (float64, bool) {
	var n float64
	if len(raw) == 0 || string(raw) == "null" {
		return 0, false
	}
	if json.Unmarshal(raw, &n) == nil {
		return clamp(n), true
	}
	text := word(raw)
	if level, ok := levels[text]; ok {
		return level, true
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.Trim(digits, "_"), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	if percent {
		n /= 100
	}
	return clamp(n), true
}

// readObject reads the last object with a confidence in a text, and removes it if the
// rules of the package comment say so.
func readObject(text string) (s Signals, rest string, ok bool) {
	if s, before, ok := trailing(text); ok {
		if strings.TrimSpace(before) != "" {
			return s, before, true
		}
		return s, text, true
	}
	for _, o := range objects(text) {
		if confident(o.text(text)) {
			s, _, ok = readMembers([]byte(o.text(text)))
		}
	}
	return s, text, ok
}

// confident reports whether an object has a number as its member confidence.
func confident(object string) bool {
	var members struct {
		Confidence *float64 `json:"confidence"`
	}
	return json.Unmarshal([]byte(object), &members) == nil && members.Confidence != nil
}

// trailing reads the object at the end of a text, bare or in a code fence of its own.
// The object must have a confidence and only members of signals, and must start on a
// line of its own. before is the text before it.
func trailing(text string) (s Signals, before string, ok bool) {
	end := trimEnd(text)
	fenced := strings.HasSuffix(end, "```")
	body := trimEnd(strings.TrimSuffix(end, "```"))
	at := strings.LastIndexByte(body, '\n')
	for at >= 0 && !strings.HasPrefix(strings.TrimLeft(body[at+1:], " \t"), "{") {
		at = strings.LastIndexByte(body[:at], '\n')
	}
	if at < 0 && !strings.HasPrefix(body, "{") {
		return s, "", false
	}
	object := body[at+1:]
	s, only, ok := readMembers([]byte(object))
	if !ok || !only || !confident(object) {
		return s, "", false
	}
	before = body[:at+1]
	if fenced {
		opening := trimEnd(before)
		line := opening[strings.LastIndexByte(opening, '\n')+1:]
		if info := strings.TrimPrefix(strings.TrimSpace(line), "```"); info == strings.TrimSpace(line) || info != "" && !strings.EqualFold(info, "json") {
			return s, "", false
		}
		before = opening[:len(opening)-len(line)]
	}
	return s, trimEnd(before), true
}

// A part is a part of a text.
type part struct{ start, end int }

func (p part) text(of string) string { return of[p.start:p.end] }

// maxStray is the maximum number of unbalanced brackets that are tried as the start of
// an object: each attempt scans the rest of the text.
const maxStray = 32

// objects returns the outermost JSON objects in a text.
func objects(text string) (out []part) {
	stray := 0
	for i := 0; i < len(text) && stray < maxStray; i++ {
		if text[i] != '{' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text[i:]))
		var object json.RawMessage
		if d.Decode(&object) != nil {
			stray++
			continue
		}
		end := i + int(d.InputOffset())
		out = append(out, part{i, end})
		i = end - 1
	}
	return out
}
