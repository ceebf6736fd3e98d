package recent_test

import (
	"sync"
	"testing"

	"github.com/stencil-json/stencil/internal/recent"
)

// TestMap checks which values are kept.
func TestMap(t *testing.T) {
	m := recent.New[int, int](100)
	made := 0
	get := func(key, size int) {
		t.Helper()
		if got := m.Get(key, func() (int, int) { made++; return 10 * key, size }); got != 10*key {
			t.Errorf("Get(%d) = %d", key, got)
		}
	}
	made1 := func(key, size, want int) {
		t.Helper()
		made = 0
		if get(key, size); made != want {
			t.Errorf("the value of %d was made %d times, want %d", key, made, want)
		}
	}
	for key := range 10 {
		made1(key, 10, 1)
	}
	for key := range 10 {
		made1(key, 10, 0)
	}
	made1(10, 10, 1) // the others are old now
	made1(3, 10, 0)  // and young again
	for key := 11; key < 20; key++ {
		made1(key, 10, 1)
	}
	made1(3, 10, 0)
	made1(4, 10, 1) // was not used
	for range 2 {
		made1(30, 13, 1) // too large
	}
}

// TestConcurrent lets several goroutines use one map.
func TestConcurrent(t *testing.T) {
	m := recent.New[int, int](64)
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 1000 {
				key := i * (g + 1) % 17
				if got := m.Get(key, func() (int, int) { return key, 8 }); got != key {
					t.Errorf("Get(%d) = %d", key, got)
				}
			}
		})
	}
	all.Wait()
}
