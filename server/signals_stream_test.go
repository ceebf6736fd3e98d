package server

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stencil/engine"
)

// A stream shows what the whole answer is, however it is cut, and never what a
// whole answer would not.
func TestVeil(t *testing.T) {
	words := []string{"```", "cortex-signals", "cortex", "\n", "\n\n", "{", "}", `"confidence"`, ":", "0.5", ",", " ", "x", "~~~", "\t", `"tools"`, "json", "a\n```json\n", "y.\n" + noteBlock, "\n" + noteText}
	r := rand.New(rand.NewPCG(9, 9))
	schema := &rule{kind: "schema", free: true, document: []byte("{}")}
	for i := range 20000 {
		g := &generation{noted: &noted{}, query: newQuery()}
		if i%3 == 0 {
			g.rule = schema
		}
		var all strings.Builder
		for range r.IntN(16) {
			all.WriteString(words[r.IntN(len(words))])
		}
		text := all.String()
		whole := message{Content: text}
		want := g.read(&whole, false)
		l := &listener{veil: g.newVeil(), gate: &tokenGate{}}
		for at := 0; at < len(text); {
			n := 1 + r.IntN(min(9, len(text)-at))
			for _, p := range l.unveiled([]piece{{text: text[at : at+n]}}) {
				l.choice.message.add(p)
			}
			at += n
		}
		shown := l.choice.message.Content
		rest, _ := l.rest(g, &engine.Result{Finish: engine.FinishStop})
		got := shown + rest
		if got == whole.Content && l.choice.said.from == want.from {
			continue
		}
		// Only what could not be foreseen was shown.
		if got != text || !strings.HasPrefix(shown, whole.Content) {
			t.Fatalf("%q: stream %q %s, whole %q %s", text, got, l.choice.said.from, whole.Content, want.from)
		}
	}
}

// What is held back is little: a line that can't be signals is shown as it comes.
func TestVeilShowsEarly(t *testing.T) {
	for _, c := range []struct {
		exact, asked bool
		pieces       []string
		want         []string
	}{
		{pieces: []string{"It ", "is", " Paris.\n", "So"}, want: []string{"It", " is", " Paris.", "\nSo"}},
		{pieces: []string{"a\n``", "`go\n", "x\n"}, want: []string{"a", "\n```go", "\nx"}},
		{pieces: []string{"a\n```cor", "tes"}, want: []string{"a", "\n```cortes"}},
		{pieces: []string{"a\n{", `"conf`, `id":`}, want: []string{"a", "", "\n{\"confid\":"}},
		{pieces: []string{"a\n{\n  \"con", "fidence\": 1}", "b"}, want: []string{"a", "", ""}},
		{asked: true, pieces: []string{`{"con`, `fidence":1}`}, want: []string{`{"con`, `fidence":1}`}},
		{asked: true, pieces: []string{`{"a":1}`, "\n{\"confidence\"", ":1}"}, want: []string{`{"a":1}`, "", ""}},
		{exact: true, pieces: []string{"a\n", "{\"conf", "x\n"}, want: []string{"a", "", "\n{\"confx"}},
		{exact: true, pieces: []string{"a\n", "```cortex-signals\n"}, want: []string{"a", "\n```cortex-signals"}},
	} {
		v := &veil{exact: c.exact, asked: c.asked}
		var got []string
		for _, p := range c.pieces {
			got = append(got, v.add(p))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.pieces, got, c.want)
		}
	}
}
