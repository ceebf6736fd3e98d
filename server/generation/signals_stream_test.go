package generation

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/server/generation/layout"
	"github.com/stencil-json/stencil/server/request"
)

// TestHoldback checks that a stream shows the same text as the whole answer,
// however it is split, and never text that the whole answer would not have.
func TestHoldback(t *testing.T) {
	const object = `{"confidence":0.9,"difficulty":"hard","escalation":"verify","reason":"new"}`
	const block = "```cortex-signals\n" + object + "\n```"
	words := []string{"```", "cortex-signals", "cortex", "\n", "\n\n", "{", "}", `"confidence"`, ":", "0.5", ",", " ", "x", "~~~", "\t", `"tools"`, "json", "a\n```json\n", "y.\n" + block, "\n" + object}
	r := rand.New(rand.NewPCG(9, 9))
	schema := &Constraint{kind: "schema", free: true, document: []byte("{}")}
	for i := range 20000 {
		g := &Generation{Signals: &signalPlan{}, Request: request.New()}
		if i%3 == 0 {
			g.Constraint = schema
		}
		var all strings.Builder
		for range r.IntN(16) {
			all.WriteString(words[r.IntN(len(words))])
		}
		text := all.String()
		whole := layout.Message{Content: text}
		want := g.read(&whole, false)
		l := &listener{holdback: g.newHoldback(), gate: layout.NewGate(nil)}
		for at := 0; at < len(text); {
			n := 1 + r.IntN(min(9, len(text)-at))
			for _, p := range l.visiblePieces([]layout.Piece{{Text: text[at : at+n]}}) {
				l.choice.Message.Add(p)
			}
			at += n
		}
		shown := l.choice.Message.Content
		rest, _ := l.rest(g, &engine.Result{Finish: engine.FinishStop})
		got := shown + rest
		if got == whole.Content && l.choice.Said.From == want.From {
			continue
		}
		// Only text that could not be foreseen to be signals was shown.
		if got != text || !strings.HasPrefix(shown, whole.Content) {
			t.Fatalf("%q: stream %q %s, whole %q %s", text, got, l.choice.Said.From, whole.Content, want.From)
		}
	}
}
