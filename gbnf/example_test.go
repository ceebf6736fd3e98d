package gbnf_test

import (
	"fmt"

	"github.com/stencil-json/stencil/decoder/walk"
	"github.com/stencil-json/stencil/gbnf"
)

func ExampleCompile() {
	g, err := gbnf.Compile(`root ::= move ("," move)*
move ::= [a-h] [1-8]`, gbnf.Options{})
	if err != nil {
		panic(err)
	}
	v, err := walk.ByteTokens() // in earnest: vocab.Load of a model's file
	if err != nil {
		panic(err)
	}
	bound, err := g.Bind(v)
	if err != nil {
		panic(err)
	}
	m := bound.NewMatcher()
	_, err = m.AcceptBytes([]byte("e2,e9"))
	fmt.Println(err)
	fmt.Printf("%q\n", m.ShortestCompletion())
	// Output:
	// decoder: byte 4: unexpected '9': expected [1-8] (move)
	// "1"
}

func ExampleCompile_error() {
	_, err := gbnf.Compile("root ::= pawn | rook\nrook ::= \"R\" [a-h]", gbnf.Options{})
	fmt.Println(err)
	// Output:
	// gbnf: 1:10: rule "root": undefined rule "pawn"
}
