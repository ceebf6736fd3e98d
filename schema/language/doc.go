// Package language keeps the languages that all schemas share: a pool of
// regular languages for patterns, formats and lengths, and automata of numbers.
package language
