// Package outcomes keeps assessments of answers and what became of the answers,
// in a file, and computes from them how well each model's confidence is
// calibrated.
//
// # The file
//
// It is a database of bbolt with these buckets:
//
//	assessments   id → JSON: model, confidences, time, and the outcome once it is known
//	order         number, 8 bytes from the highest on → id; the least number is the oldest
//	models        model → its [Totals]
//	meta          version → of this layout
//
// What is acknowledged is on the disk: a function that writes returns when its
// transaction has been synced. Writes of several goroutines share a transaction.
// A process that is killed while it writes leaves the file as it was before.
//
// Assessments are bounded in number; the oldest make room. What they have added to
// the totals stays. An outcome that is reported again for the same assessment
// replaces the one before: each assessment counts once, and a mistake can be put
// right for as long as the assessment is kept.
//
// One process at a time has a file open.
package outcomes
