package llama

import (
	"bufio"
	"bytes"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ggml's threads wait for one another by spinning, hundreds of times per token.
// That is fastest as long as each has a core of its own; when another program
// takes one of the cores for a while, all others spin meanwhile. So as many
// threads compute as there are cores that no other program uses.

// cores is how many the process may use. A server lets Go run more threads than that later on.
var cores = runtime.GOMAXPROCS(0)

// parseCPUList parses a list in the kernel's format, such as "0-3,8".
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
// Go supports.
const tick = time.Second / 100

// A cpuLoad is the kernel's accounting of CPU use.
type cpuLoad struct {
	busy    time.Duration // of the requested CPUs, since boot
	running int           // running and runnable threads, on all CPUs; -1: unknown
}

// parseStat parses /proc/stat (proc(5)): "cpu0 user nice system idle iowait irq
// softirq steal guest guest_nice", …, "procs_running 2". The time of
// low-priority programs counts only if niced is set, since they give way. Steal
// is time that a virtual machine's host gave to others, which fewer threads
// would not bring back, and guest is included in user.
func parseStat(stat []byte, cpus map[int]bool, niced bool) cpuLoad {
	out := cpuLoad{running: -1}
	var ticks int64
	for s := bufio.NewScanner(bytes.NewReader(stat)); s.Scan(); {
		name, rest, _ := strings.Cut(s.Text(), " ")
		if name == "procs_running" {
			if n, err := strconv.Atoi(rest); err == nil {
				out.running = n
			}
			break
		}
		id, ok := strings.CutPrefix(name, "cpu")
		if n, err := strconv.Atoi(id); !ok || err != nil || !cpus[n] {
			continue
		}
		for i, field := range strings.Fields(rest) {
			if i == 1 && !niced || i == 3 || i == 4 || i > 6 {
				continue
			}
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	out.busy = time.Duration(ticks) * tick
	return out
}

// threadsFor returns how many of at most n threads should compute if other
// programs leave the given number of cores. A core that is mostly free counts as
// free.
func threadsFor(n int, free float64) int {
	slack := max(0.25, 0.05*float64(n))
	return min(n, max(1, int(free+slack)))
}
