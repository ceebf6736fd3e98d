// Package openai speaks OpenAI's dialect: chat completions, completions, responses, and the list of models.
package openai
