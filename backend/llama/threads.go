package llama

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"time"
)

// ggml's threads wait for one another by spinning, hundreds of times a token. As
// long as each has a core for itself that is the fastest way; when another
// program takes one of the cores for a while, all others burn theirs waiting.
// So as many threads compute as there are cores that nobody else uses.

// parseCPUList reads a list as the kernel writes it, such as "0-3,8".
func parseCPUList(list string) []int {
	var out []int
	for part := range strings.SplitSeq(list, ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		if err != nil {
			return nil
		}
		b := a
		if isRange {
			if b, err = strconv.Atoi(last); err != nil || b < a || b-a > 1<<16 {
				return nil
			}
		}
		for i := a; i <= b; i++ {
			out = append(out, i)
		}
	}
	return out
}

// tick is the unit of /proc/stat (USER_HZ), the same on all architectures that
// Go runs on.
const tick = time.Second / 100

// busyTime sums up, from the text of /proc/stat, how long some CPUs were not
// idle: "cpu0 user nice system idle iowait irq softirq steal …". Steal is time
// that a virtual machine's host gave to others: it is not ours either.
func busyTime(stat []byte, cpus map[int]bool) time.Duration {
	var sum int64
	for s := bufio.NewScanner(bytes.NewReader(stat)); s.Scan(); {
		name, rest, _ := strings.Cut(s.Text(), " ")
		id, ok := strings.CutPrefix(name, "cpu")
		if !ok {
			break // CPUs stand first
		}
		if n, err := strconv.Atoi(id); err != nil || !cpus[n] {
			continue
		}
		for i, field := range strings.Fields(rest) {
			if i == 3 || i == 4 || i > 7 { // idle, waiting for a disk; guests are in user already
				continue
			}
			n, _ := strconv.ParseInt(field, 10, 64)
			sum += n
		}
	}
	return time.Duration(sum) * tick
}

// threadsFor returns how many of at most n threads should compute while other
// programs leave that many cores. A core that is mostly free counts as free.
func threadsFor(n int, free float64) int {
	slack := max(0.25, 0.05*float64(n))
	return min(n, max(1, int(free+slack)))
}
