// Package overhead measures the end-to-end cost of constraints. All modes of
// generation run in turn, round by round, with one model in one process, so that
// other load on the machine affects all of them alike. It is the harness behind
// "stencil bench" and BenchmarkOverhead of package bench.
//
// [Bench.Run] measures; [WriteTable], [WriteBenchstat], [WriteJSON] and [WritePlot]
// write the results, and [WriteTrace] writes how the time of single tokens was
// spent.
package overhead
