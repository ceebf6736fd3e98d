//go:build !unix

package main

import (
	"context"
	"errors"
	"os"
)

// lockFile says that there is no flock here.
func lockFile(context.Context, *os.File, func()) error {
	return errors.ErrUnsupported
}
