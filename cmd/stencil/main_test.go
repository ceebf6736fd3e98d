package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stencil-json/stencil/cmd/stencil/config"
)

// trialMain runs a trial of a model file, if this program was started for one, and
// does not return then; nil without llama.cpp.
var trialMain func()

// The servers of tests store outcomes in a folder of their own, not in the user's
// file. A test program that runs itself for a trial does that alone.
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
