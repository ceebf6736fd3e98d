package background

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

var limits = Limits{Number: 3, PerClient: 2, Bytes: 1 << 20, Keep: time.Minute}

// begin starts a run that ends with its context.
func begin(t *testing.T, r *Runs, owner, id string) *Run {
	t.Helper()
	run, err := r.Reserve(t.Context(), "key "+owner, owner, id)
	if err != nil {
		t.Fatal(err)
	}
	run.Go(func() { <-run.Context().Done() })
	return run
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return problem.Describe(err).Code
}

func TestNumbers(t *testing.T) {
	r := New(limits)
	first := begin(t, r, "ann", "a")
	second, err := r.Reserve(t.Context(), "key ann", "ann", "b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reserve(t.Context(), "key ann", "ann", "c"); codeOf(err) != "too_many_background" {
		t.Error(err)
	}
	begin(t, r, "bob", "d")
	if _, err := r.Reserve(t.Context(), "key eve", "eve", "e"); codeOf(err) != "too_many_background" {
		t.Error(err)
	}
	second.Abandon()
	if r.Get("ann", "b") != nil || r.Active() != 2 {
		t.Error(r.Active())
	}
	first.Cancel(ErrCancelled)
	<-first.Done()
	if !errors.Is(context.Cause(first.Context()), ErrCancelled) || r.Active() != 1 {
		t.Error(context.Cause(first.Context()), r.Active())
	}
	if r.Get("ann", "a") != first || r.Get("bob", "a") != nil {
		t.Error("the run that has ended is not there, or is for others")
	}
	if len(r.of) != 1 {
		t.Error(r.of)
	}
	if _, err := New(Limits{Number: -1}).Reserve(t.Context(), "key ", "", "a"); codeOf(err) != "not_offered" {
		t.Error(err)
	}
}

// follow returns the events of a run after a number.
func follow(run *Run, after int) (string, error) {
	w := httptest.NewRecorder()
	err := run.Follow(context.Background(), after, wire.NewEventStream(w))
	return strings.ReplaceAll(strings.ReplaceAll(w.Body.String(), "event: e\ndata: ", ""), "\n\n", " "), err
}

func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(limits)
		run, err := r.Reserve(t.Context(), "key ann", "ann", "a")
		if err != nil {
			t.Fatal(err)
		}
		step := make(chan bool)
		run.Go(func() {
			for i := range 4 {
				<-step
				if err := run.Event("e", i); err != nil {
					t.Error(err)
				}
			}
		})
		step <- true
		got := make(chan string, 2)
		for _, after := range []int{-1, 1} {
			go func() {
				text, err := follow(run, after)
				got <- fmt.Sprint(text, err)
			}()
		}
		for range 3 {
			synctest.Wait()
			step <- true
		}
		all := map[string]bool{<-got: true, <-got: true}
		if !all["0 1 2 3 <nil>"] || !all["2 3 <nil>"] {
			t.Errorf("%v", all)
		}
		if text, err := follow(run, 0); text != "1 2 3 " || err != nil || !run.Kept(-1) {
			t.Error(text, err)
		}
		time.Sleep(limits.Keep + 1)
		synctest.Wait()
		if r.Get("ann", "a") != nil || run.Kept(-1) || r.bytes != 0 {
			t.Errorf("the events are kept for longer: %d bytes", r.bytes)
		}
		if _, err := follow(run, 0); !errors.Is(err, ErrGone) {
			t.Error(err)
		}
		w := httptest.NewRecorder()
		err = Events{Run: run, After: 0}.Write(w, httptest.NewRequest("GET", "/", nil))
		if !errors.Is(err, ErrGone) || !strings.Contains(w.Body.String(), `"code":"events_not_kept"`) {
			t.Error(err, w.Body)
		}
	})
}

// TestFollowerLeaves checks that one who follows ends with its context, and is pinged until then.
func TestFollowerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(limits)
		run := begin(t, r, "ann", "a")
		ctx, leave := context.WithTimeout(t.Context(), 2*wire.PingEvery+1)
		defer leave()
		w := httptest.NewRecorder()
		if err := run.Follow(ctx, -1, wire.NewEventStream(w)); !errors.Is(err, context.DeadlineExceeded) || strings.Count(w.Body.String(), ": ping") != 2 {
			t.Errorf("%v %q", err, w.Body)
		}
		run.Cancel(ErrCancelled)
		<-run.Done()
	})
}

// TestShorten checks whose events make room: those of the owner with most, first of runs that have ended.
func TestShorten(t *testing.T) {
	r := New(Limits{Number: 10, PerClient: 10, Bytes: 3000, Keep: time.Minute})
	write := func(run *Run, times int) {
		for range times {
			if err := run.Event("e", strings.Repeat("x", 100)); err != nil {
				t.Fatal(err)
			}
		}
	}
	few, over, on := begin(t, r, "ann", "few"), begin(t, r, "bob", "over"), begin(t, r, "bob", "on")
	write(few, 3)
	write(over, 3)
	over.Cancel(ErrCancelled)
	<-over.Done()
	write(on, 8)
	if !over.Kept(-1) || !on.Kept(-1) {
		t.Fatal("there was room for all", r.bytes)
	}
	write(on, 4)
	if over.Kept(-1) || !on.Kept(-1) || !few.Kept(-1) {
		t.Error(over.Kept(-1), on.Kept(-1), few.Kept(-1))
	}
	write(on, 100)
	if on.Kept(-1) || !on.Kept(108) || !few.Kept(-1) || r.bytes > 3000 {
		t.Error(on.Kept(-1), few.Kept(-1), r.bytes)
	}
	for _, run := range []*Run{few, on} {
		run.Cancel(ErrCancelled)
		<-run.Done()
		run.Forget()
	}
	if r.bytes != 0 || len(r.runs) != 0 {
		t.Error(r.bytes, r.runs)
	}
}

// TestMostEnded checks that of runs that have ended only the newest are known, and that an owner with few keeps them.
func TestMostEnded(t *testing.T) {
	r := New(Limits{Number: 2, PerClient: 2, Bytes: 1 << 20, Keep: time.Minute})
	end := func(owner, id string) {
		run := begin(t, r, owner, id)
		run.Cancel(ErrCancelled)
		<-run.Done()
	}
	end("ann", "first")
	for i := range 2 * mostEnded {
		end("bob", fmt.Sprint(i))
	}
	r.mu.Lock()
	known := len(r.runs)
	r.mu.Unlock()
	if known > mostEnded || r.Get("ann", "first") == nil || r.Get("bob", "0") != nil || r.Get("bob", fmt.Sprint(2*mostEnded-1)) == nil {
		t.Error(known)
	}
}

// TestClose checks that closing waits, ends what is left then, and that nothing begins afterwards.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := New(limits)
		run := begin(t, r, "ann", "a")
		quick, err := r.Reserve(t.Context(), "key bob", "bob", "b")
		if err != nil {
			t.Fatal(err)
		}
		var cause error
		quick.Go(func() {
			time.Sleep(time.Second)
			cause = quick.Context().Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		r.Close(ctx)
		if took := time.Since(begun); took != time.Minute || cause != nil || !errors.Is(context.Cause(run.Context()), ErrClosed) || r.Active() != 0 {
			t.Error(took, cause, context.Cause(run.Context()))
		}
		if _, err := r.Reserve(t.Context(), "key ann", "ann", "c"); codeOf(err) != "shutting_down" {
			t.Error(err)
		}
	})
}
