package server

import (
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/stencil-json/stencil/server/problem"
)

// A memory limits the total memory of all request bodies, from reading until the
// request has been answered, and what one client may hold of it: its bodies may stay
// incomplete for long and must not keep others' out.
type memory struct {
	limit int64 // bytes

	mu      sync.Mutex
	held    int64
	clients map[string]int64 // what each client holds of it
}

// bodyCost is the largest number of bytes that one byte of a body takes while it is
// read and decoded: the read buffer grows by doubling, and texts are copied once.
const bodyCost = 4

// share is the most that one client may hold.
func (m *memory) share() int64 { return m.limit / 2 }

// largest is the size of the largest body that fits.
func (m *memory) largest() int64 { return m.share() / bodyStep * bodyStep / bodyCost }

// take reserves n bytes for a client. It fails with errNoMemory if they are not available.
func (m *memory) take(client string, n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	mine := m.clients[client] + n
	if mine > m.share() || m.held+n > m.limit {
		return errNoMemory{itself: mine > m.share()}
	}
	if m.clients == nil {
		m.clients = make(map[string]int64)
	}
	m.clients[client] = mine
	m.held += n
	return nil
}

func (m *memory) release(client string, n int64) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= n
	if m.clients[client] -= n; m.clients[client] == 0 {
		delete(m.clients, client)
	}
}

// A charged reader reserves memory for a client as the body is read.
type charged struct {
	body   io.Reader
	memory *memory
	client string
	read   int64 // bytes of the body
	taken  int64
}

// bodyStep is the granularity of reservations. A small body takes one step.
const bodyStep = 4 << 10

// Read implements io.Reader. It fails with errNoMemory if the limit is reached.
func (c *charged) Read(p []byte) (int, error) {
	n, err := c.body.Read(p[:min(len(p), 64<<10)])
	c.read += int64(n)
	if cost := (c.read*bodyCost+bodyStep-1)/bodyStep*bodyStep - c.taken; cost > 0 {
		if err := c.memory.take(c.client, cost); err != nil {
			return 0, err
		}
		c.taken += cost
	}
	return n, err
}

func (c *charged) release() { c.memory.release(c.client, c.taken) }

// errNoMemory means that running requests hold all memory that bodies may take.
type errNoMemory struct {
	itself bool // they are the client's own, which hold its share
}

// Error implements error.
func (errNoMemory) Error() string { return "server: the bodies of requests take all their memory" }

// Problem returns the problem that clients see.
func (e errNoMemory) Problem() problem.Problem {
	whose := "running requests use all the memory that they may"
	if e.itself {
		whose = "running requests of this client use all the memory that those of one client may"
	}
	return problem.Problem{
		Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "out_of_memory", RetryAfter: time.Second,
		Message: whose + "; the server's flag --memory-limit sets the limit",
	}
}

// errSlowBody means that a client did not send its body in time.
type errSlowBody struct{}

// Error implements error.
func (errSlowBody) Error() string { return "server: the body did not come in time" }

// Problem returns the problem that clients see.
func (errSlowBody) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusRequestTimeout, Kind: problem.Invalid, Code: "body_too_slow",
		Message: "the body did not come within " + bodyTimeout.String(),
	}
}
