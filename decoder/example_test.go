package decoder_test

import (
	"fmt"
	"strings"

	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/vocab"
)

// The frames of the grammar in the package comment.
const (
	root decoder.Frame = iota
	value
	closing
	bang
	question
)

// sentence is the Source of the grammar in the package comment:
//
//	root  ::= value "!" | value "?"
//	value ::= "a" | "(" value ")"
type sentence struct{}

func (sentence) Start() decoder.Frame { return root }

// Expand adds the edges of a frame. The frames that replace it are given bottom
// first: after "(" in root, the value is on top, above the ")".
func (sentence) Expand(f decoder.Frame, e *decoder.Edges) {
	switch f {
	case root:
		for _, end := range []decoder.Frame{bang, question} {
			e.Add('a', 'a', end)
			e.Add('(', '(', end, closing, value)
		}
	case value:
		e.Add('a', 'a')
		e.Add('(', '(', closing, value)
	case closing:
		e.Add(')', ')')
	case bang:
		e.Add('!', '!')
	case question:
		e.Add('?', '?')
	}
}

func (sentence) Describe(f decoder.Frame) string {
	return []string{"root", "value", `")"`, `"!"`, `"?"`}[f]
}

func (sentence) Finish(f decoder.Frame) []byte {
	return []byte([]string{"a!", "a", ")", "!", "?"}[f])
}

func (sentence) ExpandByte(decoder.Frame, byte, *decoder.Edges)        {}
func (sentence) Resolve(decoder.Frame, byte, []byte, *decoder.Edges)   {}
func (sentence) Prepare(decoder.Frame, *vocab.Vocab) *decoder.Prepared { return nil }
func (sentence) PrepareAt(decoder.Frame, *vocab.Vocab, *vocab.Trie, int32) *decoder.Prepared {
	return nil
}
func (sentence) Err() error { return nil }
func (sentence) Bytes() int { return 0 }
func (sentence) Reset()     {}

// The configuration, the tables and the mask after each byte of "(a)!", as in the
// package comment.
func Example() {
	tokens := []vocab.Token{{Text: "a"}, {Text: "("}, {Text: ")"}, {Text: "!"}, {Text: "?"}, {Text: "(("}, {Text: "a)"}, {Text: ")?"}, {Text: "</s>", Kind: vocab.Control}}
	end := int32(len(tokens) - 1)
	v, err := vocab.FromTokens(tokens, vocab.Options{EOS: &end})
	if err != nil {
		fmt.Println(err)
		return
	}
	g := decoder.New(sentence{}, v, decoder.Limits{})
	m := g.NewMatcher()
	seen := ""
	show := func() {
		fmt.Printf("%-6q %s\n", m.Text(), m)
		for line := range strings.Lines(g.String()) {
			if !strings.Contains(seen, line) {
				fmt.Print("       new: ", line)
			}
		}
		seen = g.String()
		mask, err := m.Mask()
		if err != nil {
			fmt.Println(err)
			return
		}
		var names []string
		for _, tok := range mask.AppendTokens(nil) {
			names = append(names, v.Text(tok))
		}
		fmt.Println("       mask:", strings.Join(names, "  "))
	}
	show()
	for _, b := range []byte("(a)!") {
		if _, err := m.AcceptBytes([]byte{b}); err != nil {
			fmt.Println(err)
			return
		}
		show()
	}
	// Output:
	// ""     root $
	//        new: s2 = root on $
	//        mask: a  (  ((
	// "("    value ")" {"!" $ | "?" $}
	//        new: s3 = "!" on $
	//        new: s4 = ")" on s3
	//        new: s5 = value on s4
	//        new: s6 = "?" on $
	//        new: s7 = ")" on s6
	//        new: s8 = value on s7
	//        new: s9 = ")" on c0
	//        new: s10 = value on s9
	//        new: s11 = ")" on s9
	//        new: s12 = value on s11
	//        new: c0 = {s3 s6}
	//        mask: a  (  ((  a)
	// "(a"   ")" {"!" $ | "?" $}
	//        new: s13 = ")" on s11
	//        new: s14 = value on s13
	//        mask: )  )?
	// "(a)"  {"!" $ | "?" $}
	//        mask: !  ?
	// "(a)!" $
	//        mask: </s>
}
