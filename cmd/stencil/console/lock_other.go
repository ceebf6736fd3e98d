//go:build !unix

package console

import "os"

// Lock does nothing: these systems have no flock.
func Lock(*os.File) (unlock func(), err error) { return func() {}, nil }

// FreeBytes always reports that the number is unknown.
func FreeBytes(*os.File) (n int64, ok bool) { return 0, false }
