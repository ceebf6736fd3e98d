// Package ollama speaks Ollama's dialect: texts, embeddings, and what there is to know of models.
package ollama
