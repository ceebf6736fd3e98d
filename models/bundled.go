package models

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/stencil-json/stencil/vocab"
)

// randomName is the file name of the bundled model with random weights. The number
// changes whenever the content does, so that an old file in a cache is not used.
const randomName = "stencil-random-1.gguf"

// BundledOptions returns the options of the bundled model with random weights.
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

// Bundled returns the path of the bundled model in a folder, which is created if
// necessary; "" means the folder stencil in the user's cache folder, or, if there
// is none or it is not writable, a private folder in the one for temporary files.
// The file is written on first use. It is created only when complete, so processes
// may race for it. It is the trained model that was built in, or else one with
// random weights.
func Bundled(dir string) (string, error) { return bundled(dir, weights) }

func bundled(dir string, from fs.FS) (string, error) {
	name, data, err := builtIn(from)
	if err != nil {
		return "", err
	}
	if dir != "" {
		return install(dir, name, data)
	}
	cache, err := os.UserCacheDir()
	if err == nil {
		path, failed := install(filepath.Join(cache, "stencil"), name, data)
		if failed == nil {
			return path, nil
		}
		err = failed
	}
	temporary, failed := ownTemporary()
	if failed != nil {
		return "", fmt.Errorf("models: %w", errors.Join(err, failed))
	}
	return install(temporary, name, data)
}

// ownTemporary returns a folder for temporary files to which no other user can
// write.
func ownTemporary() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("stencil-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err == nil {
		return dir, nil
	}
	if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.Mode().Perm() == 0o700 && own(info) {
		return dir, nil
	}
	return os.MkdirTemp("", "stencil-") // the name belongs to another user
}

// install writes the model to a folder unless it is there.
func install(dir, name string, data []byte) (string, error) {
	path := filepath.Join(dir, name)
	if data == nil && whole(path) || data != nil && holds(path, data) {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("models: %w", err)
	}
	if data == nil {
		return path, WriteRandom(path, BundledOptions())
	}
	return path, create(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// builtIn returns the trained model and its name in the cache, which changes with
// the content. If there is none, data is nil and the name is that of the random
// model.
func builtIn(from fs.FS) (name string, data []byte, err error) {
	found, err := fs.Glob(from, "weights/*.gguf")
	if err != nil || len(found) == 0 {
		return randomName, nil, err
	}
	if len(found) > 1 {
		return "", nil, fmt.Errorf("models: several models are built in: %s", strings.Join(found, ", "))
	}
	if data, err = fs.ReadFile(from, found[0]); err != nil {
		return "", nil, fmt.Errorf("models: %w", err)
	}
	base := strings.TrimSuffix(filepath.Base(found[0]), ".gguf")
	sum := sha256.Sum256(data)
	return fmt.Sprintf("%s-%x.gguf", base, sum[:4]), data, nil
}

// whole reports whether path is a GGUF file with all of its tensors.
func whole(path string) bool {
	g, err := vocab.OpenGGUF(path)
	return err == nil && g.CheckTensors() == nil
}

// holds reports whether a file's content is data.
func holds(path string, data []byte) bool {
	st, err := os.Stat(path)
	if err != nil || st.Size() != int64(len(data)) {
		return false
	}
	got, err := os.ReadFile(path)
	return err == nil && bytes.Equal(got, data)
}
