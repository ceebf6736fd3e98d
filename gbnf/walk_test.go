package gbnf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/vocab"
)

// TestWalks generates 200 random texts of each grammar with each vocabulary; an
// independent recogniser has to accept them all.
func TestWalks(t *testing.T) {
	n := 200
	if testing.Short() || slowness > 1 {
		n = 20
	}
	for _, name := range []string{"llama3.gguf", "llama2.gguf"} {
		t.Run(name, func(t *testing.T) {
			v := realVocab(t, name)
			tokens := walk.NewTokens(v)
			for _, s := range samples(t) {
				judge := newEarley(t, s.src)
				g := bind(t, s.src, v)
				for i := range n {
					w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(7, uint64(i))), Budget: 30}
					text, err := w.Document(walk.Of(g.NewMatcher()))
					if err != nil {
						t.Errorf("%s: %v after %q", s.name, err, text)
						break
					}
					if whole, _ := judge.parse(string(text)); !whole {
						t.Errorf("%s: made %q, which does not belong", s.name, text)
						break
					}
				}
			}
		})
	}
}

// TestAccepted checks handwritten texts against the grammars, and against the
// recogniser of the tests.
func TestAccepted(t *testing.T) {
	for _, s := range samples(t) {
		lists, ok := handWritten[s.name]
		if !ok {
			t.Errorf("no texts for %s", s.name)
			continue
		}
		g := bind(t, s.src, byteVocab(t))
		judge := newEarley(t, s.src)
		for _, text := range lists.accepted {
			if whole, _ := judge.parse(text); !whole || !accepts(g, text) {
				t.Errorf("%s refuses %q", s.name, text)
			}
		}
		for _, text := range lists.refused {
			if whole, _ := judge.parse(text); whole || accepts(g, text) {
				t.Errorf("%s accepts %q", s.name, text)
			}
		}
	}
}

var handWritten = map[string]struct{ accepted, refused []string }{
	"json": {
		[]string{`0`, `-12.5e+7 `, `"a\u00e9\"é😀"`, `[]`, `[1, 2,[true,null ]]`, `{"a":{"b":[ ]},"a":1}`, "{\n\t \"x\": false}\n   "},
		[]string{``, `01`, `-`, `"`, "\"\n\"", `"\x"`, `[1,]`, `{"a"}`, `{"a":1,}`, `truefalse`, ` 1`, `1.`, "\"\xff\""},
	},
	"arithmetic": {
		[]string{"a=1\n", "(a+b)*c = 12\n", "x=1\ny=(((2)))\n"},
		[]string{"", "a=1", "a+=1\n", "=1\n", "(a=1\n", "A=1\n"},
	},
	"leftrec": {
		[]string{"a", "1+2-3*4/5", "2^3^4", "f(x)(y).z", " ~~f()", "(a+b).c(1, 2,3)", "~a(b).c+1", "~ ~a(b)(c)(d)"},
		[]string{"", "+a", "a+", "f(", "f(,)", "a..b", "~a", "toolongname", "a b"},
	},
	"chess": {
		[]string{"1. e4 e5\n2. Nf3 Nc6\n", "1. d4 d5\n2. O-O O-O-O\n10. bxc8=Q+ Kxa1#\n"},
		[]string{"1. e4 e5\n", "1. e4\n2. d4 d5\n", "1. e9 e5\n2. a1 a1\n", "1. e4 e5\n2. Nf3 Nc6"},
	},
	"list": {
		[]string{"- a\n", "- milk\n- eggs, 12 – large\n- 日本\n"},
		[]string{"", "- \n", "a\n", "- a", "- a\r\n", "- a\u2028b\n"},
	},
	"c": {
		[]string{
			"", "int main(){}", "int main() { int x = 1; return x; }\n",
			"void f(int a, float b) {\n\t// done?\n\twhile (a < 10) { a = a + 1; }\n\t/* ** / **/ f(a, -b * 2.5);\n}\nchar g(){return 'x';}",
			"int f(){ for(i=0;i<3;i=i+1){ if (a==b){ p(\"%d\\n\", 1); } else { } } }",
		},
		[]string{"int main()", "main(){}", "int f(){return 1}", "int f(){x=;}", "int f(){/* }", "int f(){a=\"x\n\";}", "int f(){if(a){}}"},
	},
	"date": {
		[]string{"2026-11-21", "2000-02-29", "1999-12-31T23:59:59.123456789Z", "1999-01-01T00:00:00+09:00"},
		[]string{"2026-02-30", "2026-04-31", "2026-1-1", "2026-13-01", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00", "2026-01-01T00:00:00.1234567890Z"},
	},
	"japanese": {
		[]string{"日本語", "これは、ペンです。", "東京 タワー\nです"},
		[]string{"", "abc", "。", " 東", "東  京", "、あ"},
	},
}

// TestMasks compares masks with the results of trying every token, at random
// positions of random texts.
func TestMasks(t *testing.T) {
	v := thinVocab(t, realVocab(t, "llama3.gguf"), 40)
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range append(samples(t), tricky...) {
		compareMasks(t, s.name, bind(t, s.src, v), v, rng, 25)
	}
}

// compareMasks walks at random and compares up to n masks with the naive ones.
func compareMasks(t *testing.T, name string, g *decoder.Grammar, v *vocab.Vocab, rng *rand.Rand, n int) {
	t.Helper()
	m := g.NewMatcher()
	for range n {
		mask, err := m.Mask()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		want := naiveMask(m, v)
		got := mask.AppendTokens(nil)
		if reason := difference(got, want, v); reason != "" || mask.Len() != len(got) {
			t.Errorf("%s after %q: %s; the mask says it has %d tokens", name, m.Text(), reason, mask.Len())
			return
		}
		end := m.Clone()
		if text := end.ShortestCompletion(); len(text) > 0 == end.Accepting() {
			t.Errorf("%s after %q: accepting %t, completion %q", name, m.Text(), m.Accepting(), text)
		} else if _, err := end.AcceptBytes(text); err != nil || !end.Accepting() {
			t.Errorf("%s after %q: %q completes nothing: %v", name, m.Text(), text, err)
		}
		next := got[rng.IntN(len(got))]
		if rng.IntN(2) == 0 {
			// Punctuation leads to more positions than words do.
			for range 8 {
				if b := v.Bytes(next); len(b) < 3 {
					break
				}
				next = got[rng.IntN(len(got))]
			}
		}
		if v.IsEOG(next) {
			m = g.NewMatcher()
			continue
		}
		if err := m.Accept(next); err != nil {
			t.Errorf("%s after %q: token %q of the mask: %v", name, m.Text(), v.Bytes(next), err)
			return
		}
	}
}

// naiveMask tries every token.
func naiveMask(m *decoder.Matcher, v *vocab.Vocab) (list []int32) {
	for id := range int32(v.Len()) {
		text := v.Bytes(id)
		if v.IsEOG(id) {
			if m.Accepting() {
				list = append(list, id)
			}
		} else if len(text) > 0 {
			if err := m.Clone().Accept(id); err == nil {
				list = append(list, id)
			}
		}
	}
	return list
}

func difference(got, want []int32, v *vocab.Vocab) string {
	has := map[int32]int{}
	for _, t := range got {
		has[t] |= 1
	}
	for _, t := range want {
		has[t] |= 2
	}
	for t, in := range has {
		if in != 3 {
			return fmt.Sprintf("token %d %q: mask and matcher disagree (%d)", t, v.Bytes(t), in)
		}
	}
	return ""
}

// tricky holds grammars at which the machine may go wrong.
var tricky = []sample{
	{"ambiguous", "root ::= root root | \"a\" | root \"+\" root | \"b\" root"},
	{"palindrome", "root ::= \"a\" root \"a\" | \"b\" root \"b\" | \"c\"? "},
	{"empty loops", "root ::= (a*)* ((b?){2,5}){1,3} c\na ::= \"\" | \"x\" a\nb ::= (\"y\"?)*\nc ::= a? b? \"z\""},
	{"counted", "root ::= ([a-z]{2,40} \",\" | [0-9]{3}){2,9} (\"é\"{2} | .{5,300})"},
	{"counted interval", "root ::= (\"a\" | \"aa\" | \"aaa\"){3,70} ((\"b\" | \"bb\"){2,3} \"c\"){2,}"},
	{"counted calls", "root ::= list{2,3} \"!\"\nlist ::= list \",\" item | item | \"(\" list{1,2} \")\"\nitem ::= [a-z]+ | list \"-\""},
	{"hidden left", "root ::= empty root \"x\" | \"y\" | mid\nempty ::= \"e\"? \nmid ::= empty low \"m\"\nlow ::= mid | root \"l\" | \"w\""},
	{"left counted", "root ::= (root \"x\"){2,3} | (pre \"-\"){1,2} \"e\"\npre ::= root | \"p\""},
	{"never", "root ::= \"a\" dead | \"b\" (dead | \"c\") | dead? \"d\"\ndead ::= \"q\" dead"},
	{"any", "root ::= . | ..... [^a]{3}"},
	{"nul", "root ::= \"\\x00\" [\\x00-\\x02]{2} [^\\x00]?"},
	{"planes", "root ::= ([\\u0700-\\U00010400] | [\\U00020000-\\U0010FFFF]x | [^\\u0000-\\uFFFF]y){1,4}\nx ::= \"é\"\ny ::= \"y\""},
	{"words", "root ::= word (\" \" word)*\nword ::= \"int\" | \"interval\" | [a-z_] [a-z0-9_]* | \"é\" [^ ]"},
	{"tail", "root ::= \"[\" root | \"]\" | tail\ntail ::= \"{\" other | \"}\"\nother ::= \"<\" tail | tail root"},
}

// TestTricky compares the machine with the recogniser, character by character,
// on all short texts over a small alphabet.
func TestTricky(t *testing.T) {
	for _, s := range tricky {
		g := bind(t, s.src, byteVocab(t))
		judge := newEarley(t, s.src)
		alphabet := alphabetOf(t, s.src)
		rng := rand.New(rand.NewPCG(3, 4))
		for range 3000 {
			var text []byte
			for range rng.IntN(12) {
				text = append(text, string(alphabet[rng.IntN(len(alphabet))])...)
			}
			whole, _ := judge.parse(string(text))
			if got := accepts(g, string(text)); got != whole {
				t.Errorf("%s: %q: accepted %t, belongs %t", s.name, text, got, whole)
				break
			}
		}
		// Random texts seldom belong to the grammar: generate some that should.
		tokens := walk.NewTokens(byteVocab(t))
		for i := range 300 {
			w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(5, uint64(i))), Budget: 12}
			text, err := w.Document(walk.Of(bind(t, s.src, byteVocab(t)).NewMatcher()))
			if err != nil {
				t.Errorf("%s: %v after %q", s.name, err, text)
				break
			}
			if whole, _ := judge.parse(string(text)); !whole {
				t.Errorf("%s: made %q, which does not belong", s.name, text)
				break
			}
			// A text with a part removed must be refused exactly when it should
			// be.
			if len(text) > 0 {
				cut := bytes.Clone(text)
				at := rng.IntN(len(cut))
				cut = append(cut[:at], cut[at+1:]...)
				if whole, _ := judge.parse(string(cut)); whole != accepts(g, string(cut)) {
					t.Errorf("%s: %q: accepted %t", s.name, cut, !whole)
					break
				}
			}
		}
	}
}

// alphabetOf returns the characters that a grammar mentions, and some others.
func alphabetOf(t *testing.T, src string) (list []rune) {
	f, err := parse(src, Limits{}.withDefaults(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.rules {
		r.body.walk(func(e *expr) {
			list = append(list, []rune(e.text)...)
			if e.op == opRef {
				list = list[:len(list)-len([]rune(e.text))]
			}
			for _, x := range e.ranges {
				list = append(list, x.Lo, x.Hi)
			}
		})
	}
	return append(list, '~', 'é')
}
