package engine

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// newEngine returns an engine for a scripted model and closes both at the end of the test,
// which fails if anything is left open.
func newEngine(t testing.TB, next scripted.Func, opt scripted.Options, cfg Config) *Engine {
	t.Helper()
	model := scripted.New(testVocab(t), next, opt)
	e, err := New(model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if n := model.OpenContexts(); n != 0 {
			t.Errorf("%d contexts are still open", n)
		}
	})
	return e
}

func collect(t testing.TB, e *Engine, req Request) []*Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	stream, err := e.Submit(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	results, err := stream.Collect(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func prompt(e *Engine, text string) []int32 { return e.Vocab().Encode(text) }

func TestFreeText(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Say(v, "one two three"), scripted.Options{}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "count"), MaxTokens: 50})[0]
	if r.Text != "one two three" || r.Finish != FinishStop {
		t.Errorf("text %q, finish %q", r.Text, r.Finish)
	}
	if want := len(v.Tokenize(nil, "one two three", false)); r.CompletionTokens != want {
		t.Errorf("%d tokens, want %d", r.CompletionTokens, want)
	}
	if r.PromptTokens != len(prompt(e, "count")) || r.CachedTokens != 0 || r.Constraint != nil {
		t.Errorf("result %+v", r)
	}

	r = collect(t, e, Request{Prompt: prompt(e, "count"), MaxTokens: 2})[0]
	if r.Finish != FinishLength || r.CompletionTokens != 2 || !strings.HasPrefix("one two three", r.Text) {
		t.Errorf("with two tokens: %+v", r)
	}
}

func TestStopStrings(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Say(v, "aaSTbSTOPcc"), scripted.Options{}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 50, Stop: []string{"never", "STOP"}})[0]
	if r.Text != "aaSTb" || r.StopString != "STOP" || r.Finish != FinishStop {
		t.Errorf("text %q, stop %q, finish %q", r.Text, r.StopString, r.Finish)
	}
}

func TestTextTail(t *testing.T) {
	tests := []struct {
		stops  []string
		pieces []string
		want   []string // text after each piece, then the result of flush
		stop   string
	}{
		{nil, []string{"a", "\xc3", "\xa9", "\xe6\x97", "\xa5z"}, []string{"a", "", "é", "", "日z", ""}, ""},
		{nil, []string{"\xff", "a\xc3"}, []string{"\uFFFD", "a", ""}, ""},
		{nil, []string{"\xc3", "x"}, []string{"", "\uFFFDx", ""}, ""},
		{[]string{"END"}, []string{"xE", "N", "x", "EEN", "D!"}, []string{"x", "", "ENx", "E", ""}, "END"},
		{[]string{"bc", "abcd"}, []string{"ab", "c"}, []string{"", "a"}, "bc"},
		{[]string{"éa"}, []string{"\xc3", "\xa9", "b"}, []string{"", "", "éb", ""}, ""},
	}
	for _, test := range tests {
		tail := textTail{stops: test.stops}
		var got []string
		stop := ""
		for _, p := range test.pieces {
			var text string
			text, stop = tail.add([]byte(p))
			got = append(got, text)
			if stop != "" {
				break
			}
		}
		if stop == "" {
			got = append(got, tail.flush())
		}
		if !slices.Equal(got, test.want) || stop != test.stop {
			t.Errorf("stops %q, pieces %q: shown %q and stop %q, want %q and %q", test.stops, test.pieces, got, stop, test.want, test.stop)
		}
	}
}

// Characters of several tokens arrive complete.
func TestEventsHoldWholeCharacters(t *testing.T) {
	v := testVocab(t)
	const text = "ü→日💡é"
	e := newEngine(t, scripted.Say(v, text), scripted.Options{}, Config{})
	stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: 50, Logprobs: true})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var tokens []byte
	for {
		ev, err := stream.Next(t.Context())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(ev.Text) || strings.ContainsRune(ev.Text, utf8.RuneError) {
			t.Errorf("event %q is not whole characters", ev.Text)
		}
		got.WriteString(ev.Text)
		for _, tok := range ev.Tokens {
			tokens = append(tokens, tok.Bytes...)
		}
	}
	if got.String() != text || string(tokens) != text {
		t.Errorf("events %q, tokens %q, want %q", got.String(), tokens, text)
	}
}

func TestConstrained(t *testing.T) {
	v := testVocab(t)
	lang := quoted(v, `{"name":"`, "abc", `"}`)
	e := newEngine(t, scripted.Random(3), scripted.Options{}, Config{})
	for seed := range uint64(30) {
		r := collect(t, e, Request{
			Prompt: prompt(e, "x"), MaxTokens: 40, Constraint: lang,
			Sampling: sampling.Options{Temperature: 1, Seed: seed},
		})[0]
		if !lang.complete(r.Text) || r.Finish != FinishStop {
			t.Fatalf("seed %d: text %q, finish %q", seed, r.Text, r.Finish)
		}
		if want := len(v.TokenizeText(nil, []byte(`{"name":"`))); r.Constraint.ForcedTokens < want {
			t.Errorf("seed %d: %d forced tokens, want at least %d", seed, r.Constraint.ForcedTokens, want)
		}
		unforced := collect(t, e, Request{
			Prompt: prompt(e, "x"), MaxTokens: 40, Constraint: lang, NoForced: true,
			Sampling: sampling.Options{Temperature: 1, Seed: seed},
		})[0]
		if !lang.complete(unforced.Text) || unforced.Constraint.ForcedTokens != 0 {
			t.Fatalf("seed %d, not forced: text %q, %d forced", seed, unforced.Text, unforced.Constraint.ForcedTokens)
		}
	}
}

// A completely forced document needs no decoding at all.
func TestForcedToTheEnd(t *testing.T) {
	lang := quoted(testVocab(t), `{"name":"`, "", `"}`)
	lang.forced = func(text string) string { return lang.shortest(text) }
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 40, Constraint: lang})[0]
	if r.Text != `{"name":""}` || r.Constraint.ForcedTokens != r.CompletionTokens {
		t.Errorf("text %q, %d of %d tokens forced", r.Text, r.Constraint.ForcedTokens, r.CompletionTokens)
	}
	if n := e.Stats().Decodes; n != 0 {
		t.Errorf("%d decodes", n)
	}
}

// Forced text goes into one batch with the token before it.
func TestForcedTextIsOneBatch(t *testing.T) {
	v := testVocab(t)
	lang := quoted(v, `{"name":"`, "a", `"}`)
	var batches atomic.Int64
	e := newEngine(t, scripted.Say(v, `{"name":"aa"}`), scripted.Options{
		Fault: func(int, *backend.Batch) error { batches.Add(1); return nil },
	}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 40, Constraint: lang})[0]
	if !lang.complete(r.Text) {
		t.Fatalf("text %q", r.Text)
	}
	// Prompt and prefix are one batch. Each sampled token needs the logits of
	// one batch.
	sampled := r.CompletionTokens - r.Constraint.ForcedTokens
	if got := int(batches.Load()); got != sampled {
		t.Errorf("%d batches for %d sampled tokens", got, sampled)
	}
}

// The time of forced text does not count as prompt time, though both are in one batch.
func TestForcedTextIsNotPromptTime(t *testing.T) {
	v := testVocab(t)
	lang := quoted(v, strings.Repeat("o", 40), "", "x")
	const delay = 2 * time.Millisecond // for each token
	e := newEngine(t, scripted.Random(1), scripted.Options{TokenDelay: delay}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 50, Constraint: lang})[0]
	forced := len(v.TokenizeText(nil, []byte(strings.Repeat("o", 40))))
	if forced < 20 || r.Timings.Generate < time.Duration(forced)*delay {
		t.Errorf("%d forced tokens, timings %+v", forced, r.Timings)
	}
}

// From the minimum on, the document is complete with every budget; below, the request fails
// with the minimum.
func TestBudget(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Random(9), scripted.Options{}, Config{})
	for _, lang := range []fakeLanguage{
		quoted(v, `{"name":"`, "abcden日é", `"}`),
		quoted(v, "", "aaaaaaa", "STOPSTOP"),
		quoted(v, "[", "one two three", "日日日]"),
	} {
		_, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: 1, Constraint: lang})
		var tooSmall *BudgetError
		if !errors.As(err, &tooSmall) || tooSmall.Budget != 1 {
			t.Fatalf("budget 1: error %v", err)
		}
		minimum := tooSmall.Minimum
		if _, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: minimum - 1, Constraint: lang}); !errors.As(err, &tooSmall) {
			t.Fatalf("budget %d: error %v", minimum-1, err)
		}
		closed := 0
		for budget := minimum; budget < minimum+12; budget++ {
			for seed := range uint64(6) {
				for _, noForced := range []bool{false, true} {
					r := collect(t, e, Request{
						Prompt: prompt(e, "x"), MaxTokens: budget, Constraint: lang, NoForced: noForced,
						Sampling: sampling.Options{Temperature: 1.5, Seed: seed},
					})[0]
					if !lang.complete(r.Text) || r.Finish != FinishStop || r.CompletionTokens > budget {
						t.Fatalf("budget %d, seed %d: %q in %d tokens, finish %q", budget, seed, r.Text, r.CompletionTokens, r.Finish)
					}
					if r.Constraint.BudgetClosed {
						closed++
					}
				}
			}
		}
		if closed == 0 {
			t.Error("no document was closed by its budget")
		}
		cut := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 1, Constraint: lang, Truncate: true})[0]
		if cut.Finish != FinishLength || cut.CompletionTokens != 1 {
			t.Errorf("truncated: %+v", cut)
		}
	}
}

// A text that would continue is closed by its budget, which is reported; a text that ends by
// itself is not.
func TestBudgetClosedIsReported(t *testing.T) {
	v := testVocab(t)
	lang := quoted(v, `"`, "a", `"`)
	a := v.TokenizeText(nil, []byte("aaaa"))[0]
	e := newEngine(t, func(_ []int32, logits []float32) { logits[a] = scripted.Strong }, scripted.Options{}, Config{})
	r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 10, Constraint: lang})[0]
	if !lang.complete(r.Text) || r.Finish != FinishStop || !r.Constraint.BudgetClosed {
		t.Errorf("endless model: %q, %+v", r.Text, r.Constraint)
	}
	calm := newEngine(t, scripted.Say(v, `"aa"`), scripted.Options{}, Config{})
	r = collect(t, calm, Request{Prompt: prompt(e, "x"), MaxTokens: 10, Constraint: lang})[0]
	if r.Text != `"aa"` || r.Constraint.BudgetClosed {
		t.Errorf("calm model: %q, %+v", r.Text, r.Constraint)
	}
}

// Masks are computed while the model decodes, so their time does not add up.
func TestMasksBesideDecode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := testVocab(t)
		lang := quoted(v, "", "ab", "x")
		lang.pause = func() { time.Sleep(10 * time.Millisecond) }
		a := v.TokenizeText(nil, []byte("a"))[0]
		e := newEngine(t, func(_ []int32, logits []float32) { logits[a] = scripted.Strong }, scripted.Options{Delay: 15 * time.Millisecond}, Config{})
		start := time.Now()
		r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 30, Constraint: lang, Truncate: true})[0]
		if r.Constraint.Masks < 30 || r.Constraint.MaskTotal < 300*time.Millisecond || r.Constraint.MaskMax != 10*time.Millisecond {
			t.Errorf("%+v", r.Constraint)
		}
		// 30 decodes and the prompt; sequentially it would take 750 ms.
		if took := time.Since(start); took > 31*15*time.Millisecond {
			t.Errorf("30 steps took %v", took)
		}
	})
}

func TestConstraintFailsMidway(t *testing.T) {
	v := testVocab(t)
	lang := quoted(v, "", "ab", "x")
	lang.broken = func(text string) bool { return len(text) >= 5 }
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{})
	stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: 100, Constraint: lang,
		Sampling: sampling.Options{LogitBias: []sampling.Bias{{Token: v.TokenizeText(nil, []byte("x"))[0], Add: -100}}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = stream.Collect(t.Context())
	var failed *ConstraintError
	if !errors.As(err, &failed) || failed.Offset < 5 {
		t.Errorf("error %v", err)
	}
	// The engine continues.
	if r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 3})[0]; r.CompletionTokens == 0 {
		t.Errorf("afterwards: %+v", r)
	}
}

type panicking struct{ fakeLanguage }

func (p panicking) NewMatcher() Matcher { return &panickingMatcher{p.fakeLanguage.NewMatcher()} }

type panickingMatcher struct{ Matcher }

func (*panickingMatcher) ForcedTokens() []int32 { panic("a mistake") }

func TestPanicEndsOneRequest(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Say(v, "one"), scripted.Options{}, Config{})
	stream, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "x"), MaxTokens: 100, Constraint: panicking{quoted(v, "", "ab", "x")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(t.Context()); err == nil || !strings.Contains(err.Error(), "internal error: a mistake") {
		t.Errorf("error %v", err)
	}
	if r := collect(t, e, Request{Prompt: prompt(e, "x"), MaxTokens: 10})[0]; r.Text != "one" {
		t.Errorf("afterwards: %+v", r)
	}
}

func TestRefusedRequests(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Context: backend.ContextParams{Size: 16}})
	var tooLong *ContextError
	if _, err := e.Submit(t.Context(), Request{Prompt: make([]int32, 16)}); !errors.As(err, &tooLong) || tooLong.Limit != 16 {
		t.Errorf("prompt of 16 tokens: %v", err)
	}
	if _, err := e.Submit(t.Context(), Request{}); !errors.Is(err, ErrEmptyPrompt) {
		t.Errorf("empty prompt: %v", err)
	}
	var option *sampling.OptionError
	if _, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, Sampling: sampling.Options{TopP: 2}}); !errors.As(err, &option) || option.Option != "top_p" {
		t.Errorf("top_p 2: %v", err)
	}
	// The context limits the budget.
	r := collect(t, e, Request{Prompt: []int32{1, 5, 6, 7}, MaxTokens: 1000, Sampling: sampling.Options{LogitBias: []sampling.Bias{{Token: 2, Add: -100}}}})[0]
	if r.CompletionTokens != 12 || r.Finish != FinishLength {
		t.Errorf("%d tokens, finish %q", r.CompletionTokens, r.Finish)
	}
}

// After the client hangs up, the sequence is in at most one more batch, and the others are
// unaffected.
func TestCancelWithinOneStep(t *testing.T) {
	var mu sync.Mutex
	var batches [][]int32 // sequences of each
	e := newEngine(t, scripted.Random(1), scripted.Options{
		Delay: 2 * time.Millisecond,
		Fault: func(_ int, b *backend.Batch) error {
			mu.Lock()
			batches = append(batches, slices.Clone(b.Seqs))
			mu.Unlock()
			return nil
		},
	}, Config{})
	noEnd := sampling.Options{LogitBias: []sampling.Bias{{Token: 2, Add: -100}}}
	ctx, cancel := context.WithCancel(t.Context())
	victim, err := e.Submit(ctx, Request{Prompt: prompt(e, "x"), MaxTokens: 2000, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	other, err := e.Submit(t.Context(), Request{Prompt: prompt(e, "one two three"), MaxTokens: 60, Sampling: noEnd})
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := victim.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	mu.Lock()
	before := len(batches)
	mu.Unlock()
	if _, err := victim.Collect(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled stream ended with %v", err)
	}
	results, err := other.Collect(t.Context())
	if err != nil || results[0].CompletionTokens != 60 {
		t.Fatalf("the other request: %+v, %v", results, err)
	}
	mu.Lock()
	defer mu.Unlock()
	// batches[before-1] may have been running; batches[before] may have been started when cancel
	// was called.
	for i, seqs := range batches[before:] {
		if slices.Contains(seqs, 0) && slices.Contains(seqs, 1) && i > 0 {
			t.Errorf("%d batches after the cancellation still hold both sequences", i)
		}
	}
	if s := e.Stats(); s.Active != 0 || s.Cancelled != 1 {
		t.Errorf("stats %+v", s)
	}
}

// A batch whose clients have all hung up is aborted rather than completed.
func TestHangUpAbortsPrefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEngine(t, scripted.Random(1), scripted.Options{Delay: 5 * time.Second}, Config{})
		stream, err := e.Submit(t.Context(), Request{Prompt: make([]int32, 400), MaxTokens: 5})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := e.Stats().Active; n != 1 {
			t.Fatalf("%d sequences are active", n)
		}
		start := time.Now()
		stream.Close()
		if _, err := stream.Collect(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		synctest.Wait()
		if n, took := e.Stats().Active, time.Since(start); n != 0 || took > 0 {
			t.Errorf("%d sequences are active %v afterwards", n, took)
		}
	})
}

func TestTimeout(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{Delay: time.Millisecond}, Config{})
	stream, err := e.Submit(t.Context(), Request{Prompt: []int32{1}, MaxTokens: 3000, Timeout: 30 * time.Millisecond,
		Sampling: sampling.Options{LogitBias: []sampling.Bias{{Token: 2, Add: -100}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Collect(t.Context()); !errors.Is(err, ErrTimeout) {
		t.Errorf("ended with %v", err)
	}
}

// The tracer receives all parts of a request, and those of one sequence don't overlap.
func TestTracer(t *testing.T) {
	v := testVocab(t)
	var rec spanList
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Tracer: &rec})
	lang := quoted(v, `{"name":"`, "ab", `"}`)
	r := collect(t, e, Request{ID: "one", Prompt: prompt(e, "x"), MaxTokens: 40, Constraint: lang, Logprobs: true, Sampling: sampling.Options{Temperature: 1}})[0]
	e.Close()
	counts := map[Part]int{}
	var end time.Time
	for _, s := range rec.spans {
		counts[s.Part]++
		if s.Part == PartStep || s.Part == PartForward {
			if s.Request != "" || s.Tokens == 0 {
				t.Errorf("%v: %+v", s.Part, s)
			}
			continue
		}
		if s.Request != "one" {
			t.Errorf("%v: %+v", s.Part, s)
		}
		if s.Start.Before(end) {
			t.Errorf("%v begins %v before the span before it ends", s.Part, end.Sub(s.Start))
		}
		end = s.Start.Add(s.Took)
	}
	sampled := r.CompletionTokens - r.Constraint.ForcedTokens
	for part := PartQueue; part <= PartDeliver; part++ {
		if counts[part] == 0 {
			t.Errorf("no span of %v", part)
		}
	}
	if counts[PartMask] != r.Constraint.Masks || counts[PartText] != sampled {
		t.Errorf("%v; %d masks, %d tokens sampled", counts, r.Constraint.Masks, sampled)
	}
}

type spanList struct {
	mu    sync.Mutex
	spans []Span
}

func (r *spanList) Span(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spans = append(r.spans, s)
}

// Progress comes before any text: what is reused, and what is computed after each batch.
func TestProgress(t *testing.T) {
	v := testVocab(t)
	e := newEngine(t, scripted.Say(v, "one two"), scripted.Options{}, Config{PrefillChunk: 4, Context: backend.ContextParams{MaxBatch: 4}})
	text := prompt(e, "a prompt of several batches")
	read := func(req Request) (list []Progress) {
		t.Helper()
		req.Prompt, req.MaxTokens = text, 8
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		stream, err := e.Submit(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		said := false
		for {
			ev, err := stream.Next(ctx)
			if err == io.EOF {
				return list
			}
			if err != nil {
				t.Fatal(err)
			}
			said = said || ev.Text != ""
			if ev.Progress != nil {
				if list = append(list, *ev.Progress); said || ev.Choice != 0 || ev.Done != nil {
					t.Errorf("%+v", ev)
				}
			}
		}
	}
	n := len(text)
	first := read(Request{Progress: true, Choices: 2})
	if len(first) != 1+(n+3)/4 || first[0].Known != 0 || first[0].Cached != 0 || first[len(first)-1].Known != n {
		t.Fatalf("%d tokens: %+v", n, first)
	}
	for i, p := range first {
		if p.Total != n || i > 0 && (p.Known <= first[i-1].Known || p.Took < first[i-1].Took) {
			t.Errorf("%+v", first)
		}
	}
	again := read(Request{Progress: true})
	if again[0].Cached == 0 || again[0].Known != again[0].Cached || again[len(again)-1].Known != n || len(again) > len(first) {
		t.Errorf("%+v", again)
	}
	if list := read(Request{}); list != nil {
		t.Errorf("not asked for: %+v", list)
	}
	if s := e.Stats(); s.Steps < s.Decodes || s.LongestText < n || s.PromptTime <= 0 || s.GenerateTime <= 0 {
		t.Errorf("%+v", s)
	}
}
