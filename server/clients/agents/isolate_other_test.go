//go:build !linux

package agents

import (
	"errors"
	"os/exec"
)

// isolate says why a command can't run in a network namespace of its own.
func isolate(*exec.Cmd) error { return errors.ErrUnsupported }
