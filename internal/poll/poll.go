// Package poll lets tests wait for a state that is not signalled. If there is a
// channel, wait for the channel; if the state depends on time, use testing/synctest.
package poll

import "time"

// Until returns when done returns true. It has no time limit, which would fail on a
// busy machine: the -timeout of go test ends a wait that never succeeds, and its
// stack traces show the caller. done is called on the caller's goroutine.
func Until(done func() bool) {
	for !done() {
		time.Sleep(time.Millisecond)
	}
}
