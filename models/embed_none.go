//go:build nomodel

package models

import "embed"

// weights is empty, since the program was built without a trained model.
var weights embed.FS
