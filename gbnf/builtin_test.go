package gbnf

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stencil-json/stencil/decoder/walk"
)

// readers parse texts of the built-in grammars with parsers of the standard
// library.
var readers = map[string]func(text []byte) error{
	"json": readJSON,
	"json_array": func(text []byte) error {
		var v []any
		return json.Unmarshal(text, &v)
	},
	"jsonl": func(text []byte) error {
		if !bytes.HasSuffix(text, []byte("\n")) {
			return errors.New("no line end")
		}
		for line := range bytes.Lines(text) {
			if err := readJSON(line); err != nil {
				return err
			}
		}
		return nil
	},
	"csv": readCSV(2),
	"xml": readXML,
	"date-time": func(text []byte) error {
		if bytes.Contains(text, []byte("-02-29T")) {
			return nil // leap years are not distinguished
		}
		_, err := time.Parse(time.RFC3339, string(text))
		return err
	},
	"integer": func(text []byte) error {
		_, err := strconv.ParseInt(string(text), 10, 64)
		return err
	},
	"number": readJSON,
	"markdown-table": func(text []byte) error {
		for line := range bytes.Lines(text) {
			if n := strings.Count(strings.ReplaceAll(strings.ReplaceAll(string(line), `\\`, ""), `\|`, ""), "|"); n != 3 {
				return fmt.Errorf("%d bars in %q", n, line)
			}
		}
		return nil
	},
}

func readJSON(text []byte) error {
	var v any
	return json.Unmarshal(text, &v)
}

func readCSV(columns int) func([]byte) error {
	return func(text []byte) error {
		r := csv.NewReader(bytes.NewReader(text))
		r.FieldsPerRecord = columns
		_, err := r.ReadAll()
		return err
	}
}

func readXML(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	roots, depth := 0, 0
	for {
		tok, err := d.Token()
		if err == io.EOF {
			if roots != 1 {
				return fmt.Errorf("%d roots", roots)
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
			seen := map[string]bool{}
			for _, a := range tok.Attr {
				if seen[a.Name.Local] {
					return fmt.Errorf("attribute %s twice", a.Name.Local)
				}
				seen[a.Name.Local] = true
			}
		case xml.EndElement:
			depth--
		}
	}
}

// TestBuiltinWalks reads random texts of each format with an independent
// parser.
func TestBuiltinWalks(t *testing.T) {
	v := realVocab(t, "llama3.gguf")
	tokens := walk.NewTokens(v)
	for _, name := range Builtins() {
		read, ok := readers[name]
		if !ok {
			if name != "regex" && name != "choice" && name != "c" {
				t.Errorf("nobody reads %s", name)
			}
			continue
		}
		g, err := Builtin(name, BuiltinOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := bound(t, g, v)
		for i := range 200 {
			w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(11, uint64(i))), Budget: 40}
			text, err := w.Document(walk.Of(d.NewMatcher()))
			if err == nil {
				err = read(text)
			}
			if err != nil {
				t.Errorf("%s: %q: %v", name, text, err)
				break
			}
		}
	}
}

func TestBuiltinTexts(t *testing.T) {
	for _, c := range []struct {
		name              string
		opt               BuiltinOptions
		accepted, refused []string
	}{
		{"json", BuiltinOptions{}, []string{`{"a": [1,2.5e3, "\ud83d\ude00"]}`, `null`}, []string{``, `{`, `"\ud83d"`, `"\udc00"`, `[1,]`, `{"a" :1}`}},
		{"json_array", BuiltinOptions{}, []string{"[]", "[\n  1,\n  {}\n]"}, []string{"{}", "[1]"}},
		{"jsonl", BuiltinOptions{}, []string{"1\n", "{}\n[]\n"}, []string{"", "1", "{}{}\n", "{\n}\n"}},
		{"csv", BuiltinOptions{}, []string{"a,b\n", "a,b\n\"x,\"\"y\",\n"}, []string{"", "a\n", "a,b,c\n", "a,b", "a,\"b\n"}},
		{"csv", BuiltinOptions{Columns: 3}, []string{"a,b,c\n,,\n"}, []string{"a,b\n", "a,b,c\n1,2\n"}},
		{"csv", BuiltinOptions{Columns: 1}, []string{"a\nb\n\"\"\n"}, []string{"a,b\n", "a\n\n"}},
		{"csv", BuiltinOptions{Header: []string{"id", `the "name"`}}, []string{"id,\"the \"\"name\"\"\"\n1,x\n"}, []string{"a,b\n", "id\n"}},
		{"xml", BuiltinOptions{}, []string{
			`<a/>`, `<a></a>`, xmlHeader + "\n<doc-1 x=\"1\" y='\"&lt;'>t &amp; u<b><b/></b><!-- - c --><![CDATA[<]]]></doc-1>\n", `<a>]] ]></a>`,
		}, []string{
			``, `<a>`, `<a></b>`, `<a></ab>`, `<ab></a>`, `<a><b></a></b>`, `<a/><b/>`, `<a x="1" x="2"/>`, `<a x=1/>`, `<a x="<"/>`, `<a>&nbsp;</a>`,
			`<a>&</a>`, `<a>]]></a>`, `<a><!-- -- --></a>`, `<1/>`, `a`, "<a>\x01</a>", "<a>\ufffe</a>", `<a x="1"y="2"/>`,
		}},
		{"csv", BuiltinOptions{Header: []string{"a;b", "c"}, Delimiter: ";"}, []string{"\"a;b\";c\n1,5;2\n"}, []string{"a;b;c\n", "\"a;b\",c\n"}},
		{"csv", BuiltinOptions{Columns: 2, Delimiter: "\t", NoHeader: true}, []string{"a\tb\n", "a,b\t\n1\t2\n"}, []string{"", "a\n", "a\tb\tc\n"}},
		{"csv", BuiltinOptions{Header: []string{"a"}, NoHeader: true, MaxItems: ptr(2)}, []string{"x\n", "x\ny\n"}, []string{"", "x\ny\nz\n"}},
		{"csv", BuiltinOptions{Header: []string{"a", "b"}, MinItems: ptr(1), MaxItems: ptr(2)}, []string{"a,b\n1,2\n", "a,b\n1,2\n3,4\n"}, []string{"a,b\n", "a,b\n1,2\n3,4\n5,6\n", "1,2\n3,4\n"}},
		{"json_array", BuiltinOptions{MinItems: ptr(2)}, []string{"[\n  1,\n  2\n]", "[\n  1,\n  2,\n  3\n]"}, []string{"[]", "[\n  1\n]"}},
		{"json_array", BuiltinOptions{MaxItems: ptr(1)}, []string{"[]", "[\n  1\n]"}, []string{"[\n  1,\n  2\n]"}},
		{"json_array", BuiltinOptions{MaxItems: ptr(0)}, []string{"[]"}, []string{"[\n  1\n]", ""}},
		{"jsonl", BuiltinOptions{MinItems: ptr(2), MaxItems: ptr(2)}, []string{"1\n2\n"}, []string{"1\n", "1\n2\n3\n"}},
		{"markdown-table", BuiltinOptions{MinItems: ptr(1), MaxItems: ptr(1)}, []string{"|a|b|\n|---|---|\n|1|2|\n"}, []string{"|a|b|\n|---|---|\n", "|a|b|\n|---|---|\n|1|2|\n|1|2|\n"}},
		{"xml", BuiltinOptions{Root: "doc"}, []string{`<doc/>`, `<doc></doc>`, xmlHeader + `<doc x="1"><a/></doc>`, `<doc ></doc>`}, []string{`<do/>`, `<docs/>`, `<a/>`, `<doc></do>`, `<doc x="" x=""/>`}},
		{"xml", BuiltinOptions{Root: "a", Declaration: true}, []string{xmlHeader + `<a/>`, xmlHeader + "\n<a>x</a>"}, []string{`<a/>`, xmlHeader + `<b/>`}},
		{"xml", BuiltinOptions{Declaration: true}, []string{xmlHeader + `<b/>`}, []string{`<a/>`}},
		{"date-time", BuiltinOptions{}, []string{"2026-11-21T03:04:05Z", "2026-02-28T03:04:05.25-09:30"}, []string{"2026-02-30T00:00:00Z", "2026-11-21", "2026-11-21T24:00:00Z"}},
		{"integer", BuiltinOptions{}, []string{"0", "-12", "123456789012345678"}, []string{"-0", "01", "", "1.0", "1234567890123456789"}},
		{"number", BuiltinOptions{}, []string{"0", "-0.50", "12.5"}, []string{".5", "1.", "1e5", "00"}},
		{"markdown-table", BuiltinOptions{}, []string{"| a | b |\n|---|:---:|\n| 1 | 2\\| |\n"}, []string{"| a | b |\n", "| a |\n|---|\n"}},
		{"markdown-table", BuiltinOptions{Header: []string{"x|y"}}, []string{"| x\\|y |\n|---|\n|1|\n"}, []string{"| x |\n|---|\n"}},
		{"regex", BuiltinOptions{Pattern: "a|b+"}, []string{"a", "bbb"}, []string{"", "ab", "xa"}},
		{"choice", BuiltinOptions{Choices: []string{"yes", "no", "", "yesterday"}}, []string{"yes", "no", "", "yesterday"}, []string{"y", "yesno", "yesterda"}},
		{"c", BuiltinOptions{}, []string{"int main(){return 0;}"}, []string{"main"}},
	} {
		g, err := Builtin(c.name, c.opt)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		d := bound(t, g, byteVocab(t))
		for _, text := range c.accepted {
			if !accepts(d, text) {
				t.Errorf("%s %v refuses %q", c.name, c.opt, text)
			}
		}
		for _, text := range c.refused {
			if accepts(d, text) {
				t.Errorf("%s %v accepts %q", c.name, c.opt, text)
			}
		}
	}
}

func TestBuiltinErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  BuiltinOptions
		want string
	}{
		{"yaml", BuiltinOptions{}, `gbnf: there is no built-in grammar "yaml"; there are c, choice, csv, date-time, integer, json, json_array, jsonl, markdown-table, number, regex, xml`},
		{"json", BuiltinOptions{Columns: 2}, `gbnf: json has no use for columns`},
		{"csv", BuiltinOptions{Columns: 2, Header: []string{"a"}}, `gbnf: csv: the header has 1 columns, not 2`},
		{"csv", BuiltinOptions{Columns: -1}, `gbnf: csv: -1 columns: want 1 to 1000`},
		{"markdown-table", BuiltinOptions{Header: []string{"a\nb"}}, `gbnf: markdown-table: header "a\nb" can't be written`},
		{"csv", BuiltinOptions{Delimiter: "x"}, `gbnf: csv: the delimiter "x" is none of a comma, a semicolon, a tab and a bar`},
		{"csv", BuiltinOptions{MinItems: ptr(3), MaxItems: ptr(2)}, `gbnf: csv: at least 3 items and at most 2 exclude each other`},
		{"jsonl", BuiltinOptions{MaxItems: ptr(-1)}, `gbnf: jsonl: the number of items must be between 0 and 1000000`},
		{"xml", BuiltinOptions{Root: "1a"}, `gbnf: xml: root "1a" is not a name; want letters, digits, -, . and _, with a letter or _ first`},
		{"json", BuiltinOptions{Root: "a"}, `gbnf: json has no use for a root`},
		{"markdown-table", BuiltinOptions{NoHeader: true}, `gbnf: markdown-table has no use for a header that is left out`},
		{"choice", BuiltinOptions{}, `gbnf: choice: there is nothing to choose from`},
		{"choice", BuiltinOptions{Choices: []string{"a", "\xff"}}, `gbnf: choice: number 2 is malformed UTF-8`},
		{"regex", BuiltinOptions{Pattern: "a)(b"}, `gbnf: 1:2: regex: unmatched )`},
		{"regex", BuiltinOptions{Pattern: "a\nb(?<=(a)\\1)"}, `gbnf: 2:9: regex: unsupported: back-reference`},
		{"regex", BuiltinOptions{Pattern: "a[^\\s\\S]"}, `gbnf: no text can satisfy it`},
	} {
		_, err := Builtin(c.name, c.opt)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %v: %v, want %s", c.name, c.opt, err, c.want)
		}
	}
}

// TestBuiltinMasks compares masks of formats that are not plain grammars with
// the results of trying every token.
func TestBuiltinMasks(t *testing.T) {
	v := thinVocab(t, realVocab(t, "llama3.gguf"), 40)
	rng := rand.New(rand.NewPCG(3, 9))
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprintf("%x word%d", i*i, i%7)
	}
	for _, c := range []struct {
		name string
		opt  BuiltinOptions
	}{
		{"xml", BuiltinOptions{}},
		{"xml", BuiltinOptions{Root: "note", Declaration: true}},
		{"regex", BuiltinOptions{Pattern: `(\w+, ?){2,5}[^a-f]*(é|\u3042){3}`}},
		{"regex", BuiltinOptions{Pattern: `[\s\S]{0,200}`}},
		{"choice", BuiltinOptions{Choices: many}},
	} {
		g, err := Builtin(c.name, c.opt)
		if err != nil {
			t.Fatal(err)
		}
		compareMasks(t, c.name, bound(t, g, v), v, rng, 40)
	}
}

func ptr(n int) *int { return &n }

// The published grammar of XML accepts everything that is enforced.
func TestShownXML(t *testing.T) {
	v := realVocab(t, "llama3.gguf")
	tokens := walk.NewTokens(v)
	for _, opt := range []BuiltinOptions{{}, {Root: "note"}, {Root: "note", Declaration: true}} {
		src, err := BuiltinText("xml", opt)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := Compile(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g, err := Builtin("xml", opt)
		if err != nil {
			t.Fatal(err)
		}
		near, exact := bound(t, shown, byteVocab(t)), bound(t, g, v)
		for i := range 100 {
			w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(12, uint64(i))), Budget: 40}
			text, err := w.Document(walk.Of(exact.NewMatcher()))
			if err != nil || readXML(text) != nil || !accepts(near, string(text)) || opt.Root != "" && !strings.Contains(string(text), "<note") {
				t.Fatalf("%+v: %q, %v", opt, text, err)
			}
		}
	}
}
