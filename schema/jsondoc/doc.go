// Package jsondoc reads JSON as it was written: object members keep their
// order, numbers their spelling, and every value its position in the text.
// Duplicate keys are an error.
package jsondoc
