package gbnf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrors checks every kind of error, with its place and wording.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "gbnf: the grammar is empty: a rule named root is needed"},
		{" # nothing\n\n", "gbnf: the grammar is empty: a rule named root is needed"},
		{"a ::= \"x\"", "gbnf: there is no rule named root"},
		{"a ::= b\n", "gbnf: there is no rule named root; gbnf: 1:7: rule \"a\": undefined rule \"b\""},
		{"root ::= a\na ::= pwan | pwan2 # no", `gbnf: 2:7: rule "a": undefined rule "pwan"; gbnf: 2:14: rule "a": undefined rule "pwan2"`},
		{"root ::= \"a\"\nroot ::= \"b\"", `gbnf: 2:1: rule "root" is defined twice, first in line 1`},
		{"root = \"a\"", `gbnf: 1:6: expected ::= after the name "root", found '='`},
		{"::= \"a\"", `gbnf: 1:1: expected the name of a rule, found ':'`},
		{"root ::= \"a\" &", `gbnf: 1:14: rule "root": expected an element or the end of the line, found '&'`},
		{"root ::= a b ::= \"b\"", `gbnf: 1:12: rule "root": the definition of rule "b" begins before this rule has ended`},
		{"root ::=\nb ::= \"b\"", `gbnf: 2:1: rule "root": the definition of rule "b" begins before this rule has ended`},
		{"root ::= (\"a\"", `gbnf: 1:10: rule "root": group is not closed`},
		{"root ::= (\"a\" ]", `gbnf: 1:15: rule "root": expected an element or ), found ']'`},
		{"root ::= \"a\")", `gbnf: 1:13: rule "root": expected an element or the end of the line, found ')'`},
		{"root ::= \"a", `gbnf: 1:10: rule "root": text is not closed`},
		{"root ::= [a-z", `gbnf: 1:10: rule "root": set is not closed`},
		{"root ::= []", `gbnf: 1:10: rule "root": set [] is empty and matches nothing`},
		{`root ::= [^\x00-\U0010FFFF]`, `gbnf: 1:10: rule "root": set [^\x00-\U0010FFFF] leaves out every character`},
		{"root ::= [z-a]", `gbnf: 1:10: rule "root": set [z-a] is empty and matches nothing`},
		{"root ::= *", `gbnf: 1:10: rule "root": '*' has nothing before it to repeat`},
		{"root ::= \"a\" | {2}", `gbnf: 1:16: rule "root": '{' has nothing before it to repeat`},
		{"root ::= \"a\"{3,2}", `gbnf: 1:13: rule "root": count {3,2} is reversed`},
		{"root ::= \"a\"{,2}", `gbnf: 1:14: rule "root": expected a count, found ','`},
		{"root ::= \"a\"{2;}", `gbnf: 1:15: rule "root": expected } or a comma, found ';'`},
		{"root ::= \"a\"{2,x}", `gbnf: 1:16: rule "root": expected a count or }, found 'x'`},
		{"root ::= \"a\"{2", `gbnf: 1:15: rule "root": expected } or a comma, found the end of the grammar`},
		{"root ::= \"a\"{99999999999}", `gbnf: 1:14: rule "root": number is larger than 2147483647`},
		{`root ::= "\q"`, `gbnf: 1:11: rule "root": unknown escape \q`},
		{`root ::= "\`, `gbnf: 1:11: rule "root": backslash at the end of the grammar`},
		{`root ::= "\x4"`, `gbnf: 1:11: rule "root": \x needs 2 hexadecimal digits`},
		{`root ::= "\uD83D"`, `gbnf: 1:11: rule "root": U+D83D is a surrogate, half a character`},
		{`root ::= [\uDC00-\uDFFF]`, `gbnf: 1:11: rule "root": U+DC00 is a surrogate, half a character`},
		{`root ::= "\U00110000"`, `gbnf: 1:11: rule "root": U+110000 is beyond the last code point, U+10FFFF`},
		{"root ::= \"é\xff\"", `gbnf: 1:12: malformed UTF-8: byte 0xFF`},
		{"# \xe9\nroot ::= \"\"", `gbnf: 1:3: malformed UTF-8: byte 0xE9`},
		{"root ::= <think", `gbnf: 1:10: rule "root": token is not closed`},
		{"root ::= <[x]>", `gbnf: 1:12: rule "root": expected the number of a token, found 'x'`},
		{"root ::= <[1>", `gbnf: 1:13: rule "root": expected ]>, found '>'`},
		{"root ::= !\"a\"", `gbnf: 1:11: rule "root": expected < after !, found '"'`},
		{"root ::= \"a\" root", `gbnf: 1:1: rule "root": can never end: every way through it needs a rule that can never end`},
		{"root ::= a | b\na ::= b \"x\"\nb ::= a", `gbnf: 1:1: rule "root": can never end: every way through it needs a rule that can never end`},
	} {
		_, err := Compile(c.src, Options{})
		if err == nil {
			t.Errorf("%q compiles", c.src)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, err, c.want)
		}
	}
}

func TestDetail(t *testing.T) {
	_, err := Compile("root ::= a\n\ta ::= \"é\" undefined\r\n", Options{})
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	want := "2:12: rule \"a\": undefined rule \"undefined\"\n\t\ta ::= \"é\" undefined\n\t\t          ^"
	if got := invalid.Issues[0].Detail(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWarnings(t *testing.T) {
	g, err := Compile("root ::= \"a\" | loop\nloop ::= \"x\" loop\nspare ::= \"b\" [^a-z\\]-[]\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range g.Report().Warnings {
		got = append(got, w.String())
	}
	want := "3:20: rule \"spare\": range \\]-[ is reversed and holds nothing\n3:1: rule \"spare\": is never used\n2:1: rule \"loop\": can never end: every way through it needs a rule that can never end"
	if strings.Join(got, "\n") != want {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
}

// TestString checks the normal form, one line each, and that it is idempotent.
func TestString(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`root ::= "a"`, `root ::= "a"`},
		{"root ::= (\"a\" | ( \"b\" \n\"c\"))\n  | \"d\"", `root ::= "a" | "b" "c" | "d"`},
		{`root ::= ("a" "b")* ("c" | "d"){2,3} ((("e")))+`, `root ::= ("a" "b")* ("c" | "d"){2,3} "e"+`},
		{`root ::= a*+?{2}{3,} # stacked` + "\na ::=", "root ::= a*+?{2}{3,}\na ::= ()"},
		{`root ::= | "a" |`, `root ::= () | "a" | ()`},
		{`root ::= [-a\-z]`, ``},
		{`root ::= [\x2D^\]\\a-] [^^] [a\x5E]`, `root ::= [\x2D\x5E\]\\a\x2D] [^\x5E] [a\x5E]`},
		{`root ::= "\"\\\[\]\n\t\r\x00\u00e9\U0001F600 é"`, `root ::= "\"\\[]\n\t\r\x00é😀 é"`},
		{`root ::= <[12]> !<think> !<[3]> <|im_end|>`, `root ::= <[12]> !<think> !<[3]> <|im_end|>`},
		{`root ::= ("a"{ 0 , 1 } "c"{1,} "d"{0,0} "e"{7,7})`, `root ::= "a"? "c"+ "d"{0} "e"{7}`},
		{"root-rule_1 ::= \"\"\nroot ::= root-rule_1 .", "root-rule_1 ::= \"\"\nroot ::= root-rule_1 ."},
		{"\ufeffroot ::= \"a\"", ""},
	} {
		f, err := parse(c.src, Limits{}.withDefaults(), nil)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q parses to %s", c.src, f)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
			continue
		}
		if got := strings.TrimSuffix(f.String(), "\n"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.src, got, c.want)
		}
		sameAgain(t, f)
	}
}

// sameAgain checks that a grammar's text parses to the same tree.
func sameAgain(t *testing.T, f *file) {
	t.Helper()
	again, err := parse(f.String(), Limits{}.withDefaults(), nil)
	if err != nil {
		t.Errorf("%q: %v", f.String(), err)
		return
	}
	if len(f.rules) != len(again.rules) {
		t.Errorf("%q has %d rules, then %d", f.String(), len(f.rules), len(again.rules))
		return
	}
	for i, r := range f.rules {
		if r.name != again.rules[i].name || !r.body.equal(again.rules[i].body) {
			t.Errorf("rule %s of %q changes to %q", r.name, f.String(), again.String())
		}
	}
}

// sample is a grammar of testdata.
type sample struct{ name, src string }

func samples(t testing.TB) (list []sample) {
	t.Helper()
	names, err := filepath.Glob("testdata/*.gbnf")
	if err != nil || len(names) == 0 {
		t.Fatal("no grammars", err)
	}
	for _, name := range names {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sample{strings.TrimSuffix(filepath.Base(name), ".gbnf"), string(src)})
	}
	return list
}

func TestSamplesPrint(t *testing.T) {
	for _, s := range samples(t) {
		f, err := parse(s.src, Limits{}.withDefaults(), nil)
		if err != nil {
			t.Errorf("%s: %v", s.name, err)
			continue
		}
		sameAgain(t, f)
	}
}

// TestProgram checks the programs of simple grammars.
func TestProgram(t *testing.T) {
	g, err := Compile("root ::= list{2,5} \"x\"?\nlist ::= list \",\" item | item\nitem ::= [a-z]+\n", Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.program(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `   0 end
   1 char [x] -> 0
   2 alt [1 0]
   3 again #0
   4 call list -> 3
root:
   5 enter #0 {2,5} -> 4, exit 2
   6 end
   7 alt [8 6]
   8 char [a-z] -> 7
   9 char [,] -> 8
  10 call list -> 9
  11 alt [12 6]
  12 char [a-z] -> 11
list:
  13 alt [10 12]
  14 end
  15 alt [16 14]
item:
  16 char [a-z] -> 15
`
	if p.String() != want {
		t.Errorf("got\n%s", p)
	}
}
