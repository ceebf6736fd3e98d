// Package boltfile opens files of bbolt that may be damaged.
//
// bbolt maps a file into memory and believes it: a page of the wrong kind, or a number of a page beyond the end, is a
// panic, in a goroutine of bbolt's perhaps, or an access outside the file; both end the process. So a file is read and
// checked as a whole before bbolt writes to it. Nothing in a damaged file is changed.
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
	// ErrDamaged means that the file is damaged, or none of bbolt.
	ErrDamaged = errors.New("the file is damaged, or is something else")
)

// Open opens a file, which is made if there is none. It does not wait for a process that has it open.
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

// create makes a file that is whole as soon as it has its name: where the disk is full, or the process is killed, no
// half of one is left to be taken for a damaged one. It is no error if another process was faster.
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
	return os.Rename(f.Name(), path) // where there are no links
}

// Unwritable tells whether an error is one of the place and not of the file: the disk is full, or nothing may be written
// there. What a server does beside answering can wait until that is mended.
func Unwritable(err error) bool {
	for _, reason := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, fs.ErrPermission} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

// Damaged returns the error that a file is damaged for a reason that only its owner sees.
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
	// Before bbolt computes with what the file says of its pages.
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

// patience is how long another process may take to verify the file, which it must not write to meanwhile.
const patience = time.Second

func open(path string, readOnly bool) (*bbolt.DB, error) {
	timeout := patience
	if readOnly {
		timeout = time.Nanosecond // who writes goes on for long
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: timeout, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType})
	var system *fs.PathError
	switch {
	case err == nil:
		return db, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	case errors.As(err, &system):
		return nil, err // names the file
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, Damaged(path, err)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}
