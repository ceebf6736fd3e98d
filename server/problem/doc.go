// Package problem says what clients are told of an error: its kind, status and code, and whether trying again helps.
//
// Errors of the packages below are known here; those of packages above describe
// themselves. How a problem is written down is a dialect's matter; [Problem.Reply]
// is for those without an error body of their own.
package problem
