//go:build !unix

package llamacpp

// slotFlags is empty: on these systems folders contain no pipes.
const slotFlags = 0
