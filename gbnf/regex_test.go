package gbnf

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// looks is a context that ends when it has been looked at so often.
type looks struct {
	context.Context
	left *int
}

func (l looks) Err() error {
	if *l.left--; *l.left < 0 {
		return context.Canceled
	}
	return nil
}

// A client may hang up while a state of its regular expression is worked out: that can take seconds. What was begun is undone,
// and the grammar serves others.
func TestRegexLooksAtTheContext(t *testing.T) {
	g, err := Regex(`((([a-z ]{1,1000}){1,1000},?){1,1000}\.?){1,1000}`, ECMA, Options{})
	if err != nil {
		t.Fatal(err)
	}
	bound := bound(t, g, byteVocab(t))
	m := bound.NewMatcher()
	left := 5
	m.Bind(looks{t.Context(), &left})
	const length = 24
	if n, err := m.AcceptBytes(bytes.Repeat([]byte("a"), length)); !errors.Is(err, context.Canceled) {
		t.Errorf("after %d bytes of %d and %d looks at the context: %v", n, length, 5-left, err)
	}
	if text := bytes.Repeat([]byte("a"), 4); !accepts(bound, string(text)+".") {
		t.Error("another matcher is refused")
	}
}
