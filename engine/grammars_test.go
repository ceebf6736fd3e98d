package engine

import (
	"errors"
	"strings"
	"testing"

	"stencil/backend/scripted"
	"stencil/decoder/sampling"
)

// TestTokenGrammars generates texts of grammars that refer to control tokens,
// with budgets down to what is too little: what is not refused is complete, and
// its text, which holds nothing of those tokens, is what the grammar says.
func TestTokenGrammars(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(4), scripted.Options{}, Config{})
	for src, want := range map[string]func(text string) bool{
		`root ::= <s> "name" <s> [a-c]+ <s>`: func(s string) bool {
			return strings.HasPrefix(s, "name") && strings.Trim(s[4:], "abc") == "" && len(s) > 4
		},
		`root ::= (!<s>){0,30} <s> "{" [a-e]* "}"`: func(s string) bool {
			return strings.HasSuffix(s, "}") && strings.Contains(s, "{")
		},
		`root ::= <s>{5}`: func(s string) bool { return s == "" },
	} {
		g, err := NewGrammars(v, 4).Grammar(src)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for budget := 1; budget <= 40; budget++ {
			stream, err := e.Submit(t.Context(), Request{
				Prompt: prompt(e, "x"), MaxTokens: budget, Constraint: g.Constraint, NoForced: budget%3 == 0,
				Sampling: sampling.Options{Temperature: 1, Seed: uint64(budget)},
			})
			if short := (*BudgetError)(nil); errors.As(err, &short) && budget < 8 {
				refused++
				continue
			}
			if err != nil {
				t.Fatalf("%s: %d tokens: %v", src, budget, err)
			}
			results, err := stream.Collect(t.Context())
			if err != nil {
				t.Fatalf("%s: %d tokens: %v", src, budget, err)
			}
			r := results[0]
			if r.Finish != FinishStop || !want(r.Text) || g.Validate(r.Text) != nil {
				t.Errorf("%s: %d tokens: text %q, finish %q, %v", src, budget, r.Text, r.Finish, g.Validate(r.Text))
			}
		}
		if refused == 0 {
			t.Errorf("%s: a single token is enough", src)
		}
	}
}
