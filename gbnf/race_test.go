//go:build race

package gbnf

// slowness is how much slower than usual tests run under the race detector, and
// how much more memory they take.
const slowness = 15
