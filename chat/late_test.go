package chat

import (
	"errors"
	"testing"
	"time"
)

// TestLate checks that finding out about a template ends when it has taken too long, wherever that is, without a form of calls; and that
// the template renders conversations all the same.
func TestLate(t *testing.T) {
	total := 0
	whole, err := New(ChatML, Options{left: func() time.Duration { total++; return time.Hour }})
	if err != nil || whole.callsFail != nil || total < 10 {
		t.Fatal(err, whole.callsFail, total)
	}
	for most := range total - 1 {
		looks := 0
		late, err := New(ChatML, Options{left: func() time.Duration {
			if looks++; looks > most {
				return 0
			}
			return time.Hour
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, known := late.CallForm(); most < 5 && !errors.Is(late.callsFail, errLate) || known && late.callsFail != nil {
			t.Errorf("after %d renderings: known %v, %v", most, known, late.callsFail)
		}
		if late.left != nil {
			t.Fatal("it is still late afterwards")
		}
		in := Input{Messages: []Message{{Role: "user", Content: "x"}}, AddGenerationPrompt: true}
		got, err := late.Render(in)
		want, _ := whole.Render(in)
		if err != nil || got != want {
			t.Errorf("after %d renderings: %q, %v", most, got, err)
		}
	}
}
