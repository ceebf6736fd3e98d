// Package decisions answers questions about a text with probabilities over alternatives: choices, predicates and scores.
// Nothing is generated: a model is asked what it thinks of each alternative in the place of an answer.
package decisions
