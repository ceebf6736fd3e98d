// Package overhead measures what a constraint costs, end to end: one model, one
// process, all ways to generate in turn, round by round, so that whatever else
// the machine does meets all of them alike. It is the harness behind
// "stencil bench" and BenchmarkOverhead of package bench.
//
// [Bench.Run] measures; [WriteTable], [WriteBenchstat], [WriteJSON] and
// [WritePlot] write down what came of it, and [WriteTrace] where the time of
// single tokens went.
package overhead
