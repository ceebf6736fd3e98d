// Package jsondoc reads JSON as it was written: object members keep their
// order, numbers their spelling, and every value its position in the text.
// Duplicate keys are an error.
//
// # Why not a library
//
// encoding/json keeps neither positions nor the order of members. jsontext
// (github.com/go-json-experiment/json; in the standard library only behind
// GOEXPERIMENT) has both, but reading is a large part of the time to a schema's
// first mask: making a tree of jsontext's tokens takes 1.3 ms for a document of
// 310 KB, Parse 0.4 ms (two busy cores, November 2026).
package jsondoc
