//go:build !unix

package main

import (
	"context"
	"errors"
	"os"
)

// lockFile returns an error: these systems have no flock.
func lockFile(context.Context, *os.File, func()) error {
	return errors.ErrUnsupported
}
