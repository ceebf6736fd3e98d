// Package openai implements OpenAI's dialect: chat completions, completions, responses, and the list of
// models.
package openai
