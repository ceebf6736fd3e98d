// Package upstream writes the texts of models that are behind someone else's API.
package upstream
