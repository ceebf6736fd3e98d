package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/server/problem"
)

// A memory limits the total memory of all request bodies, from reading until the
// request has been answered, and what one client may hold of it: at most a third of
// what the others leave, so that something is left for each further client. Bodies
// may stay incomplete for long; if there is no room for those of a client with less,
// they are broken off, the largest of the client with the most first.
type memory struct {
	limit int64 // bytes

	mu      sync.Mutex
	held    int64
	clients map[string]*holder // those that hold something
}

// A holder is what a client holds.
type holder struct {
	held    int64
	reading map[*charged]bool // its bodies that are incomplete
}

// What reading and decoding a body takes at most, in bytes.
const (
	// bodyCost is for each byte: the read buffer grows by doubling, and texts are copied once.
	bodyCost = 4
	// The costs of a value are those of messages and calls with all that is made of them, and of JSON in strings.
	objectCost, arrayCost, valueCost  = 1280, 512, 384
	quotedObjectCost, quotedValueCost = 512, 160
)

// clientPart is which part of the memory that others leave a client may hold.
const clientPart = 3

// share is the most that one client may hold.
func (m *memory) share() int64 { return m.limit / clientPart }

// largest is the size of the largest body that fits.
func (m *memory) largest() int64 { return m.share() / bodyStep * bodyStep / bodyCost }

// take reserves bytes for a body until it has so many. It fails if they are not available.
func (m *memory) take(c *charged, upTo int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := upTo - c.taken
	switch {
	case c.brokenOff:
		return errNoMemory{itself: true}
	case n <= 0:
		return nil
	}
	if c.taken+n > m.share() {
		return errManyValues{}
	}
	h := m.clients[c.client]
	if h == nil {
		h = &holder{reading: make(map[*charged]bool)}
	}
	mine := h.held + n
	for mine > (m.limit-m.held+h.held)/clientPart {
		if mine > m.share() {
			return errNoMemory{itself: true}
		}
		other := m.incomplete(mine)
		if other == nil {
			return errNoMemory{}
		}
		other.brokenOff = true
		m.free(other)
		other.interrupt()
	}
	if m.clients == nil {
		m.clients = make(map[string]*holder)
	}
	m.clients[c.client] = h
	h.reading[c] = true
	h.held = mine
	m.held += n
	c.taken += n
	return nil
}

// incomplete returns the largest incomplete body of the client with the most memory among those with more than n and an
// incomplete body; nil if there is none.
func (m *memory) incomplete(n int64) (largest *charged) {
	var most *holder
	for _, h := range m.clients {
		if h.held > n && len(h.reading) > 0 && (most == nil || h.held > most.held) {
			most = h
		}
	}
	if most == nil {
		return nil
	}
	for c := range most.reading {
		if largest == nil || c.taken > largest.taken {
			largest = c
		}
	}
	return largest
}

// hold reserves memory for something other than a body until release is called.
func (m *memory) hold(client string, bytes int64) (release func(), err error) {
	c := &charged{memory: m, client: client, interrupt: func() {}}
	if err := m.take(c, bytes); err != nil {
		if errors.As(err, new(errManyValues)) {
			err = problem.New(problem.Problem{Status: http.StatusRequestEntityTooLarge, Kind: problem.Invalid, Code: "state_too_large",
				Message: fmt.Sprintf("the state of the slot takes %d bytes, more than one client may have; the server's flag --memory-limit sets the limit", bytes)})
		}
		return nil, err
	}
	return c.release, c.complete()
}

// free gives back what a body holds.
func (m *memory) free(c *charged) {
	h := m.clients[c.client]
	if h == nil {
		return
	}
	m.held -= c.taken
	h.held -= c.taken
	c.taken = 0
	delete(h.reading, c)
	if h.held == 0 && len(h.reading) == 0 {
		delete(m.clients, c.client)
	}
}

// A charged reader reserves memory for a client as the body is read.
type charged struct {
	body      io.Reader
	memory    *memory
	client    string
	interrupt func()          // ends a read that waits for the client
	ctx       context.Context // with the pace of a large body; nil: it keeps to none

	worked          time.Duration // since the last rest
	cost            int64         // of what has been read
	decoder         int64         // memory of what takes the body out of its encoding, until it has been read
	quoted, escaped bool          // it ends within a string, after a backslash
	taken           int64         // under the memory's lock
	brokenOff       bool          // likewise
}

// bodyStep is the granularity of reservations. A small body takes one step.
const bodyStep = 4 << 10

const (
	// pacedBody is the size from which on reading a body keeps to the client's part of the cores.
	pacedBody = 256 << 10
	// workPerByte is roughly what receiving a byte takes beyond counting it: system calls, copies and garbage.
	workPerByte    = time.Nanosecond
	workBeforeRest = time.Millisecond
)

// Read implements io.Reader. It fails with errNoMemory if the limit is reached.
func (c *charged) Read(p []byte) (int, error) {
	n, err := c.body.Read(p[:min(len(p), 64<<10)])
	begun := time.Now()
	c.count(p[:n])
	if c.worked += time.Since(begun) + time.Duration(n)*workPerByte; c.worked >= workBeforeRest {
		meter.Rest(c.ctx, c.worked)
		c.worked = 0
	}
	if err := c.memory.take(c, (c.decoder+c.cost+bodyStep-1)/bodyStep*bodyStep); err != nil {
		return 0, err
	}
	return n, err
}

// count adds the cost of a part of the body. Strings count too: the arguments of calls are JSON in strings.
func (c *charged) count(part []byte) {
	cost, quoted, escaped := bodyCost*int64(len(part)), c.quoted, c.escaped
	for _, b := range part {
		switch {
		case escaped:
			escaped = false
		case !structural[b]:
		case b == '"':
			quoted = !quoted
		case b == '\\':
			escaped = quoted
		case b == ',' && quoted:
			cost += quotedValueCost
		case b == ',':
			cost += valueCost
		case quoted:
			cost += quotedObjectCost
		case b == '{':
			cost += objectCost
		default:
			cost += arrayCost
		}
	}
	c.cost, c.quoted, c.escaped = c.cost+cost, quoted, escaped
}

// structural has the bytes that count looks at.
var structural = [256]bool{'"': true, '\\': true, ',': true, '{': true, '[': true}

// complete tells that a body has been read to its end. It fails if it has been broken off before.
func (c *charged) complete() error {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	if c.brokenOff {
		return errNoMemory{itself: true}
	}
	if h := c.memory.clients[c.client]; h != nil {
		delete(h.reading, c)
		if over := min(c.decoder, c.taken); over > 0 {
			c.memory.held -= over
			h.held -= over
			c.taken -= over
		}
	}
	return nil
}

func (c *charged) release() {
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.free(c)
}

// errManyValues means that a body alone would take more memory than one client may hold.
type errManyValues struct{}

// Error implements error.
func (errManyValues) Error() string { return "server: decoding the body would take too much memory" }

// Problem returns the problem that clients see.
func (errManyValues) Problem() problem.Problem {
	return problem.Problem{
		Status: http.StatusRequestEntityTooLarge, Kind: problem.Invalid, Code: "body_too_large",
		Message: "the body has so many values that decoding it would take more memory than the bodies of one client may; the server's flag --memory-limit sets the limit",
	}
}

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
