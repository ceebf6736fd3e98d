package llama

import (
	"slices"
	"testing"
	"time"
)

func TestThreadsFor(t *testing.T) {
	for _, test := range []struct {
		n    int
		free float64
		want int
	}{
		{2, 2, 2}, {2, 1.8, 2}, // an interactive shell
		{2, 1.5, 1}, // one busy program, which shares a core with one of our threads
		{2, 1, 1}, {2, 0.66, 1}, {2, 0, 1},
		{1, 0.1, 1}, {8, 8, 8}, {8, 7.7, 8}, {8, 6.9, 7}, {8, 4, 4}, {64, 61, 64}, {64, 32, 35}, {4, 16, 4},
	} {
		if got := threadsFor(test.n, test.free); got != test.want {
			t.Errorf("%d threads, %g cores free: %d, want %d", test.n, test.free, got, test.want)
		}
	}
}

func TestParseCPUList(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-3": {0, 1, 2, 3}, "0-1,8,10-11": {0, 1, 8, 10, 11}, "": nil, "x": nil, "3-1": nil, "0-99999999": nil,
	} {
		if got := parseCPUList(list); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	const stat = `cpu  1 1 1 1 1 1 1 1 1 1
cpu0 100 20 3 5000 600 7 8 9 50 5
cpu1 1000 0 0 7 7 0 0 0 0 0
cpu2 55 0 0 7 7 0 0 0 0 0
intr 12345 6 7
procs_running 3
procs_blocked 0
`
	for _, test := range []struct {
		cpus  map[int]bool
		niced bool
		want  time.Duration
	}{
		{map[int]bool{0: true}, true, 1380 * time.Millisecond},
		{map[int]bool{0: true}, false, 1180 * time.Millisecond},
		{map[int]bool{0: true, 1: true}, true, 11380 * time.Millisecond},
		{map[int]bool{2: true}, false, 550 * time.Millisecond},
		{nil, true, 0},
	} {
		if got := parseStat([]byte(stat), test.cpus, test.niced); got != (cpuLoad{test.want, 3}) {
			t.Errorf("CPUs %v: %v, want %v", test.cpus, got, test.want)
		}
	}
	for _, text := range []string{"", "cpu\n", "procs_running x\n", "cpu0 x"} {
		if got := parseStat([]byte(text), map[int]bool{0: true}, true); got != (cpuLoad{0, -1}) {
			t.Errorf("%q: %v", text, got)
		}
	}
}
