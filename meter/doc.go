// Package meter limits work that can take exponentially long for a client's input:
// by time, by the memory that it uses, and by a context, so that the work ends
// soon after it is cancelled. Work of one of several clients can also keep to a
// [Pace], so that the others have their part of the processor.
//
// The working code reports its steps to a [Meter]. When a limit is reached, the
// meter panics with a [*Stop], which the package that started the work recovers
// and returns as an error. Partial results must then be discarded. So deeply
// nested loops need no early return, and none can be forgotten.
package meter
