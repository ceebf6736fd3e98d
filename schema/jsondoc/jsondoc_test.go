package jsondoc

import (
	"errors"
	"fmt"
	"strings"
	"testing"
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
