package promptcache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"time"
)

// A Store is a folder of states. It is safe for concurrent use.
type Store struct {
	root  *os.Root
	limit int64
	log   *slog.Logger

	mu     sync.Mutex    // never held while the disk is asked
	index  map[name]bool // true: in the folder; false: about to be written
	fresh  []name        // written since the folder was last listed
	queue  []write
	queued int64 // bytes of states in the queue, the one being written included
	closed bool
	stats  Stats

	listing sync.Mutex
	listed  time.Time // the folder's modification time when it was listed
	settled bool      // it was long past then, so that any later change shows

	wake    chan struct{} // the queue or closed has changed
	stopped chan struct{} // the writer has returned
}

// Stats are counts since a store was opened.
type Stats struct {
	Read    uint64 // states read
	Written uint64 // states written
	Dropped uint64 // not written: the disk was too slow or refused
	Evicted uint64 // deleted to stay within the bound
	Damaged uint64 // deleted because they could not be believed
}

// A write is a state on its way to the folder.
type write struct {
	shelf  *Shelf
	name   name
	tokens []int32
	state  []byte
}

// maxQueued bounds the states that wait to be written, in bytes; a single one
// may be larger. Half a gibibyte is some seconds of a disk's time.
const maxQueued = 512 << 20

// Open makes a folder the home of a store that takes at most limit bytes there.
// The folder is made if it is not there.
func Open(dir string, limit int64, log *slog.Logger) (*Store, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("promptcache: a bound of %d bytes; it must be positive", limit)
	}
	if log == nil {
		log = slog.Default()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("promptcache: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("promptcache: %w", err)
	}
	s := &Store{
		root: root, limit: limit, log: log.With("folder", dir), index: map[name]bool{},
		wake: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("promptcache: %w", err), root.Close())
	}
	go s.write()
	return s, nil
}

// prepare makes sure that files can be written, and brings the folder within its
// bound.
func (s *Store) prepare() error {
	if st, err := s.root.Stat("."); err == nil && st.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		s.log.Warn("others may list the folder of the prompt cache", "mode", st.Mode().Perm())
	}
	try := temporaryName(rand.Uint64())
	f, err := s.root.OpenFile(try, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), s.root.Remove(try)); err != nil {
		return err
	}
	if _, err := s.makeRoom(0); err != nil {
		return err
	}
	return s.list()
}

// Close waits until what was put is written and ends the store. Closing twice
// does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	s.signal()
	<-s.stopped
	if first {
		return s.root.Close()
	}
	return nil
}

func (s *Store) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// MaxState returns the size in bytes of the largest state that is kept: half the
// bound, so that one prompt does not drive out all others.
func (s *Store) MaxState() int64 { return s.limit / 2 }

// Stats returns the present counts.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// A Shelf is the part of a store that belongs to one model.
type Shelf struct {
	store *Store
	sum   [sha256.Size]byte
	model uint64 // its first bytes
}

// Shelf returns the part for states that depend on what key says: states under
// equal keys are taken for interchangeable.
func (s *Store) Shelf(key string) *Shelf {
	sum := sha256.Sum256([]byte(key))
	return &Shelf{store: s, sum: sum, model: binary.LittleEndian.Uint64(sum[:])}
}

// MaxState is that of the store.
func (h *Shelf) MaxState() int64 { return h.store.MaxState() }

// Find returns how long the longest prefix of the tokens is that can be read, and
// the longest one that is there or about to be written; 0 if there is none.
func (h *Shelf) Find(tokens []int32) (readable, known int) {
	s := h.store
	if s.isClosed() {
		return 0, 0
	}
	if err := s.list(); err != nil {
		s.log.Warn("the folder of the prompt cache cannot be listed", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := h.model
	for i, t := range tokens {
		hash = Extend(hash, t)
		if stored, ok := s.index[name{h.model, hash, i + 1}]; ok {
			if known = i + 1; stored {
				readable = i + 1
			}
		}
	}
	return readable, known
}

// name returns the name of the state after the tokens.
func (h *Shelf) name(tokens []int32) name {
	hash := h.model
	for _, t := range tokens {
		hash = Extend(hash, t)
	}
	return name{h.model, hash, len(tokens)}
}

// Has reports whether the state after exactly these tokens is there or about to be
// written.
func (h *Shelf) Has(tokens []int32) bool {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	_, ok := h.store.index[h.name(tokens)]
	return ok
}

// Read returns the state after exactly these tokens; ok is false if it is not
// there, or can't be believed, in which case it is deleted. It may take as long
// as the disk does.
func (h *Shelf) Read(tokens []int32) (state []byte, ok bool) {
	s, n := h.store, h.name(tokens)
	if s.isClosed() {
		return nil, false
	}
	file, err := s.load(n.String())
	switch {
	case err == nil:
		state, err = decode(file, h.sum, tokens)
	case errors.Is(err, fs.ErrNotExist): // evicted, by this process or another
		s.forget(n)
		return nil, false
	case !errors.Is(err, errForeign):
		s.log.Warn("a prompt state cannot be read", "file", n, "error", err)
		s.forget(n)
		return nil, false
	}
	if err != nil {
		h.Reject(tokens, err)
		return nil, false
	}
	now := time.Now()
	_ = s.root.Chtimes(n.String(), now, now) // it may just have been evicted
	s.mu.Lock()
	s.stats.Read++
	s.mu.Unlock()
	return state, true
}

// Reject deletes the state after the tokens, because it turned out to be wrong.
func (h *Shelf) Reject(tokens []int32, reason error) {
	s, n := h.store, h.name(tokens)
	s.forget(n)
	s.mu.Lock()
	s.stats.Damaged++
	s.mu.Unlock()
	s.log.Warn("a prompt state is deleted: it is not what it should be", "file", n, "reason", reason)
	if err := s.root.Remove(n.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("a damaged prompt state cannot be deleted", "file", n, "error", err)
	}
}

// errForeign: there is something of that name that the store has not made.
var errForeign = errors.New("it is no regular file of a possible size")

// load reads a file.
func (s *Store) load(file string) ([]byte, error) {
	st, err := s.root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() < header || st.Size() > s.limit {
		return nil, errForeign // not to be opened: a named pipe would wait
	}
	f, err := s.root.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := make([]byte, st.Size())
	if _, err := io.ReadFull(f, out); err != nil {
		return nil, err
	}
	return out, nil
}

// forget takes a file out of the index.
func (s *Store) forget(n name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index[n] {
		delete(s.index, n)
	}
}

// Put has the state after the tokens written in the background. Neither may be
// changed afterwards. A state that is there already, larger than MaxState, or more
// than the disk keeps up with is not written.
func (h *Shelf) Put(tokens []int32, state []byte) {
	s, n := h.store, h.name(tokens)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.index[n]; ok || s.closed || fileSize(len(tokens), len(state)) > s.MaxState() {
		return
	}
	if len(s.queue) > 0 && s.queued+int64(len(state)) > maxQueued {
		s.stats.Dropped++
		s.log.Warn("a prompt state is not written: the disk does not keep up", "tokens", len(tokens), "bytes", len(state))
		return
	}
	s.index[n] = false
	s.queue = append(s.queue, write{h, n, tokens, state})
	s.queued += int64(len(state))
	s.signal()
}

// signal wakes the writer. It never blocks.
func (s *Store) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
