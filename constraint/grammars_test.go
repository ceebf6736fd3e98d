package constraint

import (
	"errors"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine"
)

// TestTokenGrammars generates texts of grammars that refer to control tokens,
// with budgets that include too small ones: every text that is not refused is
// complete, and matches the grammar without these tokens.
func TestTokenGrammars(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, v, scripted.Random(4), engine.Config{})
	for src, want := range map[string]func(text string) bool{
		`root ::= <s> "name" <s> [a-c]+ <s>`: func(s string) bool {
			return strings.HasPrefix(s, "name") && strings.Trim(s[4:], "abc") == "" && len(s) > 4
		},
		`root ::= (!<s>){0,30} <s> "{" [a-e]* "}"`: func(s string) bool {
			return strings.HasSuffix(s, "}") && strings.Contains(s, "{")
		},
		`root ::= <s>{5}`: func(s string) bool { return s == "" },
	} {
		g, err := NewGrammars(v, 4).Grammar(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for budget := 1; budget <= 40; budget++ {
			stream, err := e.Submit(t.Context(), engine.Request{
				Prompt: e.Vocab().Encode("x"), MaxTokens: budget, Constraint: g.Constraint, NoForced: budget%3 == 0,
				Sampling: sampling.Options{Temperature: 1, Seed: uint64(budget)},
			})
			if short := (*engine.BudgetError)(nil); errors.As(err, &short) && budget < 8 {
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
			if r.Finish != engine.FinishStop || !want(r.Text) || g.Validate(t.Context(), r.Text) != nil {
				t.Errorf("%s: %d tokens: text %q, finish %q, %v", src, budget, r.Text, r.Finish, g.Validate(t.Context(), r.Text))
			}
		}
		if refused == 0 {
			t.Errorf("%s: a single token is enough", src)
		}
	}
}
