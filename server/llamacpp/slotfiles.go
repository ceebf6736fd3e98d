package llamacpp

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/server/problem"
	"github.com/stencil-json/stencil/server/wire"
)

// This file keeps saved slots: files of package promptcache in SlotFolder or, with several API keys, in a folder there for each.

// writing begins the names of files that are being written; abandoned is the age from which on one is of a server that was killed.
const (
	writing   = ".writing-"
	abandoned = time.Hour
)

// slotFolder returns the folder of a client's files.
func (s *Handlers) slotFolder(client string) (*os.Root, error) {
	root, err := os.OpenRoot(s.SlotFolder)
	key, ok := strings.CutPrefix(client, "key ")
	if err != nil || !s.SlotOwners || !ok {
		return root, err
	}
	defer root.Close()
	name := "key-" + key[:min(len(key), 32)] // the hash of a key, not the key
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return root.OpenRoot(name)
}

// slotsHeld returns the size of all files in SlotFolder, those of all keys, and removes what killed servers have left.
func (s *Handlers) slotsHeld() (bytes int64, err error) {
	root, err := os.OpenRoot(s.SlotFolder)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // another process has removed it
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case strings.HasPrefix(d.Name(), writing) && time.Since(info.ModTime()) > abandoned:
			_ = root.Remove(path)
		default:
			bytes += info.Size()
		}
		return nil
	})
	return bytes, err
}

// openSlot opens a saved slot. The file must be a regular one that holds a state; it is not waited for.
func openSlot(folder *os.Root, name string) (*os.File, int64, error) {
	info, err := folder.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, wire.Invalid("filename", "%.80q is not a file", name)
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := folder.OpenFile(name, os.O_RDONLY|slotFlags, 0)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = wire.Invalid("filename", "%.80q is not a file", name)
	}
	head := make([]byte, len(promptcache.StateMagic))
	if err == nil {
		if _, short := io.ReadFull(f, head); short != nil || string(head) != promptcache.StateMagic {
			err = wire.Invalid("filename", "%.80q is not a saved slot", name)
		}
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

// writeSlot writes a file atomically, in place of a saved slot of that name, but of nothing else.
func (s *Handlers) writeSlot(folder *os.Root, client, name string, state *promptcache.State) error {
	release, err := s.hold(client, state.Size())
	if err != nil {
		return err
	}
	defer release()
	replaced := int64(0)
	switch f, size, err := openSlot(folder, name); {
	case err == nil:
		replaced = size
		_ = f.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	held, err := s.slotsHeld()
	if err != nil {
		return err
	}
	if most := s.SlotBytes; most > 0 && held-replaced+state.Size() > most {
		return problem.New(problem.Problem{Status: http.StatusInsufficientStorage, Kind: problem.Invalid, Param: "filename", Code: "slot_folder_full",
			Message: fmt.Sprintf("the slot takes %d bytes, and %d of %d are taken by saved slots; the server's flag --slot-save-bytes sets the limit", state.Size(), held-replaced, most)})
	}
	temporary := fmt.Sprintf("%s%016x", writing, rand.Uint64())
	f, err := folder.OpenFile(temporary, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = state.WriteTo(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = folder.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, folder.Remove(temporary))
	}
	return nil
}

// readSlot reads a saved slot. Its memory is the client's until release is called.
func (s *Handlers) readSlot(folder *os.Root, client, name string) (state *promptcache.State, release func(), err error) {
	f, size, err := openSlot(folder, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, wire.Invalid("filename", "there is no saved slot %.80q", name)
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if release, err = s.hold(client, 2*size); err != nil { // the file, and what the model copies out of it
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	file := make([]byte, size)
	if _, err := io.ReadFull(f, file); err != nil {
		return nil, nil, wire.Invalid("filename", "the slot can't be read: %v", err)
	}
	if state, err = promptcache.ReadState(file); err != nil {
		return nil, nil, wire.Invalid("filename", "the slot can't be restored: %v", err)
	}
	return state, release, nil
}

// hold reserves memory for a client, if there is a limit.
func (s *Handlers) hold(client string, bytes int64) (release func(), err error) {
	if s.Hold == nil {
		return func() {}, nil
	}
	return s.Hold(client, bytes)
}
