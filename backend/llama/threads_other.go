//go:build !linux

package llama

// defaultThreads returns the default number of threads for decoding. The load
// of other programs is unknown here, so one core is left free for them.
func defaultThreads() int { return max(1, cores-1) }
