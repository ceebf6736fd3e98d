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

	mu     sync.Mutex    // never held during disk access
	index  map[name]bool // true: in the folder; false: about to be written
	fresh  []name        // written since the last listing of the folder
	queue  []write
	queued int64 // bytes of states in the queue, including the one being written
	closed bool
	stats  Stats

	listing sync.Mutex
	listed  time.Time // the folder's modification time at the last listing
	settled bool      // listed was long past by then, so any later change shows

	wake    chan struct{} // the queue or closed has changed
	stopped chan struct{} // the writer has returned
}

// Stats are counts since a store was opened.
type Stats struct {
	Read    uint64 // states read
	Written uint64 // states written
	Dropped uint64 // not written: the disk was too slow or failed
	Evicted uint64 // deleted to stay within the limit
	Damaged uint64 // deleted because of wrong contents
}

// A write is a state to be written to the folder.
type write struct {
	shelf  *Shelf
	name   name
	tokens []int32
	state  []byte
}

// maxQueued limits the states waiting to be written, in bytes; a single one may be
// larger. A disk takes some seconds for half a gibibyte.
const maxQueued = 512 << 20

// Open opens a store in a folder, where it uses at most limit bytes. It creates
// the folder if necessary.
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

// prepare checks that files can be written and brings the folder within its limit.
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

// Close waits until all queued states are written and closes the store. Closing
// twice does nothing.
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

// MaxState returns the size in bytes of the largest file that is stored: half the
// limit, so that one prompt does not evict all others.
func (s *Store) MaxState() int64 { return s.limit / 2 }

// Stats returns the current counts.
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

// Shelf returns the part for states that depend on key. States under equal keys
// are considered interchangeable.
func (s *Store) Shelf(key string) *Shelf {
	sum := sha256.Sum256([]byte(key))
	return &Shelf{store: s, sum: sum, model: binary.LittleEndian.Uint64(sum[:])}
}

// Of returns the part of a shelf for the states of one owner, which others don't find; that of "" is the shelf itself.
// A nil shelf has no parts.
func (h *Shelf) Of(owner string) *Shelf {
	if h == nil || owner == "" {
		return h
	}
	return h.store.Shelf(string(h.sum[:]) + owner)
}

// MaxState is Store.MaxState.
func (h *Shelf) MaxState() int64 { return h.store.MaxState() }

// Find returns the length of the longest prefix of the tokens that can be read,
// and of the longest one that is stored or about to be written; 0 if there is
// none.
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

// Has reports whether the state after exactly these tokens is stored or about to
// be written.
func (h *Shelf) Has(tokens []int32) bool {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	_, ok := h.store.index[h.name(tokens)]
	return ok
}

// Read returns the state after exactly these tokens. If it is missing or damaged,
// ok is false; a damaged one is deleted. Read blocks on the disk.
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

// Reject deletes the state after the tokens because it turned out to be wrong.
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

// errForeign means that a file of that name is not one of the store's.
var errForeign = errors.New("it is no regular file of a possible size")

// load reads a file.
func (s *Store) load(file string) ([]byte, error) {
	st, err := s.root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() < header || st.Size() > s.limit {
		return nil, errForeign // must not be opened: a named pipe would block
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

// forget removes a file from the index.
func (s *Store) forget(n name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index[n] {
		delete(s.index, n)
	}
}

// Put queues the state after the tokens to be written in the background. Neither
// slice may be changed afterwards. Put drops a state that is already stored, is
// larger than MaxState, or exceeds what the disk keeps up with.
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
