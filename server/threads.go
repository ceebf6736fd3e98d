package server

import (
	"os"
	"runtime"
	"sync"
)

// SpareThreads has Go run twice as many goroutines at a time as there are cores, unless GOMAXPROCS says how many. Go lets a goroutine run for 10 ms
// before another one gets its turn, and a request passes a dozen of them: as many large bodies or schemas as there are cores, and each of those
// waits. The kernel shares a core out more finely, and first to those who have slept. It is called once, before models are loaded.
func SpareThreads() {
	spareThreads.Do(func() {
		if os.Getenv("GOMAXPROCS") == "" {
			runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
		}
	})
}

var spareThreads sync.Once
