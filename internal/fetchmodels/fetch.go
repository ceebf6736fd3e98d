package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/stencil-json/stencil/internal/realmodels"
)

// A source writes the file of a model into a folder, under the model's file name. It
// may reuse other files that it left there in an earlier run.
type source struct {
	name string
	get  func(ctx context.Context, m realmodels.Model, folder string) error
}

// errNotHere means that a source does not have a model.
var errNotHere = errors.New("it does not have this model")

// A fetcher fills the cache.
type fetcher struct {
	dir     string
	log     io.Writer
	sources []source
}

func (f *fetcher) say(m realmodels.Model, format string, args ...any) {
	fmt.Fprintf(f.log, "models: %s: %s\n", m.Name, fmt.Sprintf(format, args...))
}

// fetch makes sure that a model is in the cache.
func (f *fetcher) fetch(ctx context.Context, m realmodels.Model) error {
	if there, err := f.present(m); there || err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	unlock, err := f.lock(ctx, m)
	if err != nil {
		return err
	}
	defer unlock()
	if there, err := f.present(m); there || err != nil { // another run was faster
		return err
	}
	folder := filepath.Join(f.dir, "."+m.File+".fetching")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f.say(m, "fetching %s, %d MB; licence: %s", m.File, (m.Size+500_000)/1_000_000, m.Licence)
	staged := filepath.Join(folder, m.File)
	var failed error
	for _, s := range f.sources {
		err := s.get(ctx, m, folder)
		if err == nil {
			if err = m.Check(staged); err == nil {
				return f.install(m, folder)
			}
			err = errors.Join(err, os.RemoveAll(staged))
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped: %w; the next run goes on from what has come", ctx.Err())
		}
		if !errors.Is(err, errNotHere) {
			err = fmt.Errorf("%s: %w", s.name, err)
			f.say(m, "%v", err)
			failed = errors.Join(failed, err)
		}
	}
	if failed == nil {
		return errors.New("no source has it")
	}
	return fmt.Errorf("no source gave it:\n%w", failed)
}

// present reports whether a model is in the cache. A wrong file is reported and
// fetched again.
func (f *fetcher) present(m realmodels.Model) (bool, error) {
	path := filepath.Join(f.dir, m.File)
	err := m.Check(path)
	switch {
	case err == nil:
		f.say(m, "%s is there", path)
		if err := m.Stamp(path); err != nil { // the cache may be read-only
			f.say(m, "%v; each look at it will hash all of it", err)
		}
		return true, nil
	case !errors.Is(err, realmodels.ErrMissing):
		f.say(m, "%v", err)
	}
	return false, nil
}

// lock prevents other runs from fetching the same model at the same time, and waits
// for a run that is fetching it.
func (f *fetcher) lock(ctx context.Context, m realmodels.Model) (unlock func(), err error) {
	// The lock file is never removed: otherwise a third run could lock a new file
	// while the second one still waits for the old one.
	file, err := os.OpenFile(filepath.Join(f.dir, "."+m.File+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = lockFile(ctx, file, func() { f.say(m, "another run is fetching it; waiting") })
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil // closing the file releases the lock
}

// install renames a verified file to its final name.
func (f *fetcher) install(m realmodels.Model, folder string) error {
	path := filepath.Join(f.dir, m.File)
	if err := os.Rename(filepath.Join(folder, m.File), path); err != nil {
		return err
	}
	if err := m.Stamp(path); err != nil {
		return err
	}
	f.say(m, "%s, sha256 verified", path)
	return os.RemoveAll(folder)
}
