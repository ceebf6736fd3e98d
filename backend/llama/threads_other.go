//go:build !linux

package llama

import "runtime"

// defaultThreads is how many threads decode where nobody has said. What other
// programs use can't be told here, so one core stays free for them.
func defaultThreads() int { return max(1, runtime.GOMAXPROCS(0)-1) }
