// Package schemafrom makes JSON Schemas out of what programs already have: Go
// types, TypeScript declarations, example documents. Each is a schema that
// requests may name and that package schema compiles.
package schemafrom

import (
	"reflect"

	"github.com/stencil-json/stencil/convert/example"
	"github.com/stencil-json/stencil/convert/goschema"
	"github.com/stencil-json/stencil/convert/typescript"
)

// Go returns the schema of a Go type: what encoding/json writes for its values
// and reads back. Struct tags may say more, see package convert/goschema.
func Go[T any]() ([]byte, error) { return goschema.For[T]() }

// GoType is Go for a type that is known only when the program runs.
func GoType(t reflect.Type) ([]byte, error) { return goschema.Of(t) }

// TypeScript returns the schema of a type in a file of declarations; name is ""
// for the last exported one. What is read is listed in package convert/typescript.
func TypeScript(source, name string) ([]byte, error) { return typescript.Convert([]byte(source), name) }

// Example returns the schema of documents like these: their types and their
// properties, which are required where all examples have them.
func Example(documents ...[]byte) ([]byte, error) { return example.Schema(documents...) }
