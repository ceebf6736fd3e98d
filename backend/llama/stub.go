//go:build !llama || !cgo

package llama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/vocab"
)

// Built reports whether this program was built with llama.cpp.
const Built = false

// errNotBuilt says how to get a program with llama.cpp, also for users of `go
// install`.
var errNotBuilt = fmt.Errorf("llama: %w: to have llama.cpp, clone the repository and run `make build`, or unpack an archive that `make dist` has made", backend.ErrNotBuilt)

// Version returns "", since this program was built without llama.cpp.
func Version() string { return "" }

// Load checks that the file at path is a complete GGUF file without
// contradictions and then returns an error that matches backend.ErrNotBuilt.
func Load(ctx context.Context, path string, opt LoadOptions) (backend.Model, error) {
	if err := errors.Join(opt.Rope.Check(), opt.Split.Check()); err != nil {
		return nil, fmt.Errorf("llama: %w", err)
	}
	f, err := openFile(path, opt.Override...)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
	}
	return nil, errNotBuilt
}

// RunTrial reports that this program was built without llama.cpp.
func RunTrial(in io.Reader, out io.Writer) int {
	fmt.Fprintln(os.Stderr, errNotBuilt)
	return 2
}

// Devices returns an error that matches backend.ErrNotBuilt.
func Devices() ([]backend.Device, error) { return nil, errNotBuilt }

// CheckArchitecture returns an error that matches backend.ErrNotBuilt.
func CheckArchitecture(name string) error { return errNotBuilt }

// CPUFeatures returns "", since there are no kernels.
func CPUFeatures() string { return "" }

// LoadBackends returns an error that matches backend.ErrNotBuilt.
func LoadBackends(dir string) ([]string, error) { return nil, errNotBuilt }

// SetLogger does nothing, since there is no log.
func SetLogger(l *slog.Logger) {}

// A Grammar is llama.cpp's own grammar sampler.
type Grammar struct{}

// NewGrammar returns an error that matches backend.ErrNotBuilt.
func NewGrammar(m backend.Model, text string) (*Grammar, error) { return nil, errNotBuilt }

// Mask returns an error that matches backend.ErrNotBuilt.
func (g *Grammar) Mask(dst vocab.Bitset) error { return errNotBuilt }

// Accept returns an error that matches backend.ErrNotBuilt.
func (g *Grammar) Accept(token int32) error { return errNotBuilt }
