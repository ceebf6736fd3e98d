// Package language keeps what all schemas share about strings and numbers: a
// pool of regular languages for patterns, formats and lengths, and automata of
// numbers.
package language
