package server

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// turns limit how many requests of one client are prepared at a time (decoded, their constraints compiled) while other
// clients are there. Otherwise a client with many connections has all cores. Preparation ends with the submission to
// the engine, which has a fairness of its own.
type turns struct {
	mu      sync.Mutex
	clients map[string]*turn
}

// A turn is the state of one client.
type turn struct {
	last    time.Time // when it was last there
	busy    int       // requests that are being prepared
	waiting []chan struct{}
}

const (
	// lately is for how long a client that has gone counts as there.
	lately = time.Second
	// mostWait is how long a request waits for those of the same client: one of them may be waiting for a model.
	mostWait = time.Second
)

// take waits for the turn of a client's request, and returns what ends it, which may be called several times.
func (x *turns) take(ctx context.Context, client string) (done func()) {
	most := max(1, runtime.NumCPU()/2)
	now := time.Now()
	x.mu.Lock()
	if x.clients == nil {
		x.clients = make(map[string]*turn)
	}
	alone := true
	for name, c := range x.clients {
		if name == client {
			continue
		}
		if c.busy > 0 || now.Sub(c.last) <= lately {
			alone = false
		} else if len(c.waiting) == 0 {
			delete(x.clients, name)
		}
	}
	c := x.clients[client]
	if c == nil {
		c = new(turn)
		x.clients[client] = c
	}
	c.last = now
	if alone || c.busy < most {
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
	return sync.OnceFunc(func() { x.end(c) })
}

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

func (x *turns) end(c *turn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.last = time.Now()
	if len(c.waiting) > 0 {
		c.waiting[0] <- struct{}{}
		c.waiting = c.waiting[1:]
		return
	}
	c.busy--
}
