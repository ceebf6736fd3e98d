// Package signals is what a model says about its own answer, and what can be
// concluded from it together with what was measured.
//
// [Schema] and [Instruction] ask for it: where a mask can be laid over the text
// as a constrained document, elsewhere as a fenced block that [Read] takes out
// again. [Aggregate] weighs the model's own word against agreement among
// samples, the model's calibration so far and the surprise in its tokens, and
// recommends what to do with the answer; the table [Rules] decides.
//
// # Reading
//
// Signals are looked for in a text by these strategies, in this order:
//
//	block      a code fence with the info string cortex-signals
//	object     a JSON object with a number as its member confidence
//	keywords   phrases such as "I am not sure"; see [Phrases]
//	defaults   nothing was said: see [Default]
//
// A block is always taken out of the text. An object is taken out only if it is
// the end of the text, has no members but those of signals, and is not all there
// is; any other object stays, since it is part of the answer. In a document that
// was asked for as one, [ReadDocument] takes neither objects nor phrases for
// signals: a document may have a property confidence of its own.
//
// # Agreement
//
// [Agreement] is the mean over all pairs of texts. Two JSON documents agree to the
// share of leaves that are equal: those with the same JSON pointer and the same
// value, among all pointers of the two. A leaf is a string, number, boolean or
// null, or an empty object or array; numbers are equal as numbers. Other texts
// agree wholly if they are equal but for white space, else to the share of words
// that they have in common (the Jaccard index of their sets of words; a word is a
// run of letters and digits, in lower case).
package signals
