package engine

import (
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// together submits requests so that they share batches, and returns their texts
// and errors.
func together(t *testing.T, e *Engine, requests ...Request) (texts []string, failed []error) {
	t.Helper()
	texts, failed = make([]string, len(requests)), make([]error, len(requests))
	var wg sync.WaitGroup
	for i, r := range requests {
		wg.Go(func() {
			stream, err := e.Submit(t.Context(), r)
			if err != nil {
				failed[i] = err
				return
			}
			out, err := stream.Collect(t.Context())
			if failed[i] = err; err == nil {
				texts[i] = out[0].Text
			}
		})
	}
	wg.Wait()
	return texts, failed
}

// A fault of one sequence ends only that one, not those that share its batches.
func TestFaultEndsOneSequence(t *testing.T) {
	v := testVocab(t)
	const text = "one two three one two three one two three"
	encoded := v.Encode("日")
	bad := encoded[len(encoded)-1]
	faulty := errors.New("the device stumbles over this token")
	for _, test := range []struct {
		name  string
		spoil func(*Request)
		next  func(history []int32, logits []float32) // after the prompt with the bad token
		fault func(n int, b *backend.Batch) error
		is    func(error) bool
	}{
		{name: "batch",
			fault: func(_ int, b *backend.Batch) error {
				if slices.Contains(b.Tokens, bad) {
					return faulty
				}
				return nil
			},
			is: func(err error) bool { return errors.Is(err, faulty) }},
		{name: "matcher that panics",
			spoil: func(r *Request) {
				l := quoted(v, "", "ab", "c")
				l.pause = func() { panic("a mistake") }
				r.Constraint = l
			},
			is: func(err error) bool { return err != nil && strings.Contains(err.Error(), "a mistake") }},
		{name: "token beyond the vocabulary",
			spoil: func(r *Request) { r.Constraint = brokenLanguage{quoted(v, "", "ab", "c"), int32(v.Len())} },
			is:    func(err error) bool { return err != nil && strings.Contains(err.Error(), "not in the vocabulary") }},
		{name: "NaN", next: func(_ []int32, logits []float32) { logits[7] = float32(math.NaN()) },
			is: func(err error) bool { return errors.As(err, new(*LogitsError)) }},
		{name: "infinity", next: func(_ []int32, logits []float32) { logits[7] = float32(math.Inf(1)) },
			is: func(err error) bool { return errors.As(err, new(*LogitsError)) }},
		{name: "nothing", next: func(_ []int32, logits []float32) {
			for i := range logits {
				logits[i] = float32(math.Inf(-1))
			}
		}, is: func(err error) bool { return errors.As(err, new(*LogitsError)) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			say := scripted.Say(v, text)
			next := func(history []int32, logits []float32) {
				if test.next != nil && slices.Contains(history, bad) {
					test.next(history, logits)
					return
				}
				say(history, logits)
			}
			e := newEngine(t, next, scripted.Options{Fault: test.fault}, Config{Parallel: 4})
			for range 20 {
				good := Request{Prompt: prompt(e, "x"), MaxTokens: 40}
				spoilt := Request{Prompt: prompt(e, "日"), MaxTokens: 40}
				if test.spoil != nil {
					test.spoil(&spoilt)
				}
				texts, failed := together(t, e, good, spoilt, good, good)
				if !test.is(failed[1]) {
					t.Fatalf("the spoilt one: %q, %v", texts[1], failed[1])
				}
				for _, i := range []int{0, 2, 3} {
					if failed[i] != nil || !strings.HasPrefix(text, texts[i]) || texts[i] == "" {
						t.Fatalf("request %d: %q, %v", i, texts[i], failed[i])
					}
				}
			}
		})
	}
}

// brokenLanguage forces a token that does not exist.
type brokenLanguage struct {
	fakeLanguage
	token int32
}

func (l brokenLanguage) NewMatcher() Matcher {
	return &brokenMatcher{&fakeMatcher{l: l.fakeLanguage}, l.token}
}

type brokenMatcher struct {
	*fakeMatcher
	token int32
}

func (m *brokenMatcher) ForcedTokens() []int32 { return []int32{m.token} }
func (m *brokenMatcher) Accept(int32) error    { return nil }

// Even with tiny temperatures the sampler returns tokens of the vocabulary.
func TestTinyTemperatures(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{})
	greedy := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 20})[0].Text
	for _, temperature := range []float32{1e-45, 1e-39, 2.9e-39, 1e-38, 1e-20, 1e-6, sampling.MinTemperature / 2} {
		for _, more := range []func(*sampling.Options){
			func(*sampling.Options) {},
			func(o *sampling.Options) { o.TopP = 0.9 },
			func(o *sampling.Options) { o.TopK = 5 },
			func(o *sampling.Options) { o.MinP = 0.1 },
			func(o *sampling.Options) { o.TypicalP = 0.5 },
		} {
			opt := sampling.Options{Temperature: temperature, Seed: 5}
			more(&opt)
			if r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 20, Sampling: opt})[0]; r.Text != greedy {
				t.Errorf("%+v: %q, greedy %q", opt, r.Text, greedy)
			}
			limited := quoted(v, "", "abcde", "x")
			collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 20, Sampling: opt, Constraint: limited})
		}
	}
}
