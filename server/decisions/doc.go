// Package decisions answers questions about a text with probabilities over alternatives: choices, predicates and
// scores. It generates no text: it scores each alternative as the model's answer.
package decisions
