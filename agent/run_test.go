package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A script answers questions by a function, and records them.
type script struct {
	answer  func(ctx context.Context, q *Question) (*Reply, error)
	nowords bool // no tokenizer

	mu    sync.Mutex
	asked []*Question
}

func (s *script) Ask(ctx context.Context, q *Question) (*Reply, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q)
	s.mu.Unlock()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return s.answer(ctx, q)
}

// CountTokens counts bytes.
func (s *script) CountTokens(text string) (int, bool) { return len(text), !s.nowords }

// said returns the last message of a question.
func said(q *Question) string { return q.Messages[len(q.Messages)-1].Content }

// query returns the query in a question built from the default prompts.
func query(q *Question) string {
	text := said(q)
	if _, part, found := strings.Cut(text, "Your part of it: "); found {
		return part
	}
	if _, task, found := strings.Cut(text, "The task: "); found {
		task, _, _ = strings.Cut(task, "\n")
		return task
	}
	return text
}

// reply returns a reply with an envelope.
func reply(e Envelope) (*Reply, error) {
	text := string(mustJSON(e))
	return &Reply{Text: text, PromptTokens: 10, CompletionTokens: 20, Constrained: true}, nil
}

func finalize(text string) (*Reply, error) {
	return reply(Envelope{Conclusion: text, Confidence: 0.9, NextAction: Finalize})
}

func split(text string, queries ...string) (*Reply, error) {
	e := Envelope{Conclusion: text, Confidence: 0.6, NextAction: Continue}
	for i, q := range queries {
		e.SubTasks = append(e.SubTasks, SubTask{q, i + 1})
	}
	return reply(e)
}

func ask(text string) (*Reply, error) {
	return reply(Envelope{Conclusion: text, Confidence: 0.3, NextAction: AskUser})
}

// plan returns a script that splits queries according to tree; others are final.
func plan(tree map[string][]string) *script {
	return &script{answer: func(_ context.Context, q *Question) (*Reply, error) {
		about := query(q)
		if list := tree[about]; !q.Synthesis && list != nil {
			return split("first "+about, list...)
		}
		return finalize(map[bool]string{true: "all of ", false: "did "}[q.Synthesis] + about)
	}}
}

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func begin(t testing.TB, q string, c Config) *Run {
	t.Helper()
	if c.Log == nil {
		c.Log = quiet
	}
	r, err := New(q, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func run(t testing.TB, r *Run) *Outcome {
	t.Helper()
	o, err := r.Go(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// drawn returns a tree as text, one frame per line.
func drawn(frames []Frame) string {
	var b strings.Builder
	var draw func(f *Frame)
	draw = func(f *Frame) {
		fmt.Fprintf(&b, "%s%d %s: %s", strings.Repeat("  ", f.Depth-1), f.ID, f.Query, f.Status)
		if f.Conclusion != "" {
			fmt.Fprintf(&b, " %q", f.Conclusion)
		}
		if f.Bound != "" {
			fmt.Fprintf(&b, " [%s]", f.Bound)
		}
		if f.Error != "" {
			fmt.Fprintf(&b, " (%s)", f.Error)
		}
		b.WriteByte('\n')
		for _, id := range f.Children {
			draw(&frames[id-1])
		}
		for _, s := range f.Skipped {
			fmt.Fprintf(&b, "%s- %s: %s %d\n", strings.Repeat("  ", f.Depth), s.Query, s.Reason, s.Frame)
		}
	}
	draw(&frames[0])
	return b.String()
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// deep is a tree of depth 4.
var deep = map[string][]string{"root": {"a", "b"}, "a": {"a1", "a2"}, "a1": {"a1x", "a1y"}, "b": {"b1"}}

const deepDrawn = `
1 root: done "all of root"
  2 a: done "all of a"
    4 a1: done "all of a1"
      6 a1x: done "did a1x"
      7 a1y: done "did a1y"
    5 a2: done "did a2"
  3 b: done "all of b"
    8 b1: done "did b1"
`

func TestTree(t *testing.T) {
	s := plan(deep)
	var events []string
	o := run(t, begin(t, "root", Config{Asker: s, Emit: func(e Event) { events = append(events, fmt.Sprint(e.Type, " ", e.Frame.ID)) }}))
	same(t, drawn(o.Frames), deepDrawn)
	if o.Status != StatusDone || o.Bound != "" || o.Answer.Conclusion != "all of root" || !o.Frames[0].Synthesized || !o.Frames[0].Constrained {
		t.Errorf("outcome %+v", o)
	}
	if want := strings.Fields("frame_1 answer_1 frame_2 answer_2 frame_4 answer_4 frame_6 finished_6 frame_7 finished_7 synthesis_4 finished_4 " +
		"frame_5 finished_5 synthesis_2 finished_2 frame_3 answer_3 frame_8 finished_8 synthesis_3 finished_3 synthesis_1 finished_1"); !slices.Equal(events, spaced(want)) {
		t.Errorf("events %q", events)
	}
	if n := len(s.asked); n != 12 || o.Totals.PromptTokens != 12*10 || o.Totals.CompletionTokens != 12*20 || o.Totals.Frames != 8 {
		t.Errorf("%d questions, totals %+v", n, o.Totals)
	}
	// A synthesis contains the conclusions of its sub-tasks.
	if text := said(s.asked[len(s.asked)-1]); !strings.Contains(text, "A first conclusion: first root") ||
		!strings.Contains(text, "- a\n  all of a (confidence 0.90)") || !strings.Contains(text, "- b\n  all of b (confidence 0.90)") {
		t.Errorf("the last synthesis was asked with\n%s", text)
	}
	// A sub-task contains the whole task.
	if text := said(s.asked[3]); text != "The whole task: root\n\nYour part of it: a1x" {
		t.Errorf("a frame was asked with\n%s", text)
	}
	seeds := map[uint64]bool{}
	for _, q := range s.asked {
		seeds[q.Seed] = true
	}
	if len(seeds) != len(s.asked) {
		t.Error("questions share a seed")
	}
}

func spaced(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.ReplaceAll(s, "_", " "))
	}
	return out
}

func TestPriority(t *testing.T) {
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		if len(s.asked) == 1 {
			return reply(Envelope{Conclusion: "c", NextAction: Continue, SubTasks: []SubTask{{"third", 9}, {"first", 1}, {"second", 2}, {"also second", 2}}})
		}
		return finalize("done")
	}
	run(t, begin(t, "root", Config{Asker: s}))
	var order []string
	for _, q := range s.asked[1 : len(s.asked)-1] {
		order = append(order, query(q))
	}
	if want := []string{"first", "second", "also second", "third"}; !slices.Equal(order, want) {
		t.Errorf("order %q, want %q", order, want)
	}
}

// TestParallel checks that frames run concurrently, up to the limit, with the same
// result.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		s := plan(deep)
		answer := s.answer
		s.answer = func(ctx context.Context, q *Question) (*Reply, error) {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Millisecond) // until all frames that may run wait here
			return answer(ctx, q)
		}
		o := run(t, begin(t, "root", Config{Asker: s, Parallel: 3}))
		if most.Load() != 3 {
			t.Errorf("%d at the same time", most.Load())
		}
		var conclusions []string
		for _, f := range o.Frames {
			conclusions = append(conclusions, f.Conclusion)
		}
		slices.Sort(conclusions)
		if want := []string{"all of a", "all of a1", "all of b", "all of root", "did a1x", "did a1y", "did a2", "did b1"}; !slices.Equal(conclusions, want) {
			t.Errorf("conclusions %q", conclusions)
		}
	})
}

// TestRepeated checks that a repeated task is run once, and that loops end.
func TestRepeated(t *testing.T) {
	s := plan(map[string][]string{"root": {"a", "b", "A.", "Root?"}, "a": {"a1"}, "b": {"  a1 !", "b", "b1"}})
	o := run(t, begin(t, "root", Config{Asker: s}))
	same(t, drawn(o.Frames), `
1 root: done "all of root"
  2 a: done "all of a"
    4 a1: done "did a1"
  3 b: done "all of b"
    5 b1: done "did b1"
    - a1 !: repeated 4
    - b: repeated 3
  - A.: repeated 2
  - Root?: repeated 1
`)
	for _, q := range s.asked {
		text := said(q)
		if q.Synthesis && query(q) == "b" && (!strings.Contains(text, "a1 !\n  did a1 (confidence 0.90)") || !strings.Contains(text, "not done: the same as a task that is not done yet")) {
			t.Errorf("b was brought together from\n%s", text)
		}
	}
	if o.Bound != "" {
		t.Errorf("bound %q", o.Bound)
	}
}

func TestKey(t *testing.T) {
	for _, group := range [][]string{{"What is it?", "  what  IS it ", "what is\tit."}, {"???"}, {"!"}, {"ÄB", "äb!"}} {
		for _, other := range group {
			if key(other) != key(group[0]) || key(other) == "" {
				t.Errorf("%q and %q: %q, %q", group[0], other, key(group[0]), key(other))
			}
		}
	}
	if key("a b") == key("ab") || key("???") == key("!") {
		t.Error("different queries have the same key")
	}
}

// endless returns a script that always answers with more sub-tasks.
func endless(width int) *script {
	n := atomic.Int32{}
	return &script{answer: func(_ context.Context, q *Question) (*Reply, error) {
		if q.Synthesis {
			return finalize("sum")
		}
		var list []string
		for range width {
			list = append(list, fmt.Sprintf("task %d", n.Add(1)))
		}
		return split("more", list...)
	}}
}

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		bounds Bounds
		bound  string
		check  func(o *Outcome) bool
	}{
		"depth": {Bounds{Depth: 3}, BoundDepth, func(o *Outcome) bool {
			return len(o.Frames) == 7 && o.Frames[6].Depth == 3 && o.Frames[6].Bound == BoundDepth && len(o.Frames[6].Skipped) == 2
		}},
		"depth 1": {Bounds{Depth: 1}, BoundDepth, func(o *Outcome) bool { return len(o.Frames) == 1 }},
		"frames": {Bounds{Depth: 9, Frames: 10}, BoundFrames, func(o *Outcome) bool {
			return len(o.Frames) == 10
		}},
		"tokens": {Bounds{Depth: 99, Frames: 1000, Tokens: 500, FrameTokens: 100}, BoundTokens, func(o *Outcome) bool {
			return o.Totals.CompletionTokens <= 500 && o.Totals.CompletionTokens > 300
		}},
		"sub_tasks": {Bounds{Depth: 2, SubTasks: 1}, BoundSubTasks, func(o *Outcome) bool { return len(o.Frames) == 2 && len(o.Frames[0].Skipped) == 1 }},
	} {
		for parallel := 1; parallel <= 4; parallel += 3 {
			t.Run(fmt.Sprint(name, "/", parallel), func(t *testing.T) {
				s := endless(2)
				o := run(t, begin(t, "root", Config{Asker: s, Bounds: c.bounds, Parallel: parallel}))
				if o.Bound != c.bound || o.Frames[0].Status != StatusDone || !c.check(o) {
					t.Errorf("bound %q, totals %+v\n%s", o.Bound, o.Totals, drawn(o.Frames))
				}
				if o.Answer.Conclusion != "sum" || !o.Frames[0].Synthesized {
					t.Errorf("the answer is no synthesis: %+v", o.Answer)
				}
				last := s.asked[len(s.asked)-1]
				if !last.Synthesis || !strings.Contains(said(last), "Not everything could be done, for lack of "+c.bound) {
					t.Errorf("the last question was\n%s", said(last))
				}
				for _, f := range o.Frames {
					if !f.ended() {
						t.Errorf("frame %d is %s", f.ID, f.Status)
					}
				}
			})
		}
	}
}

// TestDepthIsInTheSchema checks that the schema for the deepest frames has no
// sub-tasks.
func TestDepthIsInTheSchema(t *testing.T) {
	s := plan(map[string][]string{"root": {"a"}})
	run(t, begin(t, "root", Config{Asker: s, Bounds: Bounds{Depth: 2}, Interactive: true}))
	for i, want := range []bool{true, false, false} {
		q := s.asked[i]
		if got := strings.Contains(string(q.Schema), "sub_tasks"); got != want {
			t.Errorf("question %d: sub-tasks %v", i, got)
		}
		if got := strings.Contains(q.Messages[0].Content, "sub_tasks"); got != want {
			t.Errorf("question %d: its system text speaks of sub-tasks: %v", i, got)
		}
		if got := strings.Contains(string(q.Schema), "ask_user"); got == q.Synthesis {
			t.Errorf("question %d: may ask: %v", i, got)
		}
	}
}

func TestTimeBound(t *testing.T) {
	s := &script{}
	s.answer = func(ctx context.Context, q *Question) (*Reply, error) {
		switch {
		case q.Synthesis:
			return finalize("sum")
		case q.Frame == 1:
			return split("first", "a", "b", "c")
		case q.Frame == 2:
			return finalize("did a")
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	o := run(t, begin(t, "root", Config{Asker: s, Bounds: Bounds{Time: 200 * time.Millisecond}}))
	same(t, drawn(o.Frames), `
1 root: done "sum" [time]
  2 a: done "did a"
  3 b: failed [time] (time limit reached)
  4 c: failed [time] (not started: the limit on time was reached)
`)
	if o.Bound != BoundTime {
		t.Errorf("bound %q", o.Bound)
	}
}

// TestNoTimeForSynthesis checks that existing results are joined without the model.
func TestNoTimeForSynthesis(t *testing.T) {
	s := &script{}
	s.answer = func(ctx context.Context, q *Question) (*Reply, error) {
		if q.Frame == 1 && !q.Synthesis {
			return split("first", "a?")
		}
		if !q.Synthesis {
			return reply(Envelope{Conclusion: "did a", Confidence: 0.4, NextAction: Finalize})
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	o := run(t, begin(t, "root", Config{Asker: s, Bounds: Bounds{Time: 100 * time.Millisecond}}))
	if o.Answer.Conclusion != "first\n\na: did a" || o.Answer.Confidence != 0.4 || o.Answer.Error != errorSynthesis || o.Bound != BoundTime {
		t.Errorf("%+v", o.Answer)
	}
}

func TestNoTimeAtAll(t *testing.T) {
	s := &script{answer: func(ctx context.Context, _ *Question) (*Reply, error) { <-ctx.Done(); return nil, context.Cause(ctx) }}
	if _, err := begin(t, "root", Config{Asker: s, Bounds: Bounds{Time: 20 * time.Millisecond}}).Go(context.Background()); !errors.Is(err, ErrTime) {
		t.Errorf("error %v", err)
	}
}

// TestRefusals has models refuse by text, by errors, and by empty answers.
func TestRefusals(t *testing.T) {
	broken := errors.New("the model refuses")
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		if q.Synthesis {
			return finalize("sum")
		}
		switch query(q) {
		case "root":
			return split("first", "words", "error", "nothing", "ask")
		case "words":
			return &Reply{Text: "I can't help with that.", CompletionTokens: 7}, nil
		case "error":
			return nil, broken
		case "ask":
			return ask("which?") // although the schema does not allow it
		}
		return &Reply{}, nil
	}
	o := run(t, begin(t, "root", Config{Asker: s}))
	same(t, drawn(o.Frames), `
1 root: done "sum"
  2 words: done "I can't help with that."
  3 error: failed (the model refuses)
  4 nothing: done
  5 ask: done "which?"
`)
	if e := o.Frames[1].Envelope; e.IsValid() || e.Error != ErrorInvalidJSON || o.Frames[1].Confidence != RawConfidence || o.Frames[1].ProseTokensSaved != nil {
		t.Errorf("%+v", o.Frames[1])
	}
	last := said(s.asked[len(s.asked)-1])
	for _, want := range []string{"- error\n  (not done: the model refuses)", "- nothing\n  (not done: no conclusion)", "- words\n  I can't help with that. (confidence 0.50)"} {
		if !strings.Contains(last, want) {
			t.Errorf("the synthesis does not see %q:\n%s", want, last)
		}
	}
	s.answer = func(context.Context, *Question) (*Reply, error) { return nil, broken }
	if _, err := begin(t, "root", Config{Asker: s}).Go(context.Background()); !errors.Is(err, broken) {
		t.Errorf("a root that failed: %v", err)
	}
}

func TestAskUser(t *testing.T) {
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		about := query(q)
		switch {
		case q.Synthesis:
			return finalize("sum")
		case about == "root":
			return split("first", "a", "b")
		case about == "a":
			return ask("which a?")
		case about == "b":
			return ask("which b?")
		}
		return finalize("did it with " + about)
	}
	r := begin(t, "root", Config{Asker: s, Interactive: true})
	o := run(t, r)
	if want := []Asked{{2, "which a?"}, {3, "which b?"}}; o.Status != StatusWaiting || !slices.Equal(o.Questions, want) || o.Answer != nil {
		t.Fatalf("%+v", o)
	}
	for frame, bad := range map[int]string{0: "no frame 0", 4: "no frame 4", 1: "is not waiting"} {
		if err := r.Answer(frame, "x"); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("an answer to frame %d: %v", frame, err)
		}
	}
	if err := r.Answer(3, "the second b"); err != nil {
		t.Fatal(err)
	}
	// Saved and restored, the run continues where it was.
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = Restore(data, Config{Asker: s, Log: quiet}); err != nil {
		t.Fatal(err)
	}
	if o = run(t, r); len(o.Questions) != 1 || o.Questions[0].Frame != 2 || o.Frames[2].Conclusion != "did it with the second b" {
		t.Fatalf("%+v", o)
	}
	asked := s.asked[len(s.asked)-1].Messages
	if len(asked) != 4 || asked[2].Role != "assistant" || !strings.Contains(asked[2].Content, "which b?") {
		t.Errorf("the question that was answered is not in the conversation: %+v", asked)
	}
	if err := r.Answer(2, "the first a"); err != nil {
		t.Fatal(err)
	}
	o = run(t, r)
	same(t, drawn(o.Frames), `
1 root: done "sum"
  2 a: done "did it with the first a"
  3 b: done "did it with the second b"
`)
	if o.Totals.CompletionTokens != 20*len(s.asked) {
		t.Errorf("%d tokens of %d questions", o.Totals.CompletionTokens, len(s.asked))
	}
}

func TestRestoreRefuses(t *testing.T) {
	r := begin(t, "root", Config{Asker: plan(nil), Interactive: true})
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{
		`"version":1`: `"version":2`, `"id":1`: `"id":2`, `"status":"ready"`: `"status":"running"`, `"depth":1,"query"`: `"depth":1,"parent":1,"query"`,
		`"frames":[`: `"frames":[null,`, `"messages":[`: `"children":[7],"messages":[`, `{`: ``, `"depth":4`: `"depth":-1`,
	} {
		changed := strings.Replace(string(data), from, to, 1)
		if changed == string(data) {
			t.Fatalf("nothing to change: %s", from)
		}
		if _, err := Restore([]byte(changed), Config{Asker: plan(nil)}); err == nil || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%s: %v", changed, err)
		}
	}
}

// TestCancel checks that a cancelled run stops at once, leaves no goroutines, and
// can be continued.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails if goroutines remain
		for parallel := 1; parallel <= 3; parallel++ {
			ctx, cancel := context.WithCancel(context.Background())
			s := plan(deep)
			answer := s.answer
			s.answer = func(c context.Context, q *Question) (*Reply, error) {
				if query(q) == "a1x" && ctx.Err() == nil {
					cancel()
					<-c.Done()
					return nil, context.Cause(c)
				}
				return answer(c, q)
			}
			r := begin(t, "root", Config{Asker: s, Parallel: parallel})
			if _, err := r.Go(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v", err)
			}
			o := run(t, r)
			if o.Answer.Conclusion != "all of root" || o.Totals.Frames != 8 {
				t.Errorf("afterwards\n%s", drawn(o.Frames))
			}
		}
	})
}

// A box is a toolbox whose results repeat the call.
type box struct{ calls atomic.Int32 }

func (b *box) Tools() []Tool {
	return []Tool{{Name: "look", Description: "looks", Parameters: json.RawMessage(`{"type":"object"}`)}}
}

func (b *box) Call(_ context.Context, name string, arguments json.RawMessage) string {
	return fmt.Sprintf("result %d of %s%s", b.calls.Add(1), name, arguments)
}

func TestTools(t *testing.T) {
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		if len(q.Tools) == 0 {
			return finalize("had to: " + said(q))
		}
		return &Reply{Calls: []Call{{"c1", "look", json.RawMessage(`{"a":1}`)}, {"c2", "look", json.RawMessage(`{}`)}}, CompletionTokens: 5, PromptTokens: 1}, nil
	}
	b := &box{}
	var told []string
	o := run(t, begin(t, "root", Config{Asker: s, Toolbox: b, Bounds: Bounds{ToolSteps: 2}, Emit: func(e Event) {
		if e.Type == EventTool {
			told = append(told, fmt.Sprint(e.Tool.Name, string(e.Tool.Arguments), len(e.Frame.Tools)))
		}
	}}))
	if o.Answer.Conclusion != "had to: result 4 of look{}" || len(o.Frames[0].Tools) != 4 || o.Frames[0].CompletionTokens != 5+5+20 {
		t.Errorf("%+v", o.Frames[0])
	}
	if want := []string{`look{"a":1}1`, `look{}2`, `look{"a":1}3`, `look{}4`}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	m := s.asked[1].Messages
	if len(m) != 5 || m[2].Calls[1].ID != "c2" || !reflect.DeepEqual(m[3], Message{Role: "tool", Content: `result 1 of look{"a":1}`, CallID: "c1"}) {
		t.Errorf("messages %+v", m)
	}
	if !strings.Contains(s.asked[0].Messages[0].Content, "Call tools") {
		t.Error("the system text does not speak of tools")
	}
}

// TestNoRoom checks that an answer that doesn't fit fails its frame, not the run.
func TestNoRoom(t *testing.T) {
	s := plan(map[string][]string{"root": {"a", "b"}})
	answer := s.answer
	s.answer = func(ctx context.Context, q *Question) (*Reply, error) {
		if query(q) == "a" {
			return nil, fmt.Errorf("17 tokens: %w", ErrNoRoom)
		}
		return answer(ctx, q)
	}
	o := run(t, begin(t, "root", Config{Asker: s}))
	same(t, drawn(o.Frames), `
1 root: done "all of root"
  2 a: failed [tokens] (17 tokens: agent: too few tokens for an answer)
  3 b: done "did b"
`)
	if o.Bound != BoundTokens {
		t.Errorf("bound %q", o.Bound)
	}
	s.answer = func(context.Context, *Question) (*Reply, error) { return nil, ErrNoRoom }
	if _, err := begin(t, "root", Config{Asker: s}).Go(context.Background()); !errors.Is(err, ErrNoRoom) {
		t.Errorf("a root without room: %v", err)
	}
}

func TestProseTokensSaved(t *testing.T) {
	s := plan(map[string][]string{"root": {"a"}})
	o := run(t, begin(t, "root", Config{Asker: s}))
	want := 0
	for _, e := range []Envelope{
		{Conclusion: "first root", Confidence: 0.6, NextAction: Continue, SubTasks: []SubTask{{"a", 1}}},
		{Conclusion: "did a", Confidence: 0.9, NextAction: Finalize}, {Conclusion: "all of root", Confidence: 0.9, NextAction: Finalize},
	} {
		want += len(e.Prose()) - len(mustJSON(e))
	}
	if o.Totals.ProseTokensSaved == nil || *o.Totals.ProseTokensSaved != want {
		t.Errorf("saved %v, want %d", o.Totals.ProseTokensSaved, want)
	}
	s.nowords = true
	if o := run(t, begin(t, "root", Config{Asker: s})); o.Totals.ProseTokensSaved != nil {
		t.Errorf("saved %v without a tokenizer", *o.Totals.ProseTokensSaved)
	}
}

func TestPrompts(t *testing.T) {
	p, err := ParsePrompts(`{{define "system"}}Be brief, at depth {{.Depth}}.{{end}}`)
	if err != nil {
		t.Fatal(err)
	}
	s := plan(nil)
	run(t, begin(t, "root", Config{Asker: s, Prompts: p}))
	if got := s.asked[0].Messages; got[0].Content != "Be brief, at depth 1." || got[1].Content != "root" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []string{`{{define "system"}}{{.Nothing}}{{end}}`, `{{define "question"}}{{`, `{{define "synthesis"}}{{index .Results 9}}{{end}}`} {
		if _, err := ParsePrompts(bad); err == nil || !strings.HasPrefix(err.Error(), "agent: prompts: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := ParsePrompts(DefaultPromptText); err != nil {
		t.Error(err)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		query  string
		config Config
	}{
		"no query": {" ", Config{Asker: plan(nil)}}, "no asker": {"q", Config{}}, "bounds": {"q", Config{Asker: plan(nil), Bounds: Bounds{Depth: -1}}},
		"time": {"q", Config{Asker: plan(nil), Bounds: Bounds{Time: -1}}},
	} {
		if _, err := New(c.query, c.config); err == nil || !strings.HasPrefix(err.Error(), "agent: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"äöüäöüäöü", 13, "äöü […]"}, {"abcdefghijkl", 2, " […]"}} {
		if got := cut(c.text, c.n); got != c.want {
			t.Errorf("%q at %d: %q", c.text, c.n, got)
		}
	}
}

// TestLongConclusions checks that the text of a synthesis is bounded.
func TestLongConclusions(t *testing.T) {
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		if q.Frame == 1 && !q.Synthesis {
			return split(strings.Repeat("x", 1<<20), "a", "b", "c")
		}
		return finalize(strings.Repeat("é", 1<<20))
	}
	run(t, begin(t, "root", Config{Asker: s}))
	if n := len(said(s.asked[len(s.asked)-1])); n > maxDigest+1000 {
		t.Errorf("%d bytes", n)
	}
}

// TestRandomRuns checks that for any answers of the model, a run ends within its
// bounds with all frames ended, without and with pauses.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var mu sync.Mutex
		draw := func(n int) int { mu.Lock(); defer mu.Unlock(); return rnd.IntN(n) }
		used := atomic.Int64{}
		s := &script{}
		s.answer = func(ctx context.Context, q *Question) (*Reply, error) {
			spend := 1 + draw(q.MaxTokens)
			used.Add(int64(spend))
			if len(q.Tools) > 0 && draw(3) == 0 {
				return &Reply{Calls: []Call{{"c", "look", nil}}, CompletionTokens: spend}, nil
			}
			var r *Reply
			var err error
			switch draw(6) {
			case 0, 1:
				r, err = split("more", fmt.Sprint(draw(30)), fmt.Sprint(draw(30)), fmt.Sprint(draw(30)))
			case 2:
				r, err = ask("what?")
			case 3:
				r = &Reply{Text: "words"}
			case 4:
				err = []error{errors.New("no"), ErrNoRoom}[draw(2)]
			default:
				r, err = finalize("done")
			}
			if err != nil {
				used.Add(-int64(spend))
				return nil, err
			}
			r.CompletionTokens = spend
			return r, nil
		}
		c := Config{Asker: s, Parallel: 1 + draw(4), Interactive: draw(2) == 0, Seed: seed, Log: quiet, Bounds: Bounds{
			Depth: 1 + draw(5), Frames: 1 + draw(20), Tokens: 1 + draw(3000), FrameTokens: 1 + draw(400), ToolSteps: 1 + draw(3), SubTasks: 1 + draw(4),
		}}
		if draw(2) == 0 {
			c.Toolbox = &box{}
		}
		r := begin(t, "root", c)
		var o *Outcome
		for pauses := 0; ; pauses++ {
			var err error
			if o, err = r.Go(context.Background()); err != nil {
				break // the root had no answer
			}
			if o.Status == StatusDone {
				break
			}
			if pauses == 50 { // the user gives up
				o = nil
				break
			}
			if draw(2) == 0 {
				data, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				if r, err = Restore(data, c); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
			for _, q := range o.Questions {
				if err := r.Answer(q.Frame, "this"); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		if int(used.Load()) > c.Bounds.Tokens {
			t.Errorf("seed %d: %d tokens of %d", seed, used.Load(), c.Bounds.Tokens)
		}
		if o == nil {
			continue
		}
		if len(o.Frames) > c.Bounds.Frames || o.Totals.CompletionTokens > c.Bounds.Tokens {
			t.Errorf("seed %d: %+v of %+v", seed, o.Totals, c.Bounds)
		}
		for _, f := range o.Frames {
			if !f.ended() || f.Depth > c.Bounds.Depth || f.Status == StatusDone && f.Envelope == nil {
				t.Errorf("seed %d: frame %+v", seed, f)
			}
		}
	}
}

// TestLastWord checks that after a bound has been reached, a root whose user has
// answered is asked once more with the reserve, and that this answer is final.
func TestLastWord(t *testing.T) {
	s := &script{}
	s.answer = func(_ context.Context, q *Question) (*Reply, error) {
		spend := func(r *Reply, err error) (*Reply, error) { r.CompletionTokens = q.MaxTokens; return r, err }
		if len(s.asked) < 3 {
			return spend(ask("which?"))
		}
		return spend(split("as far as I know", "a"))
	}
	r := begin(t, "root", Config{Asker: s, Interactive: true, Bounds: Bounds{Tokens: 300, FrameTokens: 100}})
	o := run(t, r)
	for range 2 {
		if o.Status != StatusWaiting {
			t.Fatalf("%+v", o)
		}
		if err := r.Answer(1, "that one"); err != nil {
			t.Fatal(err)
		}
		o = run(t, r)
	}
	if o.Status != StatusDone || o.Bound != BoundTokens || o.Frames[0].Bound != BoundTokens || o.Answer.Conclusion != "as far as I know" || len(o.Frames) != 1 {
		t.Errorf("%+v\n%s", o, drawn(o.Frames))
	}
	last := s.asked[2]
	if last.MaxTokens != 100 || strings.Contains(string(last.Schema), "continue") || strings.Contains(string(last.Schema), "ask_user") ||
		strings.Contains(last.Messages[0].Content, "sub_tasks") {
		t.Errorf("the last question was for %d tokens, %s", last.MaxTokens, last.Schema)
	}
}

// TestRunNoRoomForRoot checks that a root whose answer does not fit into the
// remaining tokens is asked once more, with the reserve; it can then only finalize.
func TestRunNoRoomForRoot(t *testing.T) {
	for _, never := range []bool{false, true} {
		asked := 0
		s := &script{answer: func(_ context.Context, q *Question) (*Reply, error) {
			if asked++; asked == 1 || never {
				return nil, fmt.Errorf("%w: too short", ErrNoRoom)
			}
			if strings.Contains(string(q.Schema), "ask_user") || q.Tools != nil {
				t.Errorf("the last word may be more than an answer: %s", q.Schema)
			}
			return finalize("short")
		}}
		o, err := begin(t, "q", Config{Asker: s, Interactive: true}).Go(t.Context())
		if never {
			if !errors.Is(err, ErrNoRoom) || asked != 2 {
				t.Errorf("asked %d times: %v", asked, err)
			}
			continue
		}
		if err != nil || o.Answer.Conclusion != "short" || o.Bound != BoundTokens || o.Frames[0].Bound != BoundTokens {
			t.Errorf("%+v, %v", o, err)
		}
	}
}
