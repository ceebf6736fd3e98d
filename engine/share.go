package engine

import "time"

// A client whose texts are long would have all places all the time, if clients took turns alone: each text keeps its place to its end, and who sends
// short requests one after another gives up its own after each. So a place is kept free for every other client that is there or was lately.

// lately is for how long a client that has gone is expected back.
const lately = time.Second

// shares knows which clients were there lately.
type shares struct {
	loop *loop
	seen map[string]time.Time
}

// left notes that something of a client has ended.
func (x shares) left(client string, now time.Time) {
	for c, when := range x.seen {
		if now.Sub(when) > lately {
			delete(x.seen, c)
		}
	}
	x.seen[client] = now
}

// mayStart reports whether another sequence of a client may get a place now. The queue's lock is held.
func (x shares) mayStart(client string) bool {
	l := x.loop
	mine, others := 0, make(map[string]bool)
	is := func(c string) {
		if c != client {
			others[c] = true
		}
	}
	for _, s := range l.active {
		if is(s.job.req.Client); s.job.req.Client == client {
			mine++
		}
	}
	if mine == 0 {
		return true
	}
	for _, s := range l.away.list {
		is(s.job.req.Client)
	}
	for _, c := range l.queue.clients {
		if !c.aside {
			is(c.client)
		}
	}
	now := time.Now()
	for c, when := range x.seen {
		if now.Sub(when) <= lately {
			is(c)
		}
	}
	return mine < max(1, l.cfg.Parallel-len(others))
}
