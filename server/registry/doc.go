// Package registry holds the models that can be requested: it loads them on demand, keeps them in memory while they are
// in use, and unloads them to make room.
package registry
