// Package jsondoc reads JSON as it was written: members keep their order,
// numbers their spelling, and every value its place in the text. Duplicate
// keys are an error.
package jsondoc
