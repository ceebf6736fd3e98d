package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// anyValue matches an elision in place of a member's value.
var anyValue = regexp.MustCompile(`(:\s*)…`)

// bare matches an elision in JSON, with an adjacent comma.
var bare = regexp.MustCompile(`,\s*…|…\s*,?`)

// unelided returns JSON without the … that stand for omitted members and items. Those in strings are kept.
func unelided(text string) string {
	var b strings.Builder
	for text != "" {
		quote := strings.IndexByte(text, '"')
		if quote < 0 {
			quote = len(text)
		}
		b.WriteString(bare.ReplaceAllString(anyValue.ReplaceAllString(text[:quote], `$1"..."`), ""))
		text = text[quote:]
		if text == "" {
			break
		}
		end := 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(text))
		b.WriteString(wrapped.ReplaceAllString(text[:end], " "))
		text = text[end:]
	}
	return b.String()
}

// wrapped matches the places where a page wraps a long string.
var wrapped = regexp.MustCompile(`\n *`)

// comma matches a trailing comma that an elision leaves behind.
var comma = regexp.MustCompile(`,\s*([}\]])`)

// documents parses the JSON values of a text, one after another.
func documents(text string) (out []any, err error) {
	d := json.NewDecoder(strings.NewReader(comma.ReplaceAllString(unelided(text), "$1")))
	for d.More() {
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

// fits returns where a real value differs from a documented one, "" if nowhere. Members may be omitted, … in a
// string stands for any text, and numbers with a fraction may differ by 0.1, since processors round differently.
func fits(documented, real any, at string) string {
	switch want := documented.(type) {
	case map[string]any:
		got, ok := real.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is %v", at, real)
		}
		for name, member := range want {
			is, ok := got[name]
			if !ok {
				return fmt.Sprintf("%s has no %s", at, name)
			}
			if bad := fits(member, is, at+"/"+name); bad != "" {
				return bad
			}
		}
	case []any:
		got, ok := real.([]any)
		if !ok || len(got) < len(want) {
			return fmt.Sprintf("%s is %v", at, real)
		}
		for i := range want {
			if bad := fits(want[i], got[i], fmt.Sprintf("%s/%d", at, i)); bad != "" {
				return bad
			}
		}
	case string:
		if want == "..." {
			return ""
		}
		if got, ok := real.(string); !ok || !like(want, got) {
			return fmt.Sprintf("%s is %q, not %q", at, real, want)
		}
	case float64:
		got, ok := real.(float64)
		whole := want == float64(int64(want))
		if near := got - want; !ok || near > 0.1 || near < -0.1 || whole && ok && got == float64(int64(got)) && got != want {
			return fmt.Sprintf("%s is %v, not %v", at, real, want)
		}
	default:
		if documented != real {
			return fmt.Sprintf("%s is %v, not %v", at, real, documented)
		}
	}
	return ""
}

// like reports whether a text matches a documented one, in which … stands for any text. Runs of white space are
// equal.
func like(documented, real string) bool {
	parts := strings.Split(strings.Join(strings.Fields(documented), " "), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.TrimSpace(parts[i]))
	}
	ok, err := regexp.MatchString(`(?s)^\s*`+strings.Join(parts, `.*`)+`\s*$`, strings.Join(strings.Fields(real), " "))
	return err == nil && ok
}

// TestFits checks that differences from documented outputs are detected.
func TestFits(t *testing.T) {
	for _, row := range []struct {
		documented, real string
		fits             bool
	}{
		{`{"a":1,…}`, `{"a":1,"b":2}`, true},
		{`{"a":[1,…],"s":"x…"}`, `{"a":[1,2],"s":"xyz"}`, true},
		{`{…,"a":0.91}`, `{"a":0.9134}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":"…b"}`, `{"a":"abc"}`, false},
		{`{"a":null}`, `{}`, false},
		{`[1,2]`, `[1]`, false},
		{`{"a":0.5}`, `{"a":0.9}`, false},
		{`{"a":…,"b":…,…}`, `{"a":[1],"b":2,"c":3}`, true},
		{`{"a":…}`, `{"b":1}`, false},
		{`{"a":"…, b"}`, `{"a":"x, b"}`, true},
	} {
		documented, err := documents(row.documented)
		if err != nil || len(documented) != 1 {
			t.Fatal(row.documented, err)
		}
		real, err := documents(row.real)
		if err != nil {
			t.Fatal(row.real, err)
		}
		if bad := fits(documented[0], real[0], ""); (bad == "") != row.fits {
			t.Errorf("%s, %s: %q", row.documented, row.real, bad)
		}
	}
}

// languages maps each language to a parser of its blocks. If it is nil, blocks are not parsed and need a mark.
var languages = map[string]func(text string) error{
	"json": func(text string) error {
		_, err := documents(text)
		return err
	},
	"sh": func(text string) error { return silent(text, "bash", "-n") },
	"go": parseGo,
	"python": func(text string) error {
		return silent(text, "python3", "-c", "import sys; compile(sys.stdin.read(), 'block', 'exec')")
	},
	"text":       func(string) error { return nil },
	"":           func(string) error { return nil },
	"javascript": nil, "yaml": nil, "toml": nil, "gbnf": nil, "typescript": nil, "html": nil, "mermaid": nil, "ini": nil, "dockerfile": nil, "nginx": nil,
}

// silent runs a program with a text as its input, and returns its output if it fails.
func silent(text, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// parseGo parses a Go file, declarations or statements.
func parseGo(text string) error {
	var first error
	for _, around := range [][2]string{{"", ""}, {"package p\n", ""}, {"package p\nfunc f() {\n", "\n}"}} {
		_, err := parser.ParseFile(token.NewFileSet(), "block.go", around[0]+text+around[1], 0)
		if err == nil {
			return nil
		}
		first = err
	}
	// Declarations followed by statements, as in guides.
	for cut := range strings.Count(text, "\n") {
		lines := strings.SplitAfterN(text, "\n", cut+2)
		head, rest := strings.Join(lines[:len(lines)-1], ""), lines[len(lines)-1]
		if _, err := parser.ParseFile(token.NewFileSet(), "block.go", "package p\n"+head+"func f() {\n"+rest+"\n}", 0); err == nil {
			return nil
		}
	}
	return first
}

// lockOf returns the lock file for the argument of the mark python.
func lockOf(name string) string {
	if name == "clients" {
		return filepath.Join(root, "server", "clients", "python", "requirements.txt")
	}
	return filepath.Join(root, "server", "clients", "python", "libraries", name+".txt")
}

func isLock(name string) bool {
	_, err := os.Stat(lockOf(name))
	return name != "" && err == nil
}

// TestBlocksParse checks that every block is in a known language and parses. [TestBlocks] runs the blocks.
func TestBlocksParse(t *testing.T) {
	n := 0
	for _, p := range guides(t) {
		for _, b := range p.blocks {
			n++
			parse, known := languages[b.lang]
			switch {
			case !known:
				t.Errorf("%s: a block in an unknown language, %q", b.place(), b.lang)
			case b.mark == "norun" && b.what == "":
				t.Errorf("%s: a block that is not run, and nothing says why", b.place())
			case b.mark == "python" && !isLock(b.what), b.mark == "node" && b.what != "":
				t.Errorf("%s: there is no lock file %q", b.place(), b.what)
			case b.mark == "python" && b.lang != "python", b.mark == "node" && b.lang != "javascript":
				t.Errorf("%s: the mark %s on a block of %s", b.place(), b.mark, b.lang)
			case b.lang == "python" && b.mark == "":
				t.Errorf("%s: a block of Python is neither run nor marked", b.place())
			case parse == nil && b.mark == "":
				t.Errorf("%s: a block of %s is neither run nor marked", b.place(), b.lang)
			case parse != nil && b.mark != "norun":
				if err := parse(b.text); err != nil {
					t.Errorf("%s: %v", b.place(), err)
				}
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d blocks were found", n)
	}
}
