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

// A source writes the file of a model into a folder, under the model's name
// for it. What else it leaves there it may use in another run.
type source struct {
	name string
	get  func(ctx context.Context, m realmodels.Model, folder string) error
}

// errNotHere says that a source does not have a model.
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

// fetch sees to it that a model is there.
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
	if there, err := f.present(m); there || err != nil { // somebody else was faster
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

// present reports a model that is there. A wrong file is said and fetched anew.
func (f *fetcher) present(m realmodels.Model) (bool, error) {
	path := filepath.Join(f.dir, m.File)
	err := m.Check(path)
	switch {
	case err == nil:
		f.say(m, "%s is there", path)
		if err := m.Stamp(path); err != nil { // a cache that is not ours to write
			f.say(m, "%v; each look at it will hash all of it", err)
		}
		return true, nil
	case !errors.Is(err, realmodels.ErrMissing):
		f.say(m, "%v", err)
	}
	return false, nil
}

// lock keeps other runs from fetching the same model, and waits for one that
// does.
func (f *fetcher) lock(ctx context.Context, m realmodels.Model) (unlock func(), err error) {
	// The file stays: were it removed, a third run could lock a new one while
	// the second still waits for the old.
	file, err := os.OpenFile(filepath.Join(f.dir, "."+m.File+".lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = lockFile(ctx, file, func() { f.say(m, "another run is fetching it; waiting") })
	if err != nil {
		file.Close()
		return nil, err
	}
	return func() { file.Close() }, nil // which ends the lock
}

// install gives a checked file its name.
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
