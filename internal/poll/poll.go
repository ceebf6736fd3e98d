// Package poll waits in tests for a state that gives no sign when it is
// reached. Where there is a channel, wait for that; where time decides, use
// testing/synctest.
package poll

import "time"

// Until returns once done does. It has no limit of its own, which would fail on
// a busy machine: what never comes is ended by go test's -timeout, whose stack
// traces show who waits here. done is called on the caller's goroutine.
func Until(done func() bool) {
	for !done() {
		time.Sleep(time.Millisecond)
	}
}
