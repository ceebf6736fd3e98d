package layout

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/engine"
)

func TestValues(t *testing.T) {
	for name, c := range map[string]struct {
		kind     PieceKind
		document bool
		tokens   string // separated by |; "": those of another text
		pieces   string // that arrive, separated by |
		want     string // texts and, after a colon, numbers of tokens
	}{
		"a document":         {PieceContent, true, `{"a"|:1|,|"b,":|"x,\"",|"c":2}`, ``, `{"a":1,` + "\x003" + `|"b,":"x,\"",` + "\x002" + `|"c":2}` + "\x001"},
		"a comma inside":     {PieceContent, true, `[1,2|,3]`, ``, `[1,2` + "\x001" + `|,3]` + "\x001"},
		"prose":              {PieceContent, false, `a, b|, c`, ``, `a, b, c` + "\x002"},
		"arguments":          {PieceArguments, false, ``, `{"a":[1,2],"b":3}`, `{"a":[1,` + "\x001" + `|2],` + "\x000" + `|"b":3}` + "\x000"},
		"a text over pieces": {PieceArguments, false, ``, `{"a":"x|,y\|",|z","b":1}`, `{"a":"x` + "\x001" + `|,y\` + "\x001" + `|",` + "\x001" + `|z",` + "\x001" + `|"b":1}` + "\x000"},
		"one value":          {PieceContent, true, `"a, b"`, ``, `"a, b"` + "\x001"},
		"characters":         {PieceContent, true, "[\"\xc3|\xa9\",|1]", ``, "[\"é\"," + "\x002" + `|1]` + "\x001"},
	} {
		v := Values{Document: c.document}
		var got []string
		send := func(p Piece, tokens []engine.Token) error {
			got = append(got, fmt.Sprintf("%s\x00%d", p.Text, len(tokens)))
			return nil
		}
		if c.tokens != "" {
			var tokens []engine.Token
			for text := range strings.SplitSeq(c.tokens, "|") {
				tokens = append(tokens, engine.Token{Bytes: []byte(text)})
			}
			if err := v.Split(Piece{Kind: c.kind, Text: strings.ReplaceAll(c.tokens, "|", "")}, tokens, send); err != nil {
				t.Fatal(err)
			}
		}
		for text := range strings.SplitSeq(c.pieces, "|") {
			if c.pieces != "" {
				if err := v.Split(Piece{Kind: c.kind, Text: text}, []engine.Token{{Bytes: []byte("?")}}, send); err != nil {
					t.Fatal(err)
				}
			}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(got, "|"), c.want)
		}
	}
	// A call begins anew, whatever the arguments before it were.
	v := new(Values)
	n := 0
	send := func(Piece, []engine.Token) error { n++; return nil }
	for _, p := range []Piece{{Kind: PieceArguments, Text: `{"a`}, {Kind: PieceCall}, {Kind: PieceArguments, Text: `[1,2]`}} {
		if err := v.Split(p, nil, send); err != nil {
			t.Fatal(err)
		}
	}
	if n != 4 {
		t.Errorf("%d pieces", n)
	}
}
