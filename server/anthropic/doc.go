// Package anthropic implements Anthropic's dialect: messages and the counting of their
// tokens.
package anthropic
