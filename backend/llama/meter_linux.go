//go:build llama && cgo

package llama

import (
	"bytes"
	"os"
	"syscall"
	"time"
)

// A loadMeter says how many cores other programs leave while this one decodes.
// What they did while it was idle says nothing: whoever sends requests has often
// worked until then. So a stretch of decodes begins with a look at what runs at
// that moment, and from then on CPU time is compared, a window at a time.
type loadMeter struct {
	cpus  map[int]bool // that this process may run on
	all   bool         // those are all that there are
	niced bool         // this process gives way to others, so all others count
	stat  *os.File     // /proc/stat; nil where there is none
	buf   []byte

	ended time.Time // the last decode
	at    time.Time // the window's start
	busy  time.Duration
	own   time.Duration // of this process
	cores float64       // last answer
}

const (
	// meterEvery is the length of a window. The kernel counts in ticks of 10 ms,
	// so a core's share is known to some 5%.
	meterEvery = 200 * time.Millisecond
	// meterGap between two decodes ends a stretch.
	meterGap = 50 * time.Millisecond
	// What runs for a moment only, such as the client that has just sent its
	// request, is gone after one of a few looks. The longer a batch takes, the
	// more looks are worth their time.
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

// end says that a decode has ended.
func (m *loadMeter) end() { m.ended = time.Now() }

// free returns how many of the cores other programs leave, and whether that is a
// new figure. It is called before each decode, of so many tokens. Where it can't
// be told it is all of them.
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
	if busy > m.busy || own > m.own { // a CPU was taken away, or nothing could be read
		return m.cores, false
	}
	others := (m.busy - busy) - (m.own - own)
	m.cores = float64(len(m.cpus)) - max(0, others.Seconds()/now.Sub(at).Seconds())
	return m.cores, true
}

// start begins a window.
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

// othersNow returns how many threads of other programs keep running through a
// number of looks, at most as many as there are CPUs; 0 where that can't be told.
func (m *loadMeter) othersNow(looks int) int {
	if !m.all {
		return 0 // they may run on other CPUs than ours
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

// ownRunning counts the threads of this process that run or could.
func ownRunning() int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 1
	}
	n := 0
	for _, task := range tasks {
		stat, err := os.ReadFile("/proc/self/task/" + task.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// "12 (name) R …"; a name may have brackets itself.
		if i := bytes.LastIndexByte(stat, ')'); i >= 0 && i+2 < len(stat) && stat[i+2] == 'R' {
			n++
		}
	}
	return n
}
