// Package wire has what every dialect needs of HTTP and JSON: bodies read strictly and by name, answers, streams of
// events and of lines, and values found in a document as it grows.
package wire
