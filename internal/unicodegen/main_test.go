package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
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

// TestCommittedEmoji does the same for the tables that come from Node.js.
func TestCommittedEmoji(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node")
	}
	want, err := emojiTables()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../regular/runes/emoji_tables.go")
	if err != nil {
		t.Fatal(err)
	}
	second := func(text []byte) string { return strings.Split(string(text), "\n")[1] }
	if second(got) != second(want) {
		t.Skipf("node has another version of Unicode: %s, not %s", second(want), second(got))
	}
	if !bytes.Equal(got, want) {
		t.Error("regular/runes/emoji_tables.go is not what the data give: run go generate ./regular/runes")
	}
}
