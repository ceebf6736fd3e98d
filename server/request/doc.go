// Package request has a generating request of any dialect, decoded, and the readers of the fields that dialects share.
package request
