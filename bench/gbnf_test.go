package bench

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/gbnf"
	"github.com/stencil-json/stencil/schema"
	"github.com/stencil-json/stencil/vocab"
)

// jsonGrammar accepts what the schema engine accepts for the schema {} with flexible
// whitespace of at most two bytes and any spelling: all of JSON, except keys with
// unnecessary escapes.
const jsonGrammar = `
root   ::= ws value ws
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member (ws "," ws member)* ws)? "}"
member ::= key ws ":" ws value
array  ::= "[" ws (value (ws "," ws value)* ws)? "]"
key    ::= "\"" (plain | "\\" ["\\bfnrt] | "\\u00" control)* "\""
control ::= "0" [0-7bef] | "1" [0-9a-f]
string ::= "\"" (plain | "\\" (["\\/bfnrt] | "u" unicode))* "\""
plain  ::= [^"\\\x00-\x1F]
unicode ::= [0-9a-cA-CefEF] hex{3} | [dD] ([0-7] hex{2} | [89abAB] hex{2} "\\u" [dD] [c-fC-F] hex{2})
hex    ::= [0-9a-fA-F]
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws     ::= [ \t\r\n]{0,2}
`

// TestGrammarIsSchema compares two front ends: the masks of a grammar of JSON with
// those of the schema {}, at every position of 1,000 documents. The only permitted
// difference is that the schema refuses repeated names in an object.
func TestGrammarIsSchema(t *testing.T) {
	documents := 1000
	if testing.Short() {
		documents = 50
	}
	v := realVocab(t, "llama3.gguf")
	s, err := schema.Compile([]byte(`{}`), schema.Options{Whitespace: schema.Flexible(2), AnyNumberSpelling: true})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gbnf.Compile(jsonGrammar, gbnf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	bySchema := s.Grammar(v)
	byGrammar, err := g.Bind(v)
	if err != nil {
		t.Fatal(err)
	}
	tokens := walk.NewTokens(v)
	positions := 0
	for i := range documents {
		w := &walk.Walker{Tokens: tokens, Rand: rand.New(rand.NewPCG(21, uint64(i))), Budget: 30}
		text, err := w.Document(walk.Of(bySchema.NewMatcher()))
		if err != nil {
			t.Fatal(err)
		}
		a, b := bySchema.NewMatcher(), byGrammar.NewMatcher()
		for _, tok := range append(v.TokenizeText(nil, text), v.EOG()[0]) {
			if err := sameMasks(a, b, v); err != nil {
				t.Fatalf("after %q: %v", a.Text(), err)
			}
			positions++
			if err := a.Accept(tok); err != nil {
				t.Fatal(err)
			}
			if err := b.Accept(tok); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d documents, %d positions", documents, positions)
}

// sameMasks compares the masks of a schema and a grammar.
func sameMasks(bySchema, byGrammar *decoder.Matcher, v *vocab.Vocab) error {
	a, err := bySchema.Mask()
	if err != nil {
		return err
	}
	b, err := byGrammar.Mask()
	if err != nil {
		return err
	}
	sa, sb := vocab.NewBitset(v.Len()), vocab.NewBitset(v.Len())
	a.Fill(sa)
	b.Fill(sb)
	if sa.Equal(sb) {
		return nil
	}
	for id := range int32(v.Len()) {
		if sa.Has(id) == sb.Has(id) {
			continue
		}
		text := append(append([]byte(nil), bySchema.Text()...), v.Bytes(id)...)
		if sa.Has(id) || !repeatsName(text) {
			return fmt.Errorf("token %d %q: schema %t, grammar %t", id, v.Bytes(id), sa.Has(id), sb.Has(id))
		}
	}
	return nil
}

// repeatsName reports whether a prefix of a document contains an object with a
// repeated name.
func repeatsName(text []byte) bool {
	type level struct {
		object, key bool
		names       map[string]bool
	}
	var open []level
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			open = append(open, level{object: true, key: true, names: map[string]bool{}})
		case '[':
			open = append(open, level{})
		case '}', ']':
			open = open[:len(open)-1]
		case ':':
			open[len(open)-1].key = false
		case ',':
			open[len(open)-1].key = open[len(open)-1].object
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return false
			}
			name, err := parseValue(text[i : end+1])
			if err != nil {
				return false
			}
			if n := len(open); n > 0 && open[n-1].key {
				if open[n-1].names[name.text] {
					return true
				}
				open[n-1].names[name.text] = true
			}
			i = end
		}
	}
	return false
}

// TestSequenceOfSchema compares the masks of a schema between reasoning and free
// text with the result of trying every token. Objects and arrays determine their own
// end; numbers and whitespace may continue as free text.
func TestSequenceOfSchema(t *testing.T) {
	v := vocabOf(t, append([]string{"<think>", "</think>", "</", "think", ">{", "}\n", "}}", "} a", "]x", "</think>{", `"}x`, "1x"}, nastyTokens...)...)
	mark := func(s string) []decoder.Piece { return []decoder.Piece{{Text: s}} }
	for i, src := range []string{
		`{"type": "object", "properties": {"a": {"type": "array", "uniqueItems": true, "items": {"type": "integer"}}, "b": {"type": "string"}}, "additionalProperties": {"type": "number"}}`,
		`{"type": "array", "items": {"type": ["string", "number", "object"]}}`,
		`{"type": "integer"}`,
		`{"type": "number", "minimum": 10, "maximum": 120}`,
		`{"type": ["boolean", "null", "string", "number"]}`,
		`{"type": "array", "items": {"type": "number"}}`,
		`{"enum": [12, 1, "a", true, [], {"b": 1}]}`,
		`{}`,
	} {
		for j, opt := range []schema.Options{{}, {Whitespace: schema.Flexible(2)}, {Whitespace: schema.Pretty}, {Whitespace: schema.Natural}} {
			s, err := schema.Compile([]byte(src), opt)
			if err != nil {
				t.Fatal(err)
			}
			seq, err := decoder.NewSequence(v, []decoder.Segment{
				{Free: &decoder.Free{Budget: 6, Stops: []decoder.Stop{{Mark: mark("</think>"), Next: 1}}}},
				{Grammar: s.Grammar(v), Next: 2},
				{Free: &decoder.Free{MayEnd: true}},
			}, decoder.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(4, uint64(10*i+j)))
			m := seq.NewMatcher()
			for range 80 {
				mask, err := m.Mask()
				if err != nil {
					t.Fatal(err)
				}
				got := mask.AppendTokens(nil)
				for id := range int32(v.Len()) {
					if accepted := m.Clone().Accept(id) == nil; accepted != mask.Has(id) {
						t.Fatalf("%s: after %q: token %q: in mask %t, accepted %t", src, m.Text(), v.Bytes(id), mask.Has(id), accepted)
					}
				}
				end := m.Clone()
				for _, b := range end.ShortestCompletion() {
					if err := end.Accept(int32(b) + 1); err != nil {
						t.Fatalf("%s: after %q: completion: %v", src, m.Text(), err)
					}
				}
				if !end.Accepting() {
					t.Fatalf("%s: after %q: not completed by %q", src, m.Text(), m.ShortestCompletion())
				}
				next := got[rng.IntN(len(got))]
				if v.IsEOG(next) || m.Segment() == 2 && rng.IntN(4) == 0 {
					m = seq.NewMatcher()
				} else if err := m.Accept(next); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
