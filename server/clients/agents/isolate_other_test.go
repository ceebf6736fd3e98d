//go:build !linux

package agents

import (
	"errors"
	"os/exec"
)

// isolate returns an error: network namespaces are not supported.
func isolate(*exec.Cmd) error { return errors.ErrUnsupported }
