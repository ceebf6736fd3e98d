package server

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/stencil-json/stencil/server/problem"
)

// A memory is what the bodies of all requests may take together, from when they are
// read until they have been answered.
type memory struct {
	limit int64 // bytes
	held  atomic.Int64
}

// bodyCost is how many bytes a byte of a body takes at most while it is read and
// decoded: what it is read into grows by doubling, and its texts are copied once.
const bodyCost = 4

// take takes memory if there is so much left.
func (m *memory) take(n int64) bool {
	if m.held.Add(n) <= m.limit {
		return true
	}
	m.held.Add(-n)
	return false
}

func (m *memory) release(n int64) { m.held.Add(-n) }

// A charged body takes memory as it is read.
type charged struct {
	body   io.Reader
	memory *memory
	taken  int64
}

// bodyStep is how much is taken at a time. A small body takes one step.
const bodyStep = 4 << 10

// Read implements io.Reader. It fails with errNoMemory.
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

// errNoMemory says that the requests that are being answered take all memory that
// bodies may take.
type errNoMemory struct{}

// Error implements error.
func (errNoMemory) Error() string { return "server: the bodies of requests take all their memory" }

// Problem implements problem's describer.
func (errNoMemory) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusServiceUnavailable, Kind: problem.Server, Code: "out_of_memory", RetryAfter: time.Second,
		Message: "the requests that are being answered take all the memory that they may; the server's flag --memory-limit sets it",
	}
}

// errSlowBody says that a client has not sent its body in time.
type errSlowBody struct{}

// Error implements error.
func (errSlowBody) Error() string { return "server: the body did not come in time" }

// Problem implements problem's describer.
func (errSlowBody) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusRequestTimeout, Kind: problem.Invalid, Code: "body_too_slow",
		Message: "the body did not come within " + bodyTimeout.String(),
	}
}
