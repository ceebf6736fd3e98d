// Package ollama implements Ollama's dialect: text, embeddings, and information about models.
package ollama
