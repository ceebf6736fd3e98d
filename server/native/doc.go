// Package native speaks the server's own dialect: texts, documents, and the check of schemas and grammars.
package native
