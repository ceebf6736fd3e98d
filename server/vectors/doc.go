// Package vectors computes embeddings and rerank scores, for the dialects that offer them.
package vectors
