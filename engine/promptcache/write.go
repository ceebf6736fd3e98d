package promptcache

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// write is the goroutine that writes the queued states, one after the other.
func (s *Store) write() {
	defer close(s.stopped)
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			closed := s.closed
			s.mu.Unlock()
			if closed {
				return
			}
			<-s.wake
			continue
		}
		w := s.queue[0]
		s.mu.Unlock()

		err := s.save(w)

		s.mu.Lock()
		s.queue[0] = write{}
		s.queue = s.queue[1:]
		s.queued -= int64(len(w.state))
		if err != nil {
			s.stats.Dropped++
			delete(s.index, w.name)
		}
		s.mu.Unlock()
		if err != nil {
			s.log.Warn("a prompt state cannot be written", "tokens", len(w.tokens), "bytes", len(w.state), "error", err)
		}
	}
}

// save writes a state unless another process has already done so.
func (s *Store) save(w write) error {
	final := w.name.String()
	if _, err := s.root.Lstat(final); err == nil {
		now := time.Now()
		_ = s.root.Chtimes(final, now, now)
		s.mu.Lock()
		s.index[w.name] = true
		s.mu.Unlock()
		return nil
	}
	if fits, err := s.makeRoom(fileSize(len(w.tokens), len(w.state))); err != nil {
		return err
	} else if !fits {
		return errors.New("no room can be made for it")
	}
	draft := temporaryName(rand.Uint64())
	f, err := s.root.OpenFile(draft, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// Nothing is synced: a file that is incomplete after a power failure fails its
	// checksum.
	if err := errors.Join(encode(f, w.shelf.sum, w.tokens, w.state), f.Close()); err != nil {
		return errors.Join(err, s.root.Remove(draft))
	}
	if err := s.root.Rename(draft, final); err != nil {
		return errors.Join(err, s.root.Remove(draft))
	}
	s.mu.Lock()
	s.index[w.name] = true
	s.fresh = append(s.fresh, w.name)
	s.stats.Written++
	s.mu.Unlock()
	if _, err := s.makeRoom(0); err != nil { // another process may have taken the same room
		s.log.Warn("the folder of the prompt cache cannot be listed", "error", err)
	}
	return nil
}

// abandoned is the age at which a temporary file is considered left behind by a
// killed process.
const abandoned = time.Hour

// A file is the folder's entry for a state.
type file struct {
	name name
	size int64
	used time.Time
}

// makeRoom deletes the least recently used states until the given number of
// bytes fits, and reports whether it does.
func (s *Store) makeRoom(bytes int64) (fits bool, err error) {
	entries, err := s.entries()
	if err != nil {
		return false, err
	}
	var files []file
	total := bytes
	for _, e := range entries {
		n, ours := parseName(e.Name())
		if !ours && !isTemporary(e.Name()) {
			continue
		}
		st, err := e.Info()
		if err != nil {
			continue // another process has deleted it
		}
		if ours {
			files = append(files, file{n, st.Size(), st.ModTime()})
			total += st.Size()
		} else if time.Since(st.ModTime()) > abandoned {
			_ = s.root.Remove(e.Name())
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name.String(), b.name.String()))
	})
	for _, f := range files {
		if total <= s.limit {
			break
		}
		switch err := s.root.Remove(f.name.String()); {
		case err == nil:
			s.mu.Lock()
			s.stats.Evicted++
			s.mu.Unlock()
		case !errors.Is(err, fs.ErrNotExist): // some systems refuse to delete an open file
			s.log.Warn("a prompt state cannot be deleted", "file", f.name, "error", err)
			continue
		}
		s.forget(f.name)
		total -= f.size
	}
	return total <= s.limit, nil
}

// entries lists the folder.
func (s *Store) entries() ([]os.DirEntry, error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
}

// granularity exceeds the resolution of timestamps of file systems: a folder
// modified this recently may change again without a new modification time.
const granularity = 2 * time.Second

// list updates the index if the folder has changed since the last listing.
func (s *Store) list() error {
	s.listing.Lock()
	defer s.listing.Unlock()
	st, err := s.root.Stat(".")
	if err != nil || s.settled && st.ModTime().Equal(s.listed) {
		return err
	}
	s.mu.Lock()
	s.fresh = s.fresh[:0]
	s.mu.Unlock()
	entries, err := s.entries()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, stored := range s.index {
		if stored {
			delete(s.index, n)
		}
	}
	for _, e := range entries {
		if n, ok := parseName(e.Name()); ok {
			s.index[n] = true
		}
	}
	for _, n := range s.fresh {
		s.index[n] = true
	}
	s.listed, s.settled = st.ModTime(), time.Since(st.ModTime()) > granularity
	return nil
}
