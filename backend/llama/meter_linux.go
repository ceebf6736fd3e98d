//go:build llama && cgo

package llama

import (
	"os"
	"syscall"
	"time"
)

// A loadMeter says how many cores other programs leave.
type loadMeter struct {
	cpus  map[int]bool // that this process may run on
	stat  *os.File     // /proc/stat; nil where there is none
	buf   []byte
	at    time.Time
	busy  time.Duration // of those CPUs, since the machine started
	own   time.Duration // of this process
	cores float64       // last answer
}

// meterEvery is how long the load is watched for one answer. The kernel counts
// in ticks of 10 ms, so a core's share is known to some 5%.
const meterEvery = 200 * time.Millisecond

func newLoadMeter() *loadMeter {
	m := &loadMeter{cpus: map[int]bool{}, buf: make([]byte, 64<<10)}
	for _, cpu := range allowedCPUs() {
		m.cpus[cpu] = true
	}
	m.cores = float64(max(1, len(m.cpus)))
	if len(m.cpus) > 0 {
		m.stat, _ = os.Open("/proc/stat")
	}
	if m.stat != nil {
		m.at = time.Now()
		m.busy, m.own = m.read()
	}
	return m
}

func (m *loadMeter) close() {
	if m.stat != nil {
		m.stat.Close()
		m.stat = nil
	}
}

// free returns how many of the cores other programs have left lately, and
// whether that is a new figure. Where it can't be told it is all of them.
func (m *loadMeter) free(now time.Time) (cores float64, fresh bool) {
	if m.stat == nil || now.Sub(m.at) < meterEvery {
		return m.cores, false
	}
	busy, own := m.read()
	if busy < m.busy || own < m.own { // a CPU was taken away, or nothing could be read
		m.at, m.busy, m.own = now, busy, own
		return m.cores, false
	}
	others := (busy - m.busy) - (own - m.own)
	m.cores = float64(len(m.cpus)) - max(0, others.Seconds()/now.Sub(m.at).Seconds())
	m.at, m.busy, m.own = now, busy, own
	return m.cores, true
}

// read returns the time that the CPUs were busy, and the CPU time of this process.
func (m *loadMeter) read() (busy, own time.Duration) {
	n, _ := m.stat.ReadAt(m.buf, 0)
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		own = time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	return busyTime(m.buf[:n], m.cpus), own
}
