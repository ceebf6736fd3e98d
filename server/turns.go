package server

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/stencil-json/stencil/meter"
)

// turns keep one client from taking all cores while other clients are there: they limit how many of its requests are
// prepared at a time (decoded, their constraints compiled), and how much of the processor its work on constraints has.
// Preparation ends with the submission to the engine, which has a fairness of its own for the rest.
//
// All clients there together may use half of the cores for such work, in equal parts, and each of them a burst beyond its
// part, which is never less than an eighth of a core. A client with less work than that, as nearly all have, never waits.
type turns struct {
	mu      sync.Mutex
	clients map[string]*turn
	there   int       // how many clients are there, as of counted
	counted time.Time // when they were last counted
}

// A turn is the state of one client.
type turn struct {
	last    time.Time // when it was last there
	under   int       // requests under way
	busy    int       // requests that are being prepared
	waiting []chan struct{}

	credit time.Duration // work that it may do at once, negative if it has to rest, as of at
	at     time.Time
}

const (
	// lately is for how long a client that has gone counts as there.
	lately = time.Second
	// mostWait is how long a request waits for those of the same client: one of them may be waiting for a model.
	mostWait = time.Second
	// burst is how much work a client that has rested may do at once.
	burst = 50 * time.Millisecond
	// mostDebt is the most work for which a client rests later, so that it never rests for minutes.
	mostDebt = 500 * time.Millisecond
	// mostRest is how long a client rests at most, as a multiple of its work: its part of the cores is never smaller,
	// however many clients are there.
	mostRest = 8
	// recount is how often clients that have gone are looked for.
	recount = 10 * time.Millisecond
)

// An errand is a request under way, with the pace to which its work keeps. Its methods may be called by several goroutines.
type errand struct {
	turns    *turns
	turn     *turn
	begun    time.Time     // of its preparation
	other    time.Duration // of the time since begun: rests, and work that Rest was told of
	prepared bool
	left     bool
}

// take waits for the turn of a client's request to be prepared.
func (x *turns) take(ctx context.Context, client string) *errand {
	most := max(1, runtime.NumCPU()/2)
	now := time.Now()
	x.mu.Lock()
	c := x.arrive(client, now)
	if x.alone() || c.busy < most {
		c.busy++
		x.mu.Unlock()
	} else {
		wake := make(chan struct{}, 1)
		c.waiting = append(c.waiting, wake)
		x.mu.Unlock()
		patience := time.NewTimer(mostWait)
		defer patience.Stop()
		select {
		case <-wake: // with the place of the one before
		case <-ctx.Done():
			x.giveUp(c, wake)
		case <-patience.C:
			x.giveUp(c, wake)
		}
	}
	e := &errand{turns: x, turn: c}
	rest, cancel := context.WithTimeout(ctx, mostWait-time.Since(now))
	defer cancel()
	meter.Rest(meter.WithPace(rest, e), 0)
	e.begun, e.other = time.Now(), 0
	return e
}

// receive returns the pace of reading a client's body, to be ended by leave.
func (x *turns) receive(client string) *errand {
	x.mu.Lock()
	defer x.mu.Unlock()
	return &errand{turns: x, turn: x.arrive(client, time.Now()), prepared: true}
}

// arrive returns the state of a client, which is there now.
func (x *turns) arrive(client string, now time.Time) *turn {
	if x.clients == nil {
		x.clients = make(map[string]*turn)
	}
	c := x.clients[client]
	if c == nil {
		c = &turn{credit: burst, at: now}
		x.clients[client] = c
	}
	if !c.there(now) {
		x.there++
	}
	c.last = now
	c.under++
	x.count(now)
	return c
}

func (c *turn) there(now time.Time) bool {
	return c.under > 0 || now.Sub(c.last) <= lately && !c.last.IsZero()
}

// count forgets clients that have gone.
func (x *turns) count(now time.Time) {
	if now.Sub(x.counted) < recount {
		return
	}
	x.there, x.counted = 0, now
	for name, c := range x.clients {
		if c.there(now) {
			x.there++
		} else {
			delete(x.clients, name)
		}
	}
}

func (x *turns) alone() bool { return x.there <= 1 }

// giveUp takes a place that was not given, beyond the limit.
func (x *turns) giveUp(c *turn, wake chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, w := range c.waiting {
		if w == wake {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			c.busy++
			return
		}
	}
}

// pay books work of a client and returns for how long it should rest.
func (x *turns) pay(c *turn, worked time.Duration) time.Duration {
	now := time.Now()
	x.count(now)
	if x.alone() {
		c.credit, c.at = burst, now
		return 0
	}
	cores := time.Duration(runtime.NumCPU())
	parts := min(2*time.Duration(x.there), mostRest*cores)
	c.credit = min(burst, c.credit+now.Sub(c.at)*cores/parts)
	c.credit, c.at = max(-mostDebt, c.credit-worked), now
	return max(0, -c.credit*parts/cores)
}

// Rest implements [meter.Pace].
func (e *errand) Rest(worked time.Duration) time.Duration {
	e.turns.mu.Lock()
	defer e.turns.mu.Unlock()
	e.other += worked
	return e.turns.pay(e.turn, worked)
}

// Rested implements [meter.Pace].
func (e *errand) Rested(took time.Duration) {
	e.turns.mu.Lock()
	defer e.turns.mu.Unlock()
	e.other += took
}

// done ends the preparation. Further calls have no effect.
func (e *errand) done() {
	x, c := e.turns, e.turn
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.prepared {
		return
	}
	e.prepared = true
	now := time.Now()
	x.pay(c, max(0, now.Sub(e.begun)-e.other))
	c.last = now
	if len(c.waiting) > 0 {
		c.waiting[0] <- struct{}{}
		c.waiting = c.waiting[1:]
		return
	}
	c.busy--
}

// leave ends the request, and its preparation if that goes on. Further calls have no effect.
func (e *errand) leave() {
	e.done()
	e.turns.mu.Lock()
	defer e.turns.mu.Unlock()
	if !e.left {
		e.left = true
		e.turn.under--
		e.turn.last = time.Now()
	}
}
