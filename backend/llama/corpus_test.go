//go:build llama && cgo

package llama

import (
	"fmt"
	"go/build"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// corpus generates texts of many kinds that are hard to tokenize.
type corpus struct {
	rng      *rand.Rand
	controls []string // texts of added tokens, which are mixed in
	lines    []string // of source code
	scripts  []*unicode.RangeTable
}

// newCorpus returns a source of texts, determined by the seed and controls.
func newCorpus(seed uint64, controls []string) *corpus {
	c := &corpus{rng: rand.New(rand.NewPCG(seed, 1)), controls: controls}
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		c.scripts = append(c.scripts, unicode.Scripts[name])
	}
	for _, file := range []string{"fmt/print.go", "regexp/exec.go", "html/entity.go", "unicode/utf8/utf8.go", "net/http/server.go"} {
		if b, err := os.ReadFile(filepath.Join(build.Default.GOROOT, "src", file)); err == nil {
			c.lines = append(c.lines, strings.SplitAfter(string(b), "\n")...)
		}
	}
	if len(c.lines) == 0 {
		c.lines = []string{"func main() {\n", "\tfmt.Println(\"hello\")\n", "}\n"}
	}
	return c
}

func (c *corpus) pick(list ...string) string { return list[c.rng.IntN(len(list))] }

// strings returns n texts. Invalid UTF-8 comes last in a text, if at all, so
// that it does not affect what follows.
func (c *corpus) strings(n int) []string {
	makers := []func() string{c.code, c.json, c.words, c.words, c.blanks, c.emoji, c.control, c.digits, c.marks, c.english, c.anyRunes, c.broken}
	out := make([]string, 0, n)
	for i := range n {
		s := makers[i%len(makers)]()
		for c.rng.IntN(2) == 0 {
			s += c.pick("", " ", "\n", "  ") + makers[c.rng.IntN(len(makers)-1)]()
		}
		out = append(out, s)
	}
	return out
}

func (c *corpus) repeat(limit int, f func() string) string {
	var b strings.Builder
	for range 1 + c.rng.IntN(limit) {
		b.WriteString(f())
	}
	return b.String()
}

func (c *corpus) code() string {
	from := c.rng.IntN(len(c.lines))
	return strings.Join(c.lines[from:min(len(c.lines), from+1+c.rng.IntN(6))], "")
}

func (c *corpus) json() string {
	if c.rng.IntN(3) == 0 {
		return c.pick("true", "null", fmt.Sprint(c.rng.Float64()*1e6), fmt.Sprintf("%q", c.words()), fmt.Sprintf("%q", c.emoji()))
	}
	sep := c.pick(",", ", ", ",\n  ")
	if c.rng.IntN(2) == 0 {
		return "[" + strings.TrimSuffix(c.repeat(4, func() string { return fmt.Sprint(c.rng.IntN(1e4)) + sep }), sep) + "]"
	}
	return "{" + c.repeat(4, func() string {
		return fmt.Sprintf("%q%s", c.pick("name", "id", "größe", "値", "a b"), c.pick(":", ": ")) + c.json() + sep
	}) + "}"
}

// words returns words of one script.
func (c *corpus) words() string {
	table := c.scripts[c.rng.IntN(len(c.scripts))]
	return c.repeat(6, func() string {
		return c.repeat(8, func() string { return string(c.in(table)) }) + c.pick(" ", " ", "", "-", ". ", "、", "\u00a0", "'s ")
	})
}

func (c *corpus) in(t *unicode.RangeTable) rune {
	n := c.rng.IntN(len(t.R16) + len(t.R32))
	if n < len(t.R16) {
		r := t.R16[n]
		return rune(r.Lo) + rune(c.rng.IntN(int(r.Hi-r.Lo)/int(r.Stride)+1))*rune(r.Stride)
	}
	r := t.R32[n-len(t.R16)]
	return rune(r.Lo) + rune(c.rng.IntN(int(r.Hi-r.Lo)/int(r.Stride)+1))*rune(r.Stride)
}

func (c *corpus) blanks() string {
	return c.repeat(12, func() string {
		return c.pick(" ", " ", "  ", "\t", "\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u200b", "\u3000", "\ufeff", "x", "。", "1", "\x00", "\x1b")
	})
}

func (c *corpus) emoji() string {
	return c.repeat(6, func() string {
		return c.pick("😀", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "❤️", "🏳️‍🌈", "☕", "1️⃣", string(rune(0x1f300+c.rng.IntN(0x500))), " ")
	})
}

func (c *corpus) control() string {
	return c.repeat(5, func() string {
		s := c.pick("<|eot_id|>", "<s>", "</s>", "[INST]", "<|im_end|>", "<0x0A>", "▁", "<unk>", "Ġ")
		if len(c.controls) > 0 && c.rng.IntN(2) == 0 {
			s = c.controls[c.rng.IntN(len(c.controls))]
		}
		switch c.rng.IntN(6) {
		case 0:
			s = s[:c.rng.IntN(len(s)+1)]
		case 1:
			s = s + s
		}
		return s + c.pick("", " ", "\n\n", "user", " x")
	})
}

func (c *corpus) digits() string {
	return c.repeat(5, func() string {
		return c.repeat(10, func() string {
			return c.pick("0", "1", "2", "9", "7", "٣", "५", "²", "Ⅷ", "½")
		}) + c.pick("", ".", ",", " ", "a", "e-", "%")
	})
}

func (c *corpus) marks() string {
	return c.repeat(20, func() string {
		if c.rng.IntN(8) == 0 {
			return c.pick("a", "Z", " ", "\n", "ä", "e\u0301", "文", "’", "…", "€", "¿", "«", "•", "。", "！")
		}
		return string(rune(0x21 + c.rng.IntN(0x5e)))
	})
}

func (c *corpus) english() string {
	return c.repeat(10, func() string {
		return c.pick("the", "The", "THE", "don't", "I'LL", "we've", "They'RE", "x'D", "'s", "'tis", "naïve", "Größe", "camelCaseWord", "HTTPServer", "élan", "ſ", "K's") +
			c.pick(" ", " ", " ", ", ", ".\n", "! ", "/", "  ", " ?", " ' ", " 's")
	})
}

// anyRunes returns arbitrary characters, assigned or not.
func (c *corpus) anyRunes() string {
	return c.repeat(12, func() string {
		switch c.rng.IntN(4) {
		case 0:
			return string(rune(c.rng.IntN(0x110000))) // surrogates become U+FFFD
		case 1:
			return string(rune(c.rng.IntN(0x3000)))
		case 2:
			return string(rune(0x2000 + c.rng.IntN(0x1000)))
		}
		return c.pick("a", " ", "\n", "1")
	})
}

// broken returns invalid UTF-8.
func (c *corpus) broken() string {
	return c.repeat(10, func() string {
		return c.pick("\x80", "\xff", "\xc3", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf0\x9f\x98", "\xf8", "ok", " ", "é", "\xe0\x80\xa0")
	})
}
