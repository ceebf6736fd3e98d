// Package meter bounds work that can take exponentially long for the input of a
// client: by time, by the memory that it fills, and by a context, so that the work
// ends soon after nobody waits for it.
//
// The code that works reports its steps to a [Meter]. When a bound is reached, the
// meter panics with a [*Stop], which the package that began the work recovers and
// returns as an error. What was half done is to be thrown away then. So loops that
// are nested deeply need no way to return early, and none is forgotten.
package meter
