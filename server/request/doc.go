// Package request defines the decoded form of a generating request of any dialect, and reads the fields that dialects
// share.
package request
