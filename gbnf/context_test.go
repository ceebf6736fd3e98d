package gbnf

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// endsAt is a context that ends when it is looked at for the nth time.
type endsAt struct {
	context.Context
	end      context.CancelCauseFunc
	looks, n int
}

var errGone = errors.New("gone")

func newEndsAt(t *testing.T, n int) *endsAt {
	ctx, end := context.WithCancelCause(t.Context())
	return &endsAt{Context: ctx, end: end, n: n}
}

func (c *endsAt) Err() error {
	if c.looks++; c.looks == c.n {
		c.end(errGone)
	}
	return c.Context.Err()
}

// TestContext checks that each part of compiling a large constraint looks at the context, and ends with it.
func TestContext(t *testing.T) {
	v := byteVocab(t)
	compile := func(src string) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			g, err := CompileContext(ctx, src, Options{})
			if err == nil {
				_, err = g.BindContext(ctx, v)
			}
			return err
		}
	}
	var choices []string
	for range 2000 {
		choices = append(choices, strings.Repeat("long text ", 1+len(choices)%7)+strings.Repeat("x", len(choices)))
	}
	var rules strings.Builder
	rules.WriteString("root ::= r0\n")
	for i := range 20_000 {
		fmt.Fprintf(&rules, "r%d ::= r%d \"x\" | \"y\"\n", i, (i+1)%20_000)
	}
	for name, build := range map[string]func(ctx context.Context) error{
		"many elements":     compile("root ::= " + strings.Repeat(`"a"? `, 30_000)),
		"many alternatives": compile(`root ::= "b"` + strings.Repeat(`|"ab"`, 50_000)),
		"groups in groups":  compile("root ::= " + strings.Repeat("(", 3000) + strings.Repeat(`"a"|`, 30_000) + `"b"` + strings.Repeat(")", 3000)),
		"counts of counts":  compile("root ::= " + strings.Repeat("(", 1000) + `"a"` + strings.Repeat("){0,9}?", 1000)),
		"inlined classes":   compile("root ::= " + strings.Repeat("c ", 20_000) + "\nc ::= [" + strings.Repeat("a-cx-z", 500) + "]"),
		"many tokens":       compile("root ::= " + strings.Repeat("<[5]>|", 30_000) + `"a"`),
		"many rules":        compile(rules.String()),
		"regular expression": func(ctx context.Context) error {
			_, err := RegexContext(ctx, strings.Repeat("(?=.*a)", 4000)+".*", ECMA, Options{})
			return err
		},
		"choices": func(ctx context.Context) error { _, err := ChoiceContext(ctx, choices, Options{}); return err },
		"built in": func(ctx context.Context) error {
			_, err := BuiltinContext(ctx, "regex", BuiltinOptions{Pattern: strings.Repeat("(?=.*a)", 4000) + ".*"})
			return err
		},
	} {
		whole := newEndsAt(t, 0)
		if err := build(whole); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if whole.looks < 2 {
			t.Errorf("%s: the context was looked at %d times", name, whole.looks)
		}
		for _, n := range []int{1, whole.looks / 2, whole.looks} {
			ctx := newEndsAt(t, n)
			if err := build(ctx); !errors.Is(err, errGone) {
				t.Errorf("%s: it went on after look %d of %d: %v", name, n, whole.looks, err)
			}
		}
	}
}
