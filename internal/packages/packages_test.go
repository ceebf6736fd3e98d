package packages

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestOnce checks that a folder is created once and completely even if several tests need it, and that a failure leaves
// nothing.
func TestOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	failure := errors.New("no network")
	if _, err := once(t, "test", []byte("pins"), func(string) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("the error is %v", err)
	}
	var all sync.WaitGroup
	dirs := make([]string, 8)
	for i := range dirs {
		all.Go(func() {
			var err error
			dirs[i], err = once(t, "test", []byte("pins"), func(dir string) error {
				return os.WriteFile(filepath.Join(dir, "a"), []byte("whole"), 0o644)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, dir := range dirs {
		if dir != dirs[0] {
			t.Errorf("there are %s and %s", dir, dirs[0])
		}
	}
	if text, err := os.ReadFile(filepath.Join(dirs[0], "a")); err != nil || string(text) != "whole" {
		t.Errorf("the folder holds %q, %v", text, err)
	}
	if list, err := os.ReadDir(filepath.Dir(dirs[0])); err != nil || len(list) != 1 {
		t.Errorf("there are %v, %v", list, err)
	}
	other, err := once(t, "test", []byte("others"), func(string) error { return nil })
	if err != nil || other == dirs[0] {
		t.Errorf("other pins are in %s, %v", other, err)
	}
}
