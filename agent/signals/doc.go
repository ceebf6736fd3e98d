// Package signals handles what a model reports about its own answer (its signals), and
// derives an assessment of the answer from these and from measurements.
//
// [Schema] and [Instruction] request the signals: from a local model as a constrained
// document, otherwise as a fenced block that [Read] removes from the text.
// [Aggregate] combines the model's own confidence with the agreement among samples,
// the model's calibration so far and the surprise of its tokens, and recommends what
// to do with the answer, according to the table [Rules].
//
// # Reading
//
// Signals are searched for in a text by these strategies, in this order:
//
//	block      a code fence with the info string cortex-signals
//	object     a JSON object with a number as its member confidence
//	keywords   phrases such as "I am not sure" (see [Phrases]), calls for a human, a
//	           stated confidence ("I am 90% sure") or difficulty
//	defaults   nothing was found: see [Default]
//
// A block is always removed from the text. An object is removed only if it is at the
// end of the text, has only members of signals, and is not the whole text; any other
// object is part of the answer. In a requested document, [ReadDocument] does not treat
// objects or phrases as signals: a document may have a property confidence of its own.
//
// # Agreement
//
// [Agreement] is the mean over all pairs of texts. The agreement of two JSON documents
// is the share of equal leaves: JSON pointers with the same value in both, among all
// pointers of the two. A leaf is a string, number, boolean or null, or an empty object
// or array; numbers are compared by value. The agreement of other texts is 1 if they
// differ only in white space, else the Jaccard index of their sets of words; a word is
// a run of letters and digits, in lower case.
package signals
