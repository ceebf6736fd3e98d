package server

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stencil-json/stencil/meter"
)

// most is how many requests of a client are prepared at a time while others are there.
var most = max(1, runtime.NumCPU()/2)

// fill takes all turns of a client, with another client there.
func fill(t *testing.T, x *turns) (end []func()) {
	t.Helper()
	x.take(t.Context(), "other").leave()
	for range most {
		end = append(end, x.take(t.Context(), "one").leave)
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
				e := x.take(t.Context(), "one")
				order = append(order, i)
				e.done()
				e.leave()
				e.leave() // has no further effect
			}()
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Fatalf("%d requests did not wait", len(order))
		}
		begun := time.Now()
		x.take(t.Context(), "other").leave()
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
			end = append(end, x.take(t.Context(), "one").leave)
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
		late.leave()
		x.take(t.Context(), "other").leave() // is there again
		ctx, cancel := context.WithTimeout(t.Context(), mostWait/2)
		defer cancel()
		begun = time.Now()
		x.take(ctx, "one").leave()
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

// TestShare checks that the work of one client, told while it goes on or not, takes only its part of half the cores while
// others are there, after a burst; and that it takes all it wants alone.
func TestShare(t *testing.T) {
	for _, how := range []string{"told", "untold", "told after the preparation"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := new(turns)
				others := make([]*errand, 3*runtime.NumCPU())
				for i := range others {
					others[i] = x.take(t.Context(), string(rune('a'+i)))
				}
				const piece = 5 * time.Millisecond
				share := float64(runtime.NumCPU()) / float64(2*(len(others)+1))
				do := func(pieces int) time.Duration {
					begun := time.Now()
					for range pieces {
						e := x.take(t.Context(), "one")
						if how == "told after the preparation" {
							e.done()
						}
						time.Sleep(piece) // the work
						if how != "untold" {
							meter.Rest(meter.WithPace(t.Context(), e), piece)
						}
						e.leave()
					}
					return time.Since(begun)
				}
				if took := do(int(burst / piece)); took != burst {
					t.Errorf("a burst took %v", took)
				}
				if took, want := do(100), time.Duration(float64(100*piece)/share); took < want*9/10 || took > want*11/10 {
					t.Errorf("work of %v took %v, want %v", 100*piece, took, want)
				}
				for _, e := range others {
					e.leave()
				}
				time.Sleep(lately + recount)
				if took := do(100); took != 100*piece {
					t.Errorf("work of %v took %v without others", 100*piece, took)
				}
			})
		})
	}
}

// TestShareOfOthers checks that clients with little work don't rest however much another one does, and that nobody owes more
// than a bounded rest.
func TestShareOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := new(turns)
		hog := x.take(t.Context(), "hog")
		hog.Rest(time.Hour)
		begun := time.Now()
		for range 100 {
			e := x.take(t.Context(), "one")
			e.Rest(time.Millisecond / 8)
			e.leave()
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(begun); took != 100*time.Millisecond {
			t.Errorf("a client with little work took %v", took)
		}
		if rest, most := hog.Rest(time.Hour), mostDebt*4/time.Duration(runtime.NumCPU()); rest > most {
			t.Errorf("the other rests for %v, at most %v", rest, most)
		}
		for i := range 10_000 {
			x.take(t.Context(), fmt.Sprint(i))
		}
		if rest := hog.Rest(time.Hour); rest != mostRest*mostDebt {
			t.Errorf("it rests for %v beside 10,000 clients", rest)
		}
	})
}
