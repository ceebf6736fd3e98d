//go:build !unix

package console

import "os"

// Lock does nothing where there is no flock.
func Lock(*os.File) (unlock func(), err error) { return func() {}, nil }

// FreeBytes doesn't know there.
func FreeBytes(*os.File) (n int64, ok bool) { return 0, false }
