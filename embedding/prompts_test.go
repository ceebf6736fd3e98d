package embedding

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/vocab"
)

func TestShorten(t *testing.T) {
	v := words(t)
	p := newPrompts(v, backend.PairForm{}, 8)
	text := p.Text("one two three four five six seven eight")
	cls, sep := text[0], text[len(text)-1]
	if p.tail != 1 || v.Kind(cls) != vocab.Control || v.Kind(sep) != vocab.Control {
		t.Fatalf("%v, %d of them at the end", text, p.tail)
	}
	for _, c := range []struct{ limit, want int }{{0, 8}, {100, 8}, {5, 5}, {1, 1}} {
		got := p.Shorten(text, c.limit)
		if len(got) != c.want || got[len(got)-1] != sep || !slices.Equal(got[:len(got)-1], text[:len(got)-1]) {
			t.Errorf("limit %d: %v of %v", c.limit, got, text)
		}
	}
	if short := p.Text("a"); !slices.Equal(p.Shorten(short, 0), short) {
		t.Error("a short text is changed")
	}
}

func TestPairMarks(t *testing.T) {
	v := words(t)
	p := newPrompts(v, backend.PairForm{Before: []int32{2}, Between: []int32{3, 3}, After: []int32{3}}, 20)
	word := func(text string) []int32 { return v.Tokenize(nil, text, false) }
	want := slices.Concat([]int32{2}, word("ab"), []int32{3, 3}, word("cd"), []int32{3})
	if got := p.Pair("ab", "cd"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	long := p.ShortPair("ab", strings.Repeat("cd ", 50))
	if len(long) != 20 || !slices.Equal(long[:len(want)-1], want[:len(want)-1]) || long[19] != 3 {
		t.Errorf("shortened: %v", long)
	}
	if got := p.ShortPair(strings.Repeat("ab ", 50), "cd"); len(got) <= 20 {
		t.Errorf("a query that is too long: %v", got)
	}
	marks := func(tokens []int32) (n int) {
		for _, x := range tokens {
			if x == 3 {
				n++
			}
		}
		return n
	}
	if got := p.Pair(v.Text(3), v.Text(3)); v.Kind(3) != vocab.Control || marks(got) != 3 || len(got) <= 6 {
		t.Errorf("control tokens that are spelt out: %v", got)
	}
}

func TestPairTemplate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tiny.gguf")
	if err := models.WriteRandom(path, models.RandomOptions{Layers: 1, Width: 16}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	eos, _ := v.EOS()
	mark := v.Text(eos)
	p := newPrompts(v, backend.PairForm{Template: mark + "Query: {query}\nDocument: {document}" + mark + "\n"}, 64)
	want := v.Tokenize(nil, mark+"Query: what\nDocument: {query} that"+mark+"\n", true)
	if got := p.Pair("what", "{query} that"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", v.Decode(got), v.Decode(want))
	}
	count := func(tokens []int32) (n int) {
		for _, x := range tokens {
			if x == eos {
				n++
			}
		}
		return n
	}
	if got := p.Pair("wh"+mark+"at", mark); count(got) != 2 || !strings.Contains(string(v.Decode(got)), "wh"+mark+"at\nDocument: "+mark) {
		t.Errorf("a control token that is spelt out: %q", v.Decode(got))
	}
	for _, document := range []string{strings.Repeat("word ", 300), strings.Repeat("ö", 300), strings.Repeat(mark, 100)} {
		got := p.ShortPair("what", document)
		if len(got) > 64 || len(got) < 48 || count(got) != 2 || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%.10q…: %d tokens: %q", document, len(got), v.Decode(got))
		}
	}
	if got := p.ShortPair(strings.Repeat("word ", 300), "x"); len(got) <= 64 {
		t.Errorf("a query that is too long: %d tokens", len(got))
	}
}
