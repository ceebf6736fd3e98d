// Package reference asks llama.cpp itself, in its own words, for what this
// module computes on its own or in another way: tokens, quantised weights, and
// how fast a loop runs that is written in C from end to end. Only tests and
// benchmarks use it. It is empty without the tag llama.
package reference
