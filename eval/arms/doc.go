// Package arms asks several servers, or one in several ways, the same questions
// and says how sure the differences between their answers are.
//
// An [Arm] is a server that speaks OpenAI's /v1/chat/completions, a [Mode] of
// asking it for documents or calls, and further fields of the request. [Run] asks
// all arms each case of package sets in turn, so that what else happens on the
// machine meets all of them alike. [Summarize] gives shares with intervals of
// 95%, and for each arm the difference to a base arm on the same cases, by
// resampling cases (the paired bootstrap of Efron and Tibshirani).
package arms
