package jsondoc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`{"b": 1.0, "a": [true, null, "\u00e9\n"]}`, `{"a":[true,null,"é\n"],"b":1}`},
		{"\ufeff[1e2]", `[100]`},
		{`"\ud83d\ude00\/"`, `"😀/"`},
		{` -0.50 `, `-0.5`},
		{`{"a": 1, "a": 2}`, `schema: 1:10: duplicate key "a"`},
		{"{\n  \"a\": tru}", `schema: 2:8: unexpected 't', a value expected`},
		{`01`, `schema: 1:2: unexpected '1' after the document`},
		{`"\ud800"`, `schema: 1:2: lone surrogate \ud800`},
		{"\"\t\"", `schema: 1:2: control character 0x09 in a string`},
		{"\"\xff\"", `schema: 1:2: malformed UTF-8`},
		{`[1,]`, `schema: 1:4: unexpected ']', a value expected`},
		{``, `schema: 1:1: unexpected end of document`},
	} {
		v, err := Parse(c.src, 10)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(v.AppendCanonical(nil))
		}
		if got != c.want {
			t.Errorf("%q: got %s, want %s", c.src, got, c.want)
		}
	}
}

func TestDepth(t *testing.T) {
	if _, err := Parse(`[[[]]]`, 3); err != nil {
		t.Error(err)
	}
	var deep *DepthError
	if _, err := Parse(`[[[[]]]]`, 3); !errors.As(err, &deep) || deep.Max != 3 {
		t.Errorf("got %v", err)
	}
}

// Many members are checked for duplicates in another way than few.
func TestDuplicateAmongMany(t *testing.T) {
	var b strings.Builder
	for i := range 3 * manyMembers {
		fmt.Fprintf(&b, `"k%d": 0, `, i)
	}
	if _, err := Parse("{"+b.String()+`"last": 0}`, 10); err != nil {
		t.Error(err)
	}
	if _, err := Parse("{"+b.String()+`"k40": 0}`, 10); err == nil {
		t.Error("a duplicate key is accepted")
	}
}

// Objects with many members inside one another don't share what is known of their keys.
func TestDuplicateNested(t *testing.T) {
	object := func(inner string) string {
		var b strings.Builder
		for i := range 3 * manyMembers {
			value := "0"
			if i%20 == 10 {
				value = inner
			}
			fmt.Fprintf(&b, `, "k%d": %s`, i, value)
		}
		return "{" + b.String()[2:] + "}"
	}
	src := object(object(object("0")))
	if _, err := Parse(src, 10); err != nil {
		t.Error(err)
	}
	i := strings.LastIndex(src, `"k3"`)
	if _, err := Parse(src[:i]+`"k2"`+src[i+4:], 10); err == nil {
		t.Error("a duplicate key is accepted")
	}
}

// Strings are read like encoding/json reads them, wherever in them an unusual character is.
func TestStrings(t *testing.T) {
	for _, odd := range []string{"", `\n`, `\"`, `\\`, "é", "😀", "\ufffd", "\x7f", "\x1f", "\n", "\xff", "\xc3", `\u00e9`, `\x`, `"`} {
		for n := range 20 {
			for _, c := range []string{"a", "[", "~", "é"} {
				for i := range n + 1 {
					src := `"` + strings.Repeat(c, i) + odd + strings.Repeat(c, n-i) + `"`
					var want string
					bad := json.Unmarshal([]byte(src), &want) != nil || !utf8.ValidString(src)
					v, err := Parse(src, 1)
					if bad != (err != nil) || !bad && v.Text != want {
						t.Fatalf("%q: %+v, %v", src, v, err)
					}
				}
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	v, err := Parse("{\"a\":\n  [7, \"é\", 8]}", 10)
	if err != nil {
		t.Fatal(err)
	}
	at := v.Get("a").Items[2]
	if line, column := LineColumn("{\"a\":\n  [7, \"é\", 8]}", at.Pos); line != 2 || column != 13 {
		t.Errorf("8 is at %d:%d", line, column)
	}
	if v.Get("b") != nil {
		t.Error("a member that is not there")
	}
}

func TestReadString(t *testing.T) {
	if text, n, err := ReadString(`"a\"b" : 1`); text != `a"b` || n != 6 || err != nil {
		t.Errorf("%q, %d, %v", text, n, err)
	}
	if _, _, err := ReadString(`"a`); err == nil {
		t.Error("a string without an end is accepted")
	}
}

func TestPointers(t *testing.T) {
	for _, key := range []string{"", "a", "a/b", "~", "~1", "/~0"} {
		part := EscapePointer(key)
		if strings.Contains(part, "/") || UnescapePointer(part) != key {
			t.Errorf("%q becomes %q and %q", key, part, UnescapePointer(part))
		}
	}
}
