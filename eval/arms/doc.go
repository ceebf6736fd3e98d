// Package arms compares several servers, or several ways of asking one, on the same
// cases, with confidence intervals for the differences.
//
// An [Arm] is a server with OpenAI's /v1/chat/completions, a [Mode] of requesting
// documents or tool calls, and further request fields. [Run] sends each case of package
// sets to all arms in turn, so that other load on the machine affects all of them
// equally. [Summarize] computes shares with 95% intervals, and for each arm the
// difference to a base arm on the same cases, by resampling cases (the paired bootstrap
// of Efron and Tibshirani).
package arms
