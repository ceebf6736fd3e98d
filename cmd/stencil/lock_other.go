//go:build !unix

package main

import "os"

// lockFile does nothing where there is no flock.
func lockFile(*os.File) (unlock func(), err error) { return func() {}, nil }

// freeBytes doesn't know there.
func freeBytes(*os.File) (n int64, ok bool) { return 0, false }
