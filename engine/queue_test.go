package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/scripted"
)

// waits returns the names of the jobs in a queue, by client in order of turns.
func (q *queue) waits() string {
	var out []string
	for _, c := range q.clients {
		for _, j := range c.jobs {
			out = append(out, j.req.ID)
		}
	}
	return strings.Join(out, " ")
}

// newTestJob returns a job whose client is the first letter of its name.
func newTestJob(name string, choices int) *job {
	j := &job{req: Request{ID: name, Client: name[:1]}}
	for range choices {
		j.sequences = append(j.sequences, &sequence{job: j})
	}
	return j
}

func TestQueueAsides(t *testing.T) {
	q := &queue{limit: 2}
	for _, name := range []string{"a1", "b1"} {
		q.push(newTestJob(name, 1))
	}
	for i, name := range []string{"a2", "b2", "a3"} {
		j := newTestJob(name, i+1)
		if j.req.Aside = true; q.push(j) != nil {
			t.Errorf("%s is refused", name)
		}
	}
	if got := q.waits(); got != "a2 b2 a3 a1 b1" || q.size != 2 {
		t.Errorf("%s wait, %d of them count", got, q.size)
	}
	if refused := q.push(newTestJob("a4", 1)); refused == nil {
		t.Error("the queue holds more than its limit")
	}
	q.remove(func(j *job) bool { return j.req.ID == "b2" })
	for _, want := range []string{"a2", "a3", "a3", "a3", "a1", "b1"} {
		s := q.peek(func(*sequence) bool { return true })
		if s.job.req.ID != want {
			t.Errorf("%s is next, want %s", s.job.req.ID, want)
		}
		q.pop(s)
	}
	if q.size != 0 || q.further != 0 || len(q.clients) != 0 {
		t.Errorf("%d and %d are left", q.size, q.further)
	}
}

func TestQueueEvicts(t *testing.T) {
	q := &queue{limit: 4}
	push := func(name, want string) {
		t.Helper()
		refused := q.push(newTestJob(name, 2))
		if got := ""; refused != nil {
			got = refused.req.ID
			if got != want {
				t.Errorf("%s: %q is refused, want %q", name, got, want)
			}
		} else if want != "" {
			t.Errorf("%s: nothing is refused, want %q", name, want)
		}
		if q.size > q.limit {
			t.Errorf("%s: %d wait", name, q.size)
		}
	}
	for _, name := range []string{"a1", "a2", "a3", "a4"} {
		push(name, "")
	}
	push("a5", "a5")
	push("b1", "a4")
	push("b2", "a3")
	push("b3", "b3") // two each
	push("a6", "a6")
	push("c1", "b2") // of two clients, the one whose turn is later
	push("b4", "b4") // it would have as many as the one with the most
	push("d1", "a2")
	push("e1", "e1") // one each
	if got := q.waits(); got != "a1 b1 c1 d1" {
		t.Errorf("%s wait", got)
	}
}

// TestQueueKeeps checks that neither jobs that have started are evicted nor the one that is about to.
func TestQueueKeeps(t *testing.T) {
	q := &queue{limit: 3}
	for _, name := range []string{"a0", "a1", "a2", "a3"} {
		if q.push(newTestJob(name, 3)) != nil {
			t.Fatalf("%s is refused", name)
		}
		if name == "a0" {
			q.pop(q.peek(func(*sequence) bool { return true })) // two further choices wait
		}
	}
	head := q.peek(func(s *sequence) bool { return s.job.req.ID == "a3" })
	if refused := q.push(newTestJob("b1", 1)); refused == nil || refused.req.ID != "a2" {
		t.Errorf("%v is refused, want a2", refused)
	}
	if got := q.waits(); got != "a0 a1 a3 b1" {
		t.Errorf("%s wait", got)
	}
	q.pop(head)
	if q.size != 2 || q.further != 4 {
		t.Errorf("%d jobs and %d choices wait", q.size, q.further)
	}
	if refused := q.push(newTestJob("b2", 1)); refused != nil {
		t.Errorf("%v is refused", refused.req.ID)
	}
	if refused := q.push(newTestJob("c1", 1)); refused == nil || refused.req.ID != "b2" {
		t.Errorf("%v is refused, want b2: one of client a waits, the others have started", refused)
	}
	gone := q.remove(func(*job) bool { return true })
	if len(gone) != 5 || q.size != 0 || q.further != 0 || q.head != nil {
		t.Errorf("%d removed, %+v is left", len(gone), q)
	}
}

// TestQueueFullOfOneClient checks that one client's requests don't keep others' out of the queue, and that those that
// leave it end with an error.
func TestQueueFullOfOneClient(t *testing.T) {
	begun, goOn := make(chan bool), make(chan bool)
	e := newEngine(t, scripted.Random(1), scripted.Options{Fault: func(n int, _ *backend.Batch) error {
		if n == 0 {
			close(begun)
			<-goOn
		}
		return nil
	}}, Config{Parallel: 1, Queue: 3})
	release := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(release)
	submit := func(ctx context.Context, client string, choices int) *Stream {
		t.Helper()
		s, err := e.Submit(ctx, Request{Client: client, Prompt: []int32{1}, MaxTokens: 3, Choices: choices, Sampling: noEnd})
		if err != nil {
			t.Fatalf("client %s: %v", client, err)
		}
		return s
	}
	streams := []*Stream{submit(t.Context(), "a", 1)}
	<-begun
	ctx, hangUp := context.WithCancel(t.Context())
	streams = append(streams, submit(t.Context(), "a", 1), submit(ctx, "a", 1), submit(t.Context(), "a", 4))
	hangUp() // the loop, which is stuck, can't notice
	if _, err := e.Submit(t.Context(), Request{Client: "a", Prompt: []int32{1}}); !errors.Is(err, ErrQueueFull) {
		t.Errorf("one more of the same client: %v", err)
	}
	streams = append(streams, submit(t.Context(), "b", 1))
	if results, err := streams[3].Collect(t.Context()); !errors.Is(err, ErrQueueFull) || len(results) > 0 {
		t.Errorf("the newest one ends with %v and %d results", err, len(results))
	}
	streams = append(streams, submit(t.Context(), "c", 1))
	if _, err := streams[2].Collect(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("one that was cancelled ends with %v", err)
	}
	if s := e.Stats(); s.Queued != 3 || s.Refused != 2 || s.Cancelled != 1 || s.Requests != 6 {
		t.Errorf("%+v", s)
	}
	release()
	for _, i := range []int{0, 1, 4, 5} {
		if results, err := streams[i].Collect(t.Context()); err != nil || len(results) != 1 {
			t.Errorf("request %d: %d results, %v", i, len(results), err)
		}
	}
	if s := e.Stats(); s.Queued != 0 || s.Waiting != 0 || s.Refused != 2 || s.Cancelled != 1 {
		t.Errorf("%+v", s)
	}
}

// TestQueueUnderPressure checks that requests of many clients to a small queue end either whole or refused.
func TestQueueUnderPressure(t *testing.T) {
	e := newEngine(t, scripted.Random(1), scripted.Options{}, Config{Parallel: 2, Queue: 4})
	var mu sync.Mutex
	var refused, whole uint64
	served := map[string]bool{}
	var wg sync.WaitGroup
	for i := range 40 {
		client := []string{"a", "a", "a", "a", "a", "a", "b", "c"}[i%8]
		wg.Go(func() {
			for k := range 25 {
				req := Request{Client: client, Prompt: []int32{1, int32(i%5 + 3)}, MaxTokens: 1 + k%4, Choices: 1 + k%3, Sampling: noEnd}
				var results []*Result
				s, err := e.Submit(t.Context(), req)
				if err == nil {
					results, err = s.Collect(t.Context())
				}
				mu.Lock()
				switch {
				case errors.Is(err, ErrQueueFull) && len(results) == 0:
					refused++
				case err == nil && len(results) == req.Choices && !slices.Contains(results, nil):
					whole++
					served[client] = true
				default:
					t.Error(fmt.Errorf("%d results, %w", len(results), err))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	s := e.Stats()
	if s.Refused != refused || refused+whole != 1000 || s.Queued != 0 || s.Waiting != 0 || s.Cancelled != 0 {
		t.Errorf("%d refused, %d whole, %+v", refused, whole, s)
	}
	if refused == 0 || len(served) != 3 {
		t.Errorf("%d refused, served %v", refused, served)
	}
}
