//go:build !unix

package files

// openFlags are not needed here: folders hold no pipes.
const openFlags = 0
