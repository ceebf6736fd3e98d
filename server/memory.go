package server

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/server/problem"
)

// A memory limits the total memory of all request bodies, from reading until the
// request has been answered.
type memory struct {
	limit int64 // bytes
	held  atomic.Int64
}

// bodyCost is the largest number of bytes that one byte of a body takes while it is
// read and decoded: the read buffer grows by doubling, and texts are copied once.
const bodyCost = 4

// take reserves n bytes and reports whether they were available.
func (m *memory) take(n int64) bool {
	if m.held.Add(n) <= m.limit {
		return true
	}
	m.held.Add(-n)
	return false
}

func (m *memory) release(n int64) { m.held.Add(-n) }

// A charged reader reserves memory as the body is read.
type charged struct {
	body   io.Reader
	memory *memory
	taken  int64
}

// bodyStep is the granularity of reservations. A small body takes one step.
const bodyStep = 4 << 10

// Read implements io.Reader. It fails with errNoMemory if the limit is reached.
func (c *charged) Read(p []byte) (int, error) {
	n, err := c.body.Read(p[:min(len(p), 64<<10)])
	if cost := (int64(n)*bodyCost + bodyStep - 1) / bodyStep * bodyStep; cost > 0 {
		if !c.memory.take(cost) {
			return 0, errNoMemory{}
		}
		c.taken += cost
	}
	return n, err
}

func (c *charged) release() { c.memory.release(c.taken) }

// errNoMemory means that running requests hold all memory that bodies may take.
type errNoMemory struct{}

// Error implements error.
func (errNoMemory) Error() string { return "server: the bodies of requests take all their memory" }

// Problem returns the problem that clients see.
func (errNoMemory) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "out_of_memory", RetryAfter: time.Second,
		Message: "running requests use all the memory that they may; the server's flag --memory-limit sets the limit",
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
