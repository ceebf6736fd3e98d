// Package boltfile opens bbolt files that may be damaged.
//
// bbolt maps a file into memory and trusts its content: a page of the wrong kind or an out-of-range page number causes a
// panic, possibly in a goroutine of bbolt, or an access outside the file. Both end the process. Open therefore reads and
// checks the whole file before bbolt writes to it. It never changes a damaged file.
package boltfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Errors of Open. They name the file.
var (
	// ErrLocked means that another process has the file open.
	ErrLocked = errors.New("the file is in use by another process")
	// ErrDamaged means that the file is damaged, or is not a bbolt file.
	ErrDamaged = errors.New("the file is damaged, or is something else")
)

// Open opens a file and creates it if it does not exist. It does not wait for a process that has the file open.
func Open(path string) (*bbolt.DB, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = create(path)
	case err == nil && info.Mode().IsRegular() && info.Size() > 0:
		err = verify(path, info.Size())
	}
	if err != nil {
		return nil, err
	}
	return open(path, false)
}

// create creates a file that is complete as soon as it has its name: a full disk or a killed process never leaves a
// partial file that looks damaged. It is not an error if another process creates the file first.
func create(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	db, err := open(f.Name(), false)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return os.Rename(f.Name(), path) // for file systems without hard links
}

// Unwritable reports whether an error is caused by the location rather than the file: the disk is full, the file as
// large as a limit allows, or writing is not permitted. A server can keep answering requests and store nothing until this is fixed.
func Unwritable(err error) bool {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Damaged returns an error for a file that is damaged for a reason that only the caller can detect.
func Damaged(path string, cause error) error {
	return fmt.Errorf("%w: %s: %w (move it away to start over)", ErrDamaged, path, cause)
}

// verify checks a file while no other process can change it.
func verify(path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	// bbolt computes with these pages as soon as it opens the file, so check them first.
	if _, err := newest(f, size); err != nil {
		return Damaged(path, err)
	}
	db, err := open(path, true) // for its lock
	if err != nil {
		return err
	}
	if err := check(f); err != nil {
		return errors.Join(Damaged(path, err), db.Close())
	}
	return db.Close()
}

// patience is the maximum time that Open waits for another process that is verifying the file.
const patience = time.Second

func open(path string, readOnly bool) (*bbolt.DB, error) {
	timeout := patience
	if readOnly {
		timeout = time.Nanosecond // a process that writes keeps the file open for long
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: timeout, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType})
	var system *fs.PathError
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	case errors.As(err, &system):
		return nil, err // it names the file
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, Damaged(path, err)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}
