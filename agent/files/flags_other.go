//go:build !unix

package files

// openFlags is empty: on these systems folders contain no pipes.
const openFlags = 0
