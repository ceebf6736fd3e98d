package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
)

const listGrammar = "root ::= item+\nitem ::= \"- \" [a-zé]+ \"\\n\"\nspare ::= \"x\"\n"

func TestGrammarMatch(t *testing.T) {
	list := writeTemp(t, "list.gbnf", listGrammar)
	for _, c := range []struct {
		file, text string
		flags      []string
		status     int
		says       string
	}{
		{list, "- a\n- bé\n", nil, 0, "accepted"},
		{list, "- a\n- é!\n", nil, exitRefused, "refused at line 2, column 4: decoder: byte 8: unexpected '!': expected \"\\n\" (item) or [a-zé] (item)"},
		{list, "- a", nil, exitIncomplete, `could end with "\n"`},
		{"json", `{"a": [1, 2]}`, nil, 0, "accepted"},
		{"csv", "a,b,c\n1,2,3\n", []string{"--columns", "3"}, 0, "accepted"},
		{"csv", "a,b,c\n1,2,3\n", nil, exitRefused, "line 1, column 4"},
		{"csv", "id,name\n1,x\n", []string{"--header", "id,name"}, 0, "accepted"},
		{"xml", "<a><b></c></a>", nil, exitRefused, "line 1, column 9"},
		{"regex", "2026-11-21", []string{"--pattern", `\d{4}-\d\d-\d\d`}, 0, "accepted"},
		{"choice", "maybe", []string{"--choice", "yes", "--choice", "maybe, or not"}, exitIncomplete, `", or not"`},
		{"regex", "AB", []string{"--pattern", `(?i)ab`, "--go-regex"}, 0, "accepted"},
		{"regex", "", nil, exitWrong, "there is no pattern"},
		{"nothing", "", nil, exitWrong, "no built-in grammar"},
		{writeTemp(t, "tokens.gbnf", "root ::= <think> !<think>*"), "a", nil, exitWrong, "--vocab"},
		{writeTemp(t, "bad.gbnf", "root ::= (\"a\""), "a", nil, exitWrong, `1:10: rule "root": group is not closed`},
	} {
		args := append([]string{"grammar", "match", c.file, "--text-file", "-"}, c.flags...)
		out, status, err := runCommand(t, c.text, args...)
		if err != nil {
			out += err.Error()
		}
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%s with %q %v: status %d, want %d; says %s", filepath.Base(c.file), c.text, c.flags, status, c.status, out)
		}
	}
}

// TestGrammarTokens checks grammars that refer to tokens.
func TestGrammarTokens(t *testing.T) {
	vocabFile := shared.File(t, "vocab", "llama3.gguf")
	file := writeTemp(t, "tokens.gbnf", "root ::= <|python_tag|> [a-z]+ (!<|python_tag|>)* <|python_tag|> \"!\"\n")
	for _, c := range []struct {
		text   string
		status int
		says   string
	}{
		{"<|python_tag|>abc, 1 é<|python_tag|>!", 0, "accepted"},
		{"<|python_tag|>abc", exitIncomplete, `could end with "<|python_tag|>!"`},
		{"<|python_tag|>a<|python_tag|>?", exitRefused, "line 1, column 30"},
		{"<|eot_id|>", exitRefused, "line 1, column 1"},
	} {
		out, status, err := runCommand(t, c.text, "grammar", "match", file, "--vocab", vocabFile, "--text-file", "-")
		if err != nil {
			out += err.Error()
		}
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%q: status %d, want %d; says %s", c.text, status, c.status, out)
		}
	}
	out, status, err := runCommand(t, "", "grammar", "check", file, "--vocab", vocabFile)
	if status != 0 || !strings.Contains(out, `shortest   "<|python_tag|>a<|python_tag|>!"`) || !strings.Contains(out, "sample") {
		t.Errorf("status %d, %v, says %s", status, err, out)
	}
}

func TestGrammarCheck(t *testing.T) {
	out, status, err := runCommand(t, listGrammar, "grammar", "check", "-", "--json")
	if status != 0 {
		t.Fatal(err)
	}
	var c grammarCheck
	if err := json.Unmarshal([]byte(out), &c); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if !c.OK || c.Shortest != "- a\n" || len(c.Samples) != 4 || c.Rules != 3 || len(c.Warnings) != 1 || c.Cost.States == 0 {
		t.Errorf("got %s", out)
	}
	out, status, _ = runCommand(t, "root ::= \"a\" b\n", "grammar", "check", "-")
	want := "error: 1:14: rule \"root\": undefined rule \"b\"\n\troot ::= \"a\" b\n\t             ^\n"
	if status != exitWrong || out != want {
		t.Errorf("status %d, says %s", status, out)
	}
}

func TestGrammarShow(t *testing.T) {
	if out, status, _ := runCommand(t, "", "grammar", "show", "date-time"); status != 0 || !strings.Contains(out, "root") {
		t.Errorf("status %d, says %s", status, out)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"xml"}, 0, "an\n# end tag has the name"},
		{[]string{"xml", "--root", "doc", "--declaration"}, 0, `root        ::= declaration space "<" "doc"`},
		{[]string{"csv", "--columns", "id,name"}, 0, `header  ::= "id,name\n"`},
		{[]string{"csv", "--columns", "3", "--no-header"}, 0, "root    ::= record{1,}"},
		{[]string{"regex"}, exitWrong, "made of its parameters"},
		{[]string{"yaml"}, exitWrong, "no built-in grammar"},
	} {
		out, status, err := runCommand(t, "", append([]string{"grammar", "show"}, c.args...)...)
		if err != nil {
			out += err.Error()
		}
		if status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%q: status %d, says %s", c.args, status, out)
		}
	}
}
