package bench

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"

	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/vocab"
)

var (
	patternCount = flag.Int("patterns", 150, "random patterns of TestPatterns")
	patternSeed  = flag.Uint64("pattern-seed", 0, "the first of them")
)

// A drawn is a random regular expression: its source, and a function that draws matching texts without using
// automata. If the expression has assertions, which depend on the context of the drawn text, some texts may not
// match.
type drawn struct {
	source string
	draw   func(r *rand.Rand) string
}

// classes are character classes with some of their members.
var classes = [][2]string{
	{"[a-z]", "abcdefghijklmnopqrstuvwxyz"}, {"[a-zA-Z0-9]", "abcXYZ0189mnop"}, {"[0-9]", "0123456789"}, {`\d`, "0123456789"}, {`\w`, "abcdefXYZ_0189the"},
	{"[A-Za-z0-9+/]", "abcdXYZ019+/"}, {"[ab]", "ab"}, {"[a-f0-9]", "abcdef0123456789"}, {`[^\r\n]`, "abc xyz,.-é09"}, {"[^,;]", "abc xyz.-é09"},
	{`\s`, " \t\n"}, {"[a-c]", "abc"}, {"[A-Z]", "ABCDEFXYZ"}, {"a", "a"}, {"-", "-"}, {"=", "="}, {`\.`, "."}, {"the", ""}, {"é", "é"}, {"::", ""}, {".", "abc z09-.é/"},
}

func drawClass(r *rand.Rand) drawn {
	c := classes[r.IntN(len(classes))]
	if c[1] == "" {
		return drawn{c[0], func(*rand.Rand) string { return c[0] }}
	}
	members := []rune(c[1])
	return drawn{c[0], func(r *rand.Rand) string { return string(members[r.IntN(len(members))]) }}
}

// drawPattern returns a random expression.
func drawPattern(r *rand.Rand, depth int) drawn {
	group := func(d drawn) drawn { return drawn{"(?:" + d.source + ")", d.draw} }
	switch n := r.IntN(10); {
	case depth == 0 || n < 2:
		return drawClass(r)
	case n == 9 && r.IntN(3) == 0:
		return drawAsserted(r, depth)
	case n < 5: // a concatenation
		var parts []drawn
		var b strings.Builder
		for range 2 + r.IntN(2) {
			d := drawPattern(r, depth-1)
			if strings.Contains(d.source, "|") {
				d = group(d)
			}
			parts = append(parts, d)
			b.WriteString(d.source)
		}
		return drawn{b.String(), func(r *rand.Rand) string {
			var b strings.Builder
			for _, d := range parts {
				b.WriteString(d.draw(r))
			}
			return b.String()
		}}
	case n < 6:
		a, b := drawPattern(r, depth-1), drawPattern(r, depth-1)
		return drawn{a.source + "|" + b.source, func(r *rand.Rand) string {
			if r.IntN(2) == 0 {
				return a.draw(r)
			}
			return b.draw(r)
		}}
	}
	d := group(drawPattern(r, depth-1))
	least, most, quantifier := 0, -1, ""
	switch r.IntN(6) {
	case 0:
		quantifier = "*"
	case 1:
		least, quantifier = 1, "+"
	case 2:
		most, quantifier = 1, "?"
	case 3:
		least = 1 + r.IntN(9)
		most, quantifier = least, fmt.Sprintf("{%d}", least)
	case 4:
		least = r.IntN(4)
		quantifier = fmt.Sprintf("{%d,}", least)
	case 5:
		least = r.IntN(4)
		most = least + 1 + r.IntN(9)
		quantifier = fmt.Sprintf("{%d,%d}", least, most)
	}
	return drawn{d.source + quantifier, func(r *rand.Rand) string {
		n := least + r.IntN(4)
		if r.IntN(4) == 0 {
			n = least + r.IntN(20)
		}
		if most >= 0 {
			n = min(n, most)
		}
		var b strings.Builder
		for range n {
			b.WriteString(d.draw(r))
		}
		return b.String()
	}}
}

// drawAsserted returns a random expression with an assertion.
func drawAsserted(r *rand.Rand, depth int) drawn {
	d, about := drawPattern(r, depth-1), drawPattern(r, depth-1)
	body := "(?:" + d.source + ")"
	switch r.IntN(8) {
	case 0:
		return drawn{"(?=" + about.source + ")" + body, d.draw}
	case 1:
		return drawn{"(?!" + about.source + ")" + body, d.draw}
	case 2:
		return drawn{body + "(?<=" + about.source + ")", d.draw}
	case 3:
		return drawn{body + "(?<!" + about.source + ")", d.draw}
	case 4:
		return drawn{`\b` + body, d.draw}
	case 5:
		return drawn{body + `\B`, d.draw}
	case 6:
		return drawn{"^" + body, d.draw}
	}
	return drawn{body + "$", d.draw}
}

// hasAssertion matches the assertions that drawAsserted generates.
var hasAssertion = regexp.MustCompile(`\(\?[=!<]|\\[bB]|[\^$]`)

// ecmaJudge returns a function that matches texts with a backtracking engine. known is false if that takes too
// long, and from then on: what takes it too long once does so for most texts.
func ecmaJudge(source string) (func(text string) (match, known bool), error) {
	re, err := regexp2.Compile(source, regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = patternTimeout
	boundary := strings.Contains(source, `\b`) || strings.Contains(source, `\B`)
	late := false
	return func(text string) (bool, bool) {
		if late {
			return false, false
		}
		if boundary && strings.ContainsFunc(text, func(c rune) bool { return c > 127 }) {
			return false, false // for \b, é is a letter in regexp2, but not in ECMA-262
		}
		match, err := re.MatchString(text)
		late = err != nil
		return match, !late
	}, nil
}

// drawPeriodic returns a repeated block with a different end, such as base64.
func drawPeriodic(r *rand.Rand) drawn {
	c := drawClass(r)
	k := 2 + r.IntN(8)
	block := drawn{fmt.Sprintf("(?:%s){%d}", c.source, k), func(r *rand.Rand) string {
		var b strings.Builder
		for range k {
			b.WriteString(c.draw(r))
		}
		return b.String()
	}}
	quantifier := []string{"*", "+", "{0,5}", "{2,}"}[r.IntN(4)]
	tail := drawPattern(r, 2)
	return drawn{"(?:" + block.source + ")" + quantifier + "(?:" + tail.source + ")", func(r *rand.Rand) string {
		var b strings.Builder
		for range 2 + r.IntN(4) {
			b.WriteString(block.draw(r))
		}
		return b.String() + tail.draw(r)
	}}
}

// TestPatterns draws regular expressions, and texts that match them. However such a text is split into tokens,
// each must be in its mask. Texts that differ by one edit are also matched by a different engine: Go's regexp, or
// regexp2 if there are assertions.
func TestPatterns(t *testing.T) {
	v := realVocab(t, "llama3.gguf")
	for i := range *patternCount {
		seed := *patternSeed + uint64(i)
		if !t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { checkPattern(t, v, rand.New(rand.NewPCG(seed, 1))) }) && i > 500 {
			break
		}
	}
}

// FuzzPatterns is TestPatterns with expressions, texts and edits generated from the fuzzer's bytes.
func FuzzPatterns(f *testing.F) {
	v := realVocab(f, "llama3.gguf")
	for seed := range uint64(20) {
		tape := make([]byte, 64)
		for i, r := 0, rand.New(rand.NewPCG(seed, 1)); i < len(tape); i++ {
			tape[i] = byte(r.Uint32())
		}
		f.Add(tape)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkPattern(t, v, rand.New(&tape{data, rand.NewPCG(uint64(len(data)), 1)}))
	})
}

// A tape is a source of random numbers that repeats each byte 8 times, so that one byte determines a choice. At
// its end, it continues with another source.
type tape struct {
	data []byte
	then rand.Source
}

func (s *tape) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.then.Uint64()
	}
	b := s.data[0]
	s.data = s.data[1:]
	return uint64(b) * 0x0101010101010101
}

func checkPattern(t *testing.T, v *vocab.Vocab, r *rand.Rand) {
	d := drawPattern(r, 1+r.IntN(4))
	if r.IntN(3) == 0 {
		d = drawPeriodic(r)
	}
	anchored := r.IntN(4) > 0
	source := d.source
	if anchored {
		source = "^(?:" + source + ")$"
	}
	asserted := hasAssertion.MatchString(strings.NewReplacer(`[^\r\n]`, "", "[^,;]", "").Replace(d.source))
	var judge func(text string) (match, known bool)
	// Go's regexp supports neither assertions nor counts above 1,000.
	if re, err := regexp.Compile(source); err == nil && !asserted {
		judge = func(text string) (bool, bool) { return re.MatchString(text), true }
	} else if judge, err = ecmaJudge(source); err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	compiled, err := schema.Compile(fmt.Appendf(nil, `{"type": "string", "pattern": %s}`, jsondoc.AppendQuoted(nil, source)), schema.Options{})
	if asserted && errors.As(err, new(*schema.UnsatisfiableError)) {
		for range 20 {
			if text := d.draw(r); len(text) < 400 {
				if match, known := judge(text); known && match {
					t.Fatalf("%s: matches %q, and nothing can be written: %v", source, text, err)
				}
			}
		}
		return
	}
	if errors.As(err, new(*schema.UnsupportedError)) && strings.Contains(d.source, "(?<") {
		return // a look-behind that contains an assertion or too many cases
	}
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	grammar := compiled.Grammar(v)
	for range 4 {
		text := d.draw(r)
		if len(text) > 400 {
			continue
		}
		if !anchored && r.IntN(2) == 0 {
			text = "x" + text + " y"
		}
		match, known := judge(text)
		switch {
		case !known, !match && asserted:
			continue
		case !match:
			t.Fatalf("%s: %q was drawn, and the judge says no", source, text)
		}
		quoted := jsondoc.AppendQuoted(nil, text)
		for range 3 {
			m := grammar.NewMatcher()
			for i, tok := range Split(r, v, quoted) {
				mask, err := m.Mask()
				if err != nil {
					t.Fatalf("%s: %v", source, err)
				}
				if !mask.Has(tok) {
					t.Fatalf("%s: %s, token %d %q is not in the mask after %q", source, quoted, i, v.Bytes(tok), m.Text())
				}
				if err := m.Accept(tok); err != nil {
					t.Fatalf("%s: %s: %v", source, quoted, err)
				}
			}
			if !m.Accepting() {
				t.Fatalf("%s: %s is not complete", source, quoted)
			}
		}
		for range 3 {
			edited := edit(r, text)
			quoted := jsondoc.AppendQuoted(nil, edited)
			m := grammar.NewMatcher()
			n, err := m.AcceptBytes(quoted)
			want, known := judge(edited)
			if got := err == nil && n == len(quoted) && m.Accepting(); known && got != want {
				t.Fatalf("%s: %s: accepted %v, the judge says %v", source, quoted, got, want)
			}
		}
	}
}

// edit changes one character of a text.
func edit(r *rand.Rand, text string) string {
	list := []rune(text)
	i := r.IntN(len(list) + 1)
	c := []rune("ab09-=. é")[r.IntN(9)]
	switch {
	case i == len(list) || r.IntN(3) == 0:
		list = append(list[:i:i], append([]rune{c}, list[i:]...)...)
	case r.IntN(2) == 0:
		list = append(list[:i:i], list[i+1:]...)
	default:
		list[i] = c
	}
	return string(list)
}
