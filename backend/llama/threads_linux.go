package llama

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// defaultThreads returns the default number of threads for decoding.
func defaultThreads() int {
	return min(cores, physicalCores())
}

// physicalCores counts the cores; hyper-threads of one core count once,
// since the kernels keep its arithmetic units busy.
func physicalCores() int {
	seen := map[string]bool{}
	for _, cpu := range allowedCPUs() {
		siblings, err := os.ReadFile("/sys/devices/system/cpu/cpu" + strconv.Itoa(cpu) + "/topology/thread_siblings_list")
		if err != nil {
			return runtime.NumCPU()
		}
		seen[string(siblings)] = true
	}
	if len(seen) == 0 {
		return runtime.NumCPU()
	}
	return len(seen)
}

// allowedCPUs returns the CPUs that the process may run on.
func allowedCPUs() []int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return parseCPUList(strings.TrimSpace(list))
		}
	}
	return nil
}
