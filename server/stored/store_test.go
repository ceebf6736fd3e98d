package stored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/stencil-json/stencil/internal/boltfile/damage"
)

var plenty = Limits{Number: 100, Bytes: 1 << 20, Time: time.Hour}

// response returns a response with one input item and one output item.
func response(owner, id, previous string) *Response {
	return &Response{
		ID: id, Owner: owner, Previous: previous, Reply: json.RawMessage(`{"id":"` + id + `"}`),
		Input: []json.RawMessage{json.RawMessage(`{"id":"in_` + id + `"}`)}, Output: []json.RawMessage{json.RawMessage(`{"id":"out_` + id + `"}`)},
	}
}

func put(t *testing.T, s *Store, list ...*Response) {
	t.Helper()
	for _, r := range list {
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
}

func has(t *testing.T, s *Store, owner, id string, want bool) {
	t.Helper()
	r, err := s.Get(owner, id)
	if want && (err != nil || r.ID != id) || !want && !errors.Is(err, ErrNotFound) {
		t.Errorf("%s of %q: %v %v", id, owner, r, err)
	}
}

// each runs a test on a store in memory and on one in a file.
func each(t *testing.T, limits Limits, test func(t *testing.T, s *Store)) {
	t.Run("memory", func(t *testing.T) { test(t, New(limits)) })
	t.Run("file", func(t *testing.T) {
		s, err := Open(filepath.Join(t.TempDir(), "file"), limits)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		test(t, s)
	})
}

func TestStore(t *testing.T) {
	each(t, plenty, func(t *testing.T, s *Store) {
		put(t, s, response("ann", "a", ""), response("ann", "b", "a"), response("bob", "c", "a"))
		has(t, s, "ann", "a", true)
		has(t, s, "bob", "a", false)
		has(t, s, "", "a", false)
		items, err := s.Up("ann", "b")
		if got := fmt.Sprintf("%s", items); err != nil || got != `[{"id":"in_a"} {"id":"out_a"} {"id":"in_b"} {"id":"out_b"}]` {
			t.Error(got, err)
		}
		if _, err := s.Up("bob", "c"); !errors.Is(err, ErrNotFound) {
			t.Error("a conversation goes on across owners:", err)
		}
		for id, want := range map[string]bool{"in_a": true, "out_b": true, "out_c": false, "none": false} {
			if item, err := s.Item("ann", id); (err == nil) != want || want && !strings.Contains(string(item), id) {
				t.Errorf("%s: %s %v", id, item, err)
			}
		}
		if err := s.Delete("bob", "a"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if err := s.Delete("ann", "a"); err != nil {
			t.Error(err)
		}
		has(t, s, "ann", "a", false)
		if _, err := s.Item("ann", "out_a"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if _, err := s.Up("ann", "b"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

func TestNumber(t *testing.T) {
	each(t, Limits{Number: 3, Bytes: 1 << 20, Time: time.Hour}, func(t *testing.T, s *Store) {
		put(t, s, response("", "a", ""), response("", "b", ""), response("", "c", ""))
		has(t, s, "", "a", true) // used recently, so b is dropped
		put(t, s, response("", "d", ""))
		has(t, s, "", "b", false)
		has(t, s, "", "a", true)
	})
}

// TestChainStays checks that a conversation in use keeps its first responses.
func TestChainStays(t *testing.T) {
	each(t, Limits{Number: 5, Bytes: 1 << 20, Time: time.Hour}, func(t *testing.T, s *Store) {
		put(t, s, response("", "a", ""), response("", "b", "a"))
		for i := range 10 {
			if _, err := s.Up("", "b"); err != nil {
				t.Fatal(i, err)
			}
			put(t, s, response("", fmt.Sprint(i), ""))
		}
	})
}

func TestBytes(t *testing.T) {
	each(t, Limits{Number: 1000, Bytes: 10_000, Time: time.Hour}, func(t *testing.T, s *Store) {
		for i := range 50 {
			put(t, s, response("", fmt.Sprint(i), ""))
		}
		if s.of.Used.Bytes > 10_000 || s.used.Len() < 5 || len(s.items) != 2*s.used.Len() {
			t.Error(s.of.Used.Bytes, s.used.Len(), len(s.items))
		}
		has(t, s, "", "49", true)
		has(t, s, "", "0", false)
		large := response("", "large", "")
		large.Input = append(large.Input, json.RawMessage(`"`+strings.Repeat("x", 10_000)+`"`))
		if err := s.Put(large); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
		has(t, s, "", "49", true)
	})
}

func TestTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{Number: 10, Bytes: 1 << 20, Time: time.Minute})
		put(t, s, response("", "a", ""), response("", "b", ""))
		time.Sleep(40 * time.Second)
		has(t, s, "", "a", true)
		time.Sleep(40 * time.Second)
		has(t, s, "", "a", true)
		has(t, s, "", "b", false)
	})
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	s, err := Open(path, plenty)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, response("ann", "a", ""), response("ann", "b", ""), response("ann", "c", ""))
	has(t, s, "ann", "a", true)
	put(t, s, response("ann", "d", "a"))
	if _, err := Open(path, plenty); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Limits{Number: 2, Bytes: 1 << 20, Time: time.Hour}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if items, err := s.Up("ann", "d"); err != nil || len(items) != 4 {
		t.Error(items, err)
	}
	has(t, s, "ann", "b", false)
	if _, err := s.Item("ann", "out_a"); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database ", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other")
	db, err := bbolt.Open(other, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("else"))
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, other} {
		if _, err := Open(path, plenty); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestMutants checks that a damaged file is refused and left unchanged, or that everything done with it
// works.
func TestMutants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	s, err := Open(path, plenty)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		r := response("ann", fmt.Sprint("r", i), "")
		if i%10 == 0 {
			r.Reply = json.RawMessage(`"` + strings.Repeat("x", 10000) + `"`)
		}
		put(t, s, r)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused, opened := 0, 0
	for seed := range uint64(300) {
		mutant := damage.Make(rand.New(rand.NewPCG(seed, 1)), whole, os.Getpagesize())
		if err := os.WriteFile(path, mutant, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path, plenty)
		if err != nil {
			refused++
			if now, readErr := os.ReadFile(path); readErr != nil || !bytes.Equal(now, mutant) || !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("seed %d: %v %v", seed, err, readErr)
			}
			continue
		}
		opened++
		s.values.(*file).db.NoSync = true
		for i := range 40 {
			_, _ = s.Get("ann", fmt.Sprint("r", i)) // an error if the value is damaged
			put(t, s, response("ann", fmt.Sprint("new", i), ""))
		}
		if err := s.Close(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d refused, %d opened", refused, opened)
	if refused < 50 || opened < 50 {
		t.Errorf("%d refused, %d opened: the damage is no test", refused, opened)
	}
}
