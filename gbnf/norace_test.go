//go:build !race

package gbnf

// slowness is how much slower than usual tests run.
const slowness = 1
