// Package registry holds the models that can be asked for: it loads them, keeps them in memory as long as they are used,
// and unloads them to make room.
package registry
