package vocab_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// TestPiecesKept checks that prompts have the same tokens however often their pieces have been seen, with a tokenizer that adds a space to the first piece and with one that doesn't.
func TestPiecesKept(t *testing.T) {
	for _, name := range []string{"llama2", "llama3"} {
		path := shared.File(t, "vocab", name+".gguf")
		v, err := vocab.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		controls := vocab.ControlsOf(v)
		eos, _ := v.EOS()
		mark := v.Text(eos)
		long := func(i int) string { return strings.Repeat(fmt.Sprintf("Turn %d of it, naïve. ", i), 20) }
		prompt := func(i int) string { return long(i) + mark + long(i) + mark + "short" + mark + long(i+1) }
		var want [8][]int32
		for i := range want {
			fresh, err := vocab.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			want[i], _ = vocab.ControlsOf(fresh).Tokenize(t.Context(), []int32{7}, prompt(i), '\uE000')
			if !slices.Contains(want[i], eos) {
				t.Fatal("control tokens are not recognised")
			}
		}
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() {
				for n := range 40 {
					i := (n*7 + c) % len(want)
					if got, err := controls.Tokenize(t.Context(), []int32{7}, prompt(i), '\uE000'); err != nil || !slices.Equal(got, want[i]) {
						t.Errorf("%s: prompt %d differs", name, i)
						return
					}
				}
			})
		}
		clients.Wait()
	}
}

// TestTokenizeContext checks that the work of tokenizing ends with its context, within a word and between words, and that nothing of it
// is kept.
func TestTokenizeContext(t *testing.T) {
	for _, model := range []vocab.Model{vocab.BPE, vocab.SPM} {
		v := contextVocab(t, model)
		for _, text := range []string{strings.Repeat(" ", 1<<16), strings.Repeat("ab ", 1<<15), strings.Repeat("ab", 1<<15)} {
			want := v.Tokenize([]int32{1}, text, true)
			got, err := vocab.TokenizeContext(t.Context(), v, []int32{1}, text, true)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %.5q: %d tokens, want %d, %v", model, text, len(got), len(want), err)
			}
			if got, err := vocab.EncodeContext(t.Context(), v, text); err != nil || !slices.Equal(got, v.Encode(text)) {
				t.Errorf("%v, %.5q: %d tokens, %v", model, text, len(got), err)
			}
			if got, err := vocab.TokenizeTextContext(t.Context(), v, nil, []byte(text)); err != nil || !slices.Equal(got, v.TokenizeText(nil, []byte(text))) {
				t.Errorf("%v, %.5q: %d tokens, %v", model, text, len(got), err)
			}
			cause := errors.New("over")
			for looks := range 3 {
				ctx := &countedContext{Context: context.Background(), looks: looks, cause: cause}
				if got, err := vocab.TokenizeContext(ctx, v, nil, text, true); got != nil || !errors.Is(err, cause) {
					t.Errorf("%v, %.5q, ended after %d looks: %d tokens, %v", model, text, looks, len(got), err)
				}
				if ctx.looked > looks+3 {
					t.Errorf("%v, %.5q: it looked %d times more", model, text, ctx.looked-looks)
				}
			}
			controls := vocab.ControlsOf(v)
			ended, cancel := context.WithCancelCause(t.Context())
			cancel(cause)
			if got, err := controls.Tokenize(ended, nil, text, '\uE000'); got != nil || !errors.Is(err, cause) {
				t.Errorf("%v, %.5q: %d tokens, %v", model, text, len(got), err)
			}
			if got, err := controls.Tokenize(t.Context(), []int32{1}, text, '\uE000'); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, %.5q: %d tokens, want %d, %v", model, text, len(got), len(want), err)
			}
		}
	}
}

// A countedContext ends after so many looks at it.
type countedContext struct {
	context.Context
	looks, looked int
	cause         error
}

func (c *countedContext) Err() error {
	if c.looked++; c.looked > c.looks {
		return c.cause
	}
	return nil
}

// contextVocab returns a small vocabulary with merges.
func contextVocab(t *testing.T, model vocab.Model) *vocab.Vocab {
	t.Helper()
	var tokens []vocab.Token
	space := "Ġ"
	if model == vocab.SPM {
		space = "▁"
	}
	for _, text := range []string{"<unk>", "a", "b", space, "ab", space + space, space + space + space + space, space + "a"} {
		tokens = append(tokens, vocab.Token{Text: text, Kind: vocab.Normal})
	}
	tokens[0].Kind = vocab.Unknown
	v, err := vocab.FromTokens(tokens, vocab.Options{Model: model, Pre: "gpt-2", Merges: []string{"a b", space + " " + space, space + space + " " + space + space, space + " a"}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
