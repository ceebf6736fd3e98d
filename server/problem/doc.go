// Package problem describes errors to clients: kind, status, code, and whether a retry can help.
//
// It knows the errors of the packages below it; errors of packages above implement a Problem method. Each dialect
// formats problems itself; [Problem.Reply] serves those without an error body of their own.
package problem
