// Package native implements the server's own dialect: text, documents, and checks of schemas and grammars.
package native
