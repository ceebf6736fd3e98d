package main

import (
	"bytes"
	"os"
	"testing"
)

// TestCommitted checks that the committed tables match the data in the pinned
// modules.
func TestCommitted(t *testing.T) {
	for name, make := range map[string]func() ([]byte, error){"regular/idn_tables.go": idnTables, "vocab/nfd_tables.go": nfdTable} {
		want, err := make()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the data give: run go generate ./regular ./vocab", name)
		}
	}
}
