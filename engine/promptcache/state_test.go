package promptcache

import (
	"bytes"
	"slices"
	"testing"
)

// A file that was changed or truncated anywhere is not a valid state.
func TestStateFile(t *testing.T) {
	s := State{Key: "a model", Tokens: run(5, 9), Ends: []int32{4, 9}, Kinds: []byte{0, 3}, Bytes: []byte("what it remembers")}
	var file bytes.Buffer
	if n, err := s.WriteTo(&file); err != nil || n != s.Size() {
		t.Fatalf("%d %v", n, err)
	}
	got, err := ReadState(file.Bytes())
	if err != nil || !slices.Equal(got.Tokens, s.Tokens) || !slices.Equal(got.Ends, s.Ends) || !bytes.Equal(got.Kinds, s.Kinds) || !bytes.Equal(got.Bytes, s.Bytes) {
		t.Fatalf("%+v %v", got, err)
	}
	if !got.Fits("a model") || got.Fits("another") || !s.Fits("a model") || s.Fits("another") {
		t.Error("fits another model")
	}
	for i := range file.Len() {
		bad := slices.Clone(file.Bytes())
		bad[i] ^= 1
		if got, err := ReadState(bad); err == nil && got.Fits("a model") {
			t.Errorf("byte %d changed", i)
		}
		if _, err := ReadState(bad[:i]); err == nil {
			t.Errorf("cut at %d", i)
		}
	}
	for _, bad := range []State{{Tokens: run(1, 3)}, {Tokens: run(1, 3), Ends: []int32{2}, Kinds: []byte{0}}, {Tokens: run(1, 3), Ends: []int32{3, 3}, Kinds: []byte{0, 0}}} {
		var file bytes.Buffer
		if _, err := bad.WriteTo(&file); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadState(file.Bytes()); err == nil {
			t.Errorf("%+v", bad)
		}
	}
}
