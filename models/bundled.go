package models

import (
	"fmt"
	"os"
	"path/filepath"

	"stencil/vocab"
)

// bundledName is the file of the bundled model. The number changes whenever
// the content does, so that an old file in a cache is not taken for it.
const bundledName = "stencil-random-1.gguf"

// BundledOptions is how the bundled model is made.
func BundledOptions() RandomOptions {
	return RandomOptions{
		Name:    "stencil-random",
		Layers:  2,
		Width:   96,
		Heads:   4,
		KVHeads: 2,
		FF:      288,
		Context: 8192,
		Type:    F16,
		Seed:    1,
	}
}

// Bundled returns the path of the bundled model in a folder, which is made if
// it does not exist; "" means the folder stencil in the user's cache folder.
// The file is written on first use and appears only when it is whole, so
// processes may race for it. Its weights are random.
func Bundled(dir string) (string, error) {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("models: %w", err)
		}
		dir = filepath.Join(cache, "stencil")
	}
	path := filepath.Join(dir, bundledName)
	if whole(path) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("models: %w", err)
	}
	if err := WriteRandom(path, BundledOptions()); err != nil {
		return "", err
	}
	return path, nil
}

// whole tells whether path is a GGUF file with all of its tensors.
func whole(path string) bool {
	g, err := vocab.OpenGGUF(path)
	return err == nil && g.CheckTensors() == nil
}
