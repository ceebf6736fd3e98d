// Package vectors computes embeddings and the scores of documents, for the dialects that ask for them.
package vectors
