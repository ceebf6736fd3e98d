//go:build !nomodel

package models

import "embed"

// weights holds the trained model, if there is one.
//
//go:embed weights
var weights embed.FS
