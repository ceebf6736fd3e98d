package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/cmd/stencil/config"
)

// trialMain runs a trial of a model file if this process was started for one, and
// then does not return. It is nil without llama.cpp.
var trialMain func()

// TestMain makes the servers of tests store outcomes in a temporary folder instead
// of the user's file. In a process that was started for a trial, it only runs the
// trial.
func TestMain(m *testing.M) {
	if trialMain != nil {
		trialMain()
	}
	dir, err := os.MkdirTemp("", "stencil-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Setenv(config.Variable("feedback"), filepath.Join(dir, "feedback.db"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
