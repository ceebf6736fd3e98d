// Package outcomes stores assessments of answers and their outcomes in a file, and
// computes the calibration of each model from them.
//
// # The file
//
// The file is a bbolt database with these buckets:
//
//	assessments   id → JSON: model, confidences, time, and the outcome once it is known
//	order         number, 8 bytes big-endian → id; the smallest number is the oldest
//	models        model → its [Totals]
//	meta          version → version of this layout
//
// Writes are durable: a function that writes returns when its transaction has been
// synced. Concurrent writes share a transaction. If the process is killed during a
// write, the file keeps its previous state.
//
// The number of assessments is limited; the oldest are deleted, but their share of the
// totals stays. If an outcome is reported again for the same assessment, it replaces
// the earlier one: each assessment counts once, and a wrong report can be corrected as
// long as the assessment is stored.
//
// Only one process at a time can have a file open.
package outcomes
