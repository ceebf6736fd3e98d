package openai

import (
	"strings"
	"testing"
)

// TestPanic checks that a panic in the background is an error, and doesn't end the server.
func TestPanic(t *testing.T) {
	if err := new(backgroundResponse).make(t.Context()); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Error(err)
	}
}
