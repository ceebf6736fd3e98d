// Package reference calls llama.cpp directly for what this module computes
// itself or in another way: tokens, quantised weights, and the speed of a
// generation loop written in C. Only tests and benchmarks use it. It is empty
// without the tag llama.
package reference
