package server

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// most is how many requests of a client are prepared at a time while others are there.
var most = max(1, runtime.NumCPU()/2)

// fill takes all turns of a client, with another client there.
func fill(t *testing.T, x *turns) (end []func()) {
	t.Helper()
	x.take(t.Context(), "other")()
	for range most {
		end = append(end, x.take(t.Context(), "one"))
	}
	return end
}

// TestTurns checks that a client waits for its own requests while others are there, in order, and others don't wait for it.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := new(turns)
		end := fill(t, x)
		var order []int
		for i := range 3 {
			go func() {
				done := x.take(t.Context(), "one")
				order = append(order, i)
				done()
				done() // has no further effect
			}()
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Fatalf("%d requests did not wait", len(order))
		}
		begun := time.Now()
		x.take(t.Context(), "other")()
		if took := time.Since(begun); took != 0 {
			t.Errorf("another client waited for %v", took)
		}
		end[0]()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("the order is %v", order)
		}
		for _, done := range end {
			done()
		}
		if c := x.clients["one"]; c.busy != 0 || len(c.waiting) != 0 {
			t.Errorf("%d busy and %d waiting at the end", c.busy, len(c.waiting))
		}
	})
}

// TestTurnsAlone checks that a client without others has no limit, also a second after they have gone.
func TestTurnsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := new(turns)
		end := fill(t, x)
		time.Sleep(lately + 1)
		begun := time.Now()
		for range 10 * most {
			end = append(end, x.take(t.Context(), "one"))
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("the requests waited for %v", took)
		}
		for _, done := range end {
			done()
		}
		if len(x.clients) != 1 {
			t.Errorf("%d clients are known, want the one that is there", len(x.clients))
		}
	})
}

// TestTurnsPatience checks that nobody waits for longer than mostWait, since the request before may wait for a model,
// nor for a client that has hung up.
func TestTurnsPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := new(turns)
		end := fill(t, x)
		begun := time.Now()
		late := x.take(t.Context(), "one")
		if took := time.Since(begun); took != mostWait {
			t.Errorf("the request waited for %v", took)
		}
		late()
		x.take(t.Context(), "other")() // is there again
		ctx, cancel := context.WithTimeout(t.Context(), mostWait/2)
		defer cancel()
		begun = time.Now()
		x.take(ctx, "one")()
		if took := time.Since(begun); took != mostWait/2 {
			t.Errorf("the request waited for %v, after its client had hung up", took)
		}
		for _, done := range end {
			done()
		}
		if c := x.clients["one"]; c.busy != 0 || len(c.waiting) != 0 {
			t.Errorf("%d busy and %d waiting at the end", c.busy, len(c.waiting))
		}
	})
}
