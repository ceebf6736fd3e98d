package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/stencil-json/stencil/internal/boltfile"
	"github.com/stencil-json/stencil/server/shares"
)

// The buckets of a file: encoded responses and conversations, their index entries, and the
// layout version.
var (
	valueBucket = []byte("responses")
	indexBucket = []byte("index")
	metaBucket  = []byte("meta")
	versionKey  = []byte("version")
)

// layout is the version of the buckets' contents. Version 1 had no conversations; its files are taken over.
const layout, oldLayout = "2", "1"

// Errors of files.
var (
	ErrLocked  = boltfile.ErrLocked
	ErrDamaged = boltfile.ErrDamaged
)

// Open returns a store in a file, which it creates if necessary.
func Open(path string, limits Limits) (*Store, error) {
	db, err := boltfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("stored: %w", err)
	}
	s := newStore(limits, &file{db})
	if err := s.load(db); err != nil {
		return nil, errors.Join(fmt.Errorf("stored: %w", boltfile.Damaged(path, err)), db.Close())
	}
	return s, nil
}

// load reads the index of a file, and drops what exceeds the limits.
func (s *Store) load(db *bbolt.DB) error {
	var all []*entry
	err := db.Update(func(tx *bbolt.Tx) error {
		if meta := tx.Bucket(metaBucket); meta == nil {
			if k, _ := tx.Cursor().First(); k != nil {
				return errors.New("it holds something else")
			}
			for _, name := range [][]byte{valueBucket, indexBucket, metaBucket} {
				if _, err := tx.CreateBucketIfNotExists(name); err != nil {
					return err
				}
			}
			return tx.Bucket(metaBucket).Put(versionKey, []byte(layout))
		} else if v := string(meta.Get(versionKey)); v == oldLayout {
			if err := meta.Put(versionKey, []byte(layout)); err != nil {
				return err
			}
		} else if v != layout {
			return fmt.Errorf("its layout is of version %q, not %s", v, layout)
		}
		if tx.Bucket(valueBucket) == nil || tx.Bucket(indexBucket) == nil {
			return errors.New("a part is missing")
		}
		return tx.Bucket(indexBucket).ForEach(func(key, value []byte) error {
			e := new(entry)
			if err := json.Unmarshal(value, e); err != nil || e.ID != string(key) {
				return fmt.Errorf("the entry %q can't be read", key)
			}
			all = append(all, e)
			return nil
		})
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b *entry) int { return b.Used.Compare(a.Used) })
	for _, e := range all {
		s.add(e, false)
	}
	drop := s.expire()
	more, _ := s.makeRoom("", shares.Share{})
	return s.values.change(nil, nil, nil, append(drop, more...))
}

// file stores values in a file.
type file struct{ db *bbolt.DB }

func (f *file) get(id string) (value []byte, err error) {
	err = f.db.View(func(tx *bbolt.Tx) error {
		value = slices.Clone(tx.Bucket(valueBucket).Get([]byte(id)))
		return nil
	})
	return value, err
}

func (f *file) change(put *entry, value []byte, used map[string]*entry, drop []string) error {
	if put == nil && len(drop) == 0 {
		return nil
	}
	return f.db.Update(func(tx *bbolt.Tx) error {
		values, index := tx.Bucket(valueBucket), tx.Bucket(indexBucket)
		for _, id := range drop {
			if err := errors.Join(values.Delete([]byte(id)), index.Delete([]byte(id))); err != nil {
				return err
			}
		}
		list := make([]*entry, 0, len(used)+1)
		for _, e := range used {
			list = append(list, e)
		}
		if put != nil {
			list = append(list, put)
			if err := values.Put([]byte(put.ID), value); err != nil {
				return err
			}
		}
		for _, e := range list {
			known, err := json.Marshal(e)
			if err != nil {
				return err
			}
			if err := index.Put([]byte(e.ID), known); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *file) close() error { return f.db.Close() }
