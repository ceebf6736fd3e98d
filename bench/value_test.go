package bench

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestDumps compares with the output of Python 3's json.dumps(json.loads(x),
// ensure_ascii=False), except for the form of numbers.
func TestDumps(t *testing.T) {
	for _, c := range []struct{ in, spaced, compact string }{
		{`{"b":1,"a":[ ]}`, `{"b": 1, "a": []}`, `{"b":1,"a":[]}`},
		{` [1.0e+05 , -0,1E400]`, `[1.0e+05, -0, 1E400]`, `[1.0e+05,-0,1E400]`},
		{`{"a":1,"b":2,"a":3}`, `{"a": 3, "b": 2}`, `{"a":3,"b":2}`},
		{`"\u0041\u00e9\/\b\f\n\r\t\"\\\u0000\u001F\u007f"`, `"Aé/\b\f\n\r\t\"\\\u0000\u001f` + "\x7f" + `"`, ``},
		{`"\ud83d\ude00 \u2028"`, `"😀 ` + "\u2028" + `"`, ``},
		{`{"":{"x":null},"y":[true,false]}`, `{"": {"x": null}, "y": [true, false]}`, `{"":{"x":null},"y":[true,false]}`},
	} {
		v, err := parseValue([]byte(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := string(appendJSON(nil, v, spacedJSON)); got != c.spaced {
			t.Errorf("%s: got %s, want %s", c.in, got, c.spaced)
		}
		if got := string(appendJSON(nil, v, compactJSON)); c.compact != "" && got != c.compact {
			t.Errorf("%s: got %s, want %s", c.in, got, c.compact)
		}
	}
}

func TestLoneSurrogate(t *testing.T) {
	for in, lone := range map[string]bool{
		`"\ud83d"`: true, `"\ude00\ud83d"`: true, `"\ud83d\u0041"`: true, `"\ud83dx"`: true, `{"\udc00":1}`: true,
		`"\ud83d\ude00"`: false, `"\ud7ff\ue000"`: false,
	} {
		v, err := parseValue([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if utf8.Valid(appendJSON(nil, v, spacedJSON)) == lone {
			t.Errorf("%s: lone surrogate not seen as %t", in, lone)
		}
	}
}

// TestParseSpans checks that the span of a value is exactly its text.
func TestParseSpans(t *testing.T) {
	src := ` { "schema" : { "a" : [ 1 , "x" ] } , "tests" : [] } `
	v, err := parseValue([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	s := v.member("schema")
	if got := src[s.start:s.end]; got != `{ "a" : [ 1 , "x" ] }` {
		t.Errorf("got %q", got)
	}
}

// FuzzParseValue compares the parser with encoding/json.
func FuzzParseValue(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e-3,{"b":null}],"c":"\u00e9"}`, `[`, `01`, `"\x"`, `nul`, "\"\x01\"", `{"a":1,}`, `-`, `1.`, `[1 2]`, `"\ud800"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		v, err := parseValue(src)
		if valid := json.Valid(src); valid != (err == nil) {
			t.Fatalf("%q: valid %t, got %v", src, valid, err)
		}
		if err != nil || !utf8.Valid(src) || strings.Contains(string(src), `\u`) {
			return
		}
		var before, after any
		if json.Unmarshal(src, &before) != nil {
			return // a number beyond the range of float64
		}
		if err := json.Unmarshal(appendJSON(nil, v, spacedJSON), &after); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q came back as %q", src, appendJSON(nil, v, spacedJSON))
		}
	})
}
