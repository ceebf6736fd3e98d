package tokens

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/jsondoc"
	"github.com/stencil-json/stencil/schema/number"
	"github.com/stencil-json/stencil/vocab"
)

func testVocab(t *testing.T) *vocab.Vocab {
	t.Helper()
	var list []vocab.Token
	for b := range 256 {
		list = append(list, vocab.Token{Text: fmt.Sprintf("<0x%02X>", b), Kind: vocab.Byte})
	}
	for _, text := range []string{"ab", "abc", "ba", "x", "aé", "日本", `a"`, `ab",`, `"`, `b"}`, `\n`, `a\n`, `\u0061`, `\"a`, "12", "1.5", "1,", "  ", "\n ", strings.Repeat("ab", 20)} {
		list = append(list, vocab.Token{Text: text, Kind: vocab.Normal})
	}
	v, err := vocab.FromTokens(list, vocab.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func compile(t *testing.T, store *regular.Store, pattern string) *regular.Machine {
	t.Helper()
	e, err := store.Pattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.Compile(e)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// all returns the tokens that a result allows inside a string and those that
// close it.
func (l *StringTokens) all(v *vocab.Vocab, c *Closers) (stay, closing []string) {
	for id := range int32(v.Len()) {
		if l.Base != nil && l.Base.Has(id) || slices.Contains(l.All, id) {
			stay = append(stay, string(v.Bytes(id)))
		}
	}
	for i, id := range c.tokens {
		if !l.NoCloser && (l.Closers == nil || l.Closers.Has(int32(i))) {
			closing = append(closing, string(v.Bytes(id)))
		}
	}
	return stay, closing
}

// Every token of whole characters is in a string's set if some string of the
// language continues after its text. A closing token is allowed if the text before
// the quote is a string of the language.
func TestInString(t *testing.T) {
	v := testVocab(t)
	store := regular.NewStore(regular.Limits{})
	tables := For(v)
	for _, pattern := range []string{`^[ab]*$`, `^(ab)+$`, `^.{0,3}$`, `^[^a]*$`, `^a[é日本b]*$`, `^\n?a+$`, `^(abc|ba|x)$`, `^[a-z]{30,}$`, ``} {
		m := compile(t, store, pattern)
		q := m.Start()
		stay, closing := tables.InString(m, q, false).all(v, tables.Closers)
		for id := range int32(v.Len()) {
			token := string(v.Bytes(id))
			inside, _, closes := strings.Cut(strings.ReplaceAll(token, `\"`, `\u0022`), `"`)
			text, _, err := jsondoc.ReadString(`"` + inside + `"`)
			if err != nil {
				continue // half a character, or one that may not be in a string
			}
			at := q
			for _, r := range text {
				if at != regular.Dead {
					at = m.Step(at, r)
				}
			}
			got, want := slices.Contains(stay, token), at != regular.Dead
			if closes {
				got, want = slices.Contains(closing, token), at != regular.Dead && m.Accepting(at)
			}
			if got != want {
				t.Errorf("%s: token %q: %t, want %t", pattern, token, got, want)
			}
		}
	}
}

func TestInNumber(t *testing.T) {
	v := testVocab(t)
	a, err := number.Compile(number.Spec{Integer: true}, number.Canonical, number.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	d := For(v).InNumber(a, a.Start())
	var got []string
	for _, id := range d.List {
		got = append(got, string(v.Bytes(id)))
	}
	slices.Sort(got)
	if want := []string{"-", "0", "1", "12", "2", "3", "4", "5", "6", "7", "8", "9"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestInBlanks(t *testing.T) {
	v := testVocab(t)
	for n, want := range map[int16]int{1: 4, 2: 6} {
		if got := len(For(v).InBlanks(n).Tokens); got != want {
			t.Errorf("runs of %d bytes: %d tokens", n, got)
		}
	}
}

func TestNeedlessEscape(t *testing.T) {
	for text, want := range map[string]bool{`a\n`: false, `\/`: true, `\u0061`: true, `\u0001`: false, `\u000a`: true, `\u001F`: true, `\u00`: false, `\"`: false} {
		if got := needlessEscape([]byte(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
