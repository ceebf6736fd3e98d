// Package schemafrom derives JSON Schemas from what programs already have: Go types,
// TypeScript declarations or example documents. The schemas can be used in requests
// and compiled by package schema.
package schemafrom

import (
	"reflect"

	"github.com/stencil-json/stencil/convert/example"
	"github.com/stencil-json/stencil/convert/goschema"
	"github.com/stencil-json/stencil/convert/typescript"
)

// Go returns the schema of a Go type: what encoding/json writes for its values and
// reads back. Struct tags can add keywords; see package convert/goschema.
func Go[T any]() ([]byte, error) { return goschema.For[T]() }

// GoType is like Go, for a type that is known only at run time.
func GoType(t reflect.Type) ([]byte, error) { return goschema.Of(t) }

// TypeScript returns the schema of a type in a file of declarations. If name is
// empty, it uses the last exported type. Package convert/typescript lists the
// supported declarations.
func TypeScript(source, name string) ([]byte, error) { return typescript.Convert([]byte(source), name) }

// Example returns the schema of example documents: their types and properties. A
// property is required if all examples have it.
func Example(documents ...[]byte) ([]byte, error) { return example.Schema(documents...) }
