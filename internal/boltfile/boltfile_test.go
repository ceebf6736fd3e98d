package boltfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/stencil-json/stencil/internal/boltfile/damage"
	"github.com/stencil-json/stencil/internal/poll"
)

// write creates a file with buckets of one and of several pages, values longer than a page, and free pages.
func write(t *testing.T, path string, n int, seed uint64) {
	t.Helper()
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	db.NoSync, db.MaxBatchDelay = true, 0
	if err := change(db, rand.New(rand.NewPCG(seed, 2)), n); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// change writes and deletes keys in several transactions, some of which run in goroutines of bbolt.
func change(db *bbolt.DB, r *rand.Rand, n int) error {
	for round := range 4 {
		do := db.Update
		if round == 3 {
			do = db.Batch
		}
		err := do(func(tx *bbolt.Tx) error {
			for b, name := range []string{"large", "small", "nested"} {
				bucket, err := tx.CreateBucketIfNotExists([]byte(name))
				if err != nil {
					return err
				}
				if b == 2 {
					if bucket, err = bucket.CreateBucketIfNotExists([]byte("inner")); err != nil {
						return err
					}
				}
				if b == 1 {
					if err := bucket.Put([]byte("key"), []byte("value")); err != nil {
						return err
					}
					continue
				}
				for i := range n {
					if err := bucket.Put(fmt.Appendf(nil, "key %d", r.IntN(4*n)), bytes.Repeat([]byte("v"), r.IntN(80))); err != nil {
						return err
					}
					if err := bucket.Delete(fmt.Appendf(nil, "key %d", r.IntN(4*n))); err != nil {
						return err
					}
					if i%50 == 0 {
						if err := bucket.Put(fmt.Appendf(nil, "long %d", r.IntN(5)), make([]byte, 10000)); err != nil {
							return err
						}
					}
				}
				if _, err := bucket.NextSequence(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func readAll(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				_ = append(bytes.Clone(k), v...)
				return nil
			})
		})
	})
}

// TestGood checks that undamaged files of all sizes can be opened.
func TestGood(t *testing.T) {
	for _, n := range []int{0, 1, 10, 100, 1000, 3000} {
		path := filepath.Join(t.TempDir(), "f")
		write(t, path, n, 1)
		for seed := range uint64(4) {
			write(t, path, 1+n/10, seed)
		}
		db, err := Open(path)
		if err != nil {
			t.Errorf("%d: %v", n, err)
			continue
		}
		err = db.View(func(tx *bbolt.Tx) error {
			for err := range tx.Check() {
				t.Errorf("bbolt says of what is good: %v", err)
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestManyFreePages checks a free list with more pages than fit the count in a page header.
func TestManyFreePages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: 1024, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 70000*1024)
	for _, change := range []func(*bbolt.Tx) error{
		func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("b"))
			if err != nil {
				return err
			}
			return b.Put([]byte("k"), value)
		},
		func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("b")) },
	} {
		if err := db.Update(change); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if free := db.Stats().FreePageN; free < 70000 {
		t.Errorf("%d free pages", free)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamaged checks that for damaged files Open either returns an error or everything that follows works. A panic in a
// goroutine of bbolt, or an access outside the file, would end the test. Refused files must not be changed.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	var files [][]byte
	for _, n := range []int{3, 30, 300} {
		path := filepath.Join(dir, fmt.Sprint("good", n))
		write(t, path, n, 1)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, content)
	}
	refused, opened := 0, 0
	path := filepath.Join(dir, "f")
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 3))
		mutant := damage.Make(r, files[seed%3], os.Getpagesize())
		if err := os.WriteFile(path, mutant, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(path)
		if err != nil {
			refused++
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Errorf("seed %d: %v", seed, err)
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, mutant) {
				t.Fatalf("seed %d: a refused file was changed: %v", seed, err)
			}
			continue
		}
		opened++
		db.NoSync, db.MaxBatchDelay = true, 0
		if err := errors.Join(readAll(db), change(db, r, 20), readAll(db)); err != nil && !strings.Contains(err.Error(), "incompatible value") {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := db.Close(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("%d refused, %d opened", refused, opened)
	if refused < 200 || opened < 50 {
		t.Errorf("%d refused, %d opened: the damage is no test", refused, opened)
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, 10, 1)
	db, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := Open(path); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
}

// TestMadeAtOnce checks that concurrent calls that create a file share one file.
func TestMadeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var all sync.WaitGroup
	var opened atomic.Int32
	done := make(chan struct{})
	for range 8 {
		all.Go(func() {
			db, err := Open(path)
			if errors.Is(err, ErrLocked) {
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			if opened.Add(1) == 1 {
				<-done
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	poll.Until(func() bool { return opened.Load() > 0 })
	close(done)
	all.Wait()
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
