// Package sets makes questions with known answers out of texts that other
// people wrote and labelled, and judges what a model made of them.
//
// A [Set] reads its files ([Files.Find]), which are not part of this program but
// for those of JSON mode, and returns cases. A [Case] is a conversation with the
// schema of the document or the tools that the answer is to have; [Case.Judge]
// counts what is right in an [Answer]. Values are compared after everything but
// letters and digits was dropped, in lower case; calls as the Berkeley Function
// Calling Leaderboard compares them.
package sets
