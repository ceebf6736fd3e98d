// Package sets builds test cases from labelled data sets and judges the answers of
// models.
//
// A [Set] reads its files ([Folders.Read]), which are not part of this program except
// for those of JSON mode, and returns cases. A [Case] is a conversation with the schema
// or the tools for the answer; [Case.Judge] scores an [Answer]. Values are compared in
// lower case, by letters and digits only; tool calls as by the Berkeley Function
// Calling Leaderboard.
package sets
