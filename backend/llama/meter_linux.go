//go:build llama && cgo

package llama

import (
	"bytes"
	"os"
	"syscall"
	"time"
)

// A loadMeter estimates how many cores other programs leave free while this
// process decodes. Their load while it was idle is irrelevant: a client has often
// computed until it sends its request. So a series of decodes begins with a
// sample of the running threads, and after that CPU times are compared, a window
// at a time.
type loadMeter struct {
	cpus  map[int]bool // CPUs that this process may run on
	all   bool         // those are all CPUs of the machine
	niced bool         // this process has a lower priority, so all others count
	stat  *os.File     // /proc/stat; nil if unavailable
	buf   []byte

	ended time.Time // the last decode
	at    time.Time // the window's start
	busy  time.Duration
	own   time.Duration // of this process
	cores float64       // last result
}

const (
	// meterEvery is the length of a window. The kernel counts in ticks of 10 ms, so
	// a core's share is accurate to about 5%.
	meterEvery = 200 * time.Millisecond
	// meterGap is the pause between two decodes that ends a series.
	meterGap = 50 * time.Millisecond
	// Threads that run only briefly, such as the client that has just sent its
	// request, disappear within a few samples. The longer a batch takes, the more
	// samples are worth their time.
	meterLooks     = 3
	meterMostLooks = 12
	meterPerLook   = 16 // tokens
	meterPause     = time.Millisecond
)

func newLoadMeter() *loadMeter {
	m := &loadMeter{cpus: map[int]bool{}, buf: make([]byte, 64<<10)}
	for _, cpu := range allowedCPUs() {
		m.cpus[cpu] = true
	}
	online, err := os.ReadFile("/sys/devices/system/cpu/online")
	m.all = err == nil && len(parseCPUList(string(bytes.TrimSpace(online)))) == len(m.cpus)
	prio, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	m.niced = err == nil && prio < 20 // the system call returns 20 - nice
	m.cores = float64(max(1, len(m.cpus)))
	if len(m.cpus) > 0 {
		m.stat, _ = os.Open("/proc/stat")
	}
	return m
}

func (m *loadMeter) close() {
	if m.stat != nil {
		m.stat.Close()
		m.stat = nil
	}
}

// end records the end of a decode.
func (m *loadMeter) end() { m.ended = time.Now() }

// free returns how many of the cores other programs leave free, and whether the
// number is new. It is called before each decode with its number of tokens. If
// unknown, it returns all cores.
func (m *loadMeter) free(tokens int) (cores float64, fresh bool) {
	now := time.Now()
	switch {
	case m.stat == nil:
		return m.cores, false
	case now.Sub(m.ended) > meterGap:
		m.cores = float64(len(m.cpus) - m.othersNow(min(meterLooks+tokens/meterPerLook, meterMostLooks)))
		m.start(time.Now())
		return m.cores, true
	case now.Sub(m.at) < meterEvery:
		return m.cores, false
	}
	at, busy, own := m.at, m.busy, m.own
	m.start(now)
	if busy > m.busy || own > m.own { // a CPU was removed, or nothing could be read
		return m.cores, false
	}
	others := (m.busy - busy) - (m.own - own)
	m.cores = float64(len(m.cpus)) - max(0, others.Seconds()/now.Sub(at).Seconds())
	return m.cores, true
}

// start starts a window.
func (m *loadMeter) start(now time.Time) {
	m.at, m.busy, m.own = now, m.read().busy, 0
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		m.own = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
}

func (m *loadMeter) read() cpuLoad {
	n, _ := m.stat.ReadAt(m.buf, 0)
	return parseStat(m.buf[:n], m.cpus, m.niced)
}

// othersNow returns how many threads of other programs are running in all of a
// number of samples, at most the number of CPUs; 0 if unknown.
func (m *loadMeter) othersNow(looks int) int {
	if !m.all {
		return 0 // they may run on CPUs that this process can't use
	}
	least := len(m.cpus)
	for look := range looks {
		if look > 0 {
			time.Sleep(meterPause)
		}
		running := m.read().running
		if running > 1 {
			running -= ownRunning()
		} else {
			running = 0 // this thread
		}
		if least = min(least, running); least <= 0 {
			return 0
		}
	}
	return least
}

// ownRunning counts the running and runnable threads of this process.
func ownRunning() int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 1
	}
	n := 0
	for _, task := range tasks {
		stat, err := os.ReadFile("/proc/self/task/" + task.Name() + "/stat")
		if err != nil {
			continue // the thread has ended
		}
		// "12 (name) R …"; the name may contain parentheses.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'R' {
			n++
		}
	}
	return n
}
