package outcomes

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"

	"github.com/stencil-json/stencil/internal/boltfile"
)

// Errors of a Store.
var (
	// ErrUnknown means that no assessment has the ID, or that it was deleted.
	ErrUnknown = errors.New("outcomes: there is no assessment with this id")
	// ErrLocked means that another process has the file open.
	ErrLocked = boltfile.ErrLocked
	// ErrDamaged means that a file is not a database of this package, or is
	// damaged.
	ErrDamaged = boltfile.ErrDamaged
)

// Options are the limits of a store. Zero fields mean the default.
type Options struct {
	Keep int // assessments kept; default 100,000, some 20 MiB
}

// A Store is an open file. It is safe for concurrent use.
type Store struct {
	db   *bbolt.DB
	keep int
}

// An Assessment is the assessment of an answer whose outcome may be reported.
type Assessment struct {
	ID        string
	Model     string
	Composite float64  // composite confidence in the answer
	Own       *float64 // the model's own confidence; nil: not given
	Time      time.Time
}

// confidence is the value that is calibrated: the model's own confidence, if given,
// else the composite.
func (a *record) confidence() float64 {
	if a.Own != nil {
		return *a.Own
	}
	return a.Composite
}

// record is an assessment in the file.
type record struct {
	Model     string    `json:"model"`
	Composite float64   `json:"composite"`
	Own       *float64  `json:"own,omitempty"`
	Time      time.Time `json:"time"`
	Success   *bool     `json:"success,omitempty"` // nil: unknown
}

// The buckets, and the version of their layout.
var (
	assessments = []byte("assessments")
	order       = []byte("order")
	models      = []byte("models")
	meta        = []byte("meta")
	versionKey  = []byte("version")
)

const layout = "1"

// batchDelay is the time that a write waits for others to share its transaction.
const batchDelay = 2 * time.Millisecond

// Open opens a file. It creates the file and its folders if necessary. Errors match
// [ErrLocked] or [ErrDamaged] in these cases.
func Open(path string, o Options) (*Store, error) {
	if o.Keep == 0 {
		o.Keep = 100_000
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("outcomes: %w", err)
	}
	db, err := boltfile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("outcomes: %w", err)
	}
	db.MaxBatchDelay = batchDelay
	s := &Store{db, o.Keep}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("outcomes: %w", boltfile.Damaged(path, err)), db.Close())
	}
	return s, nil
}

// prepare creates the buckets of a new file. For an existing file, it returns an error for damage that would cause a
// panic or the loss of data later. Damaged records are only reported when they are read.
func (s *Store) prepare() error {
	fresh := false
	err := s.db.View(func(tx *bbolt.Tx) error {
		if first, _ := tx.Cursor().First(); first == nil {
			fresh = true
			return nil
		}
		for _, name := range [][]byte{assessments, order, models, meta} {
			if tx.Bucket(name) == nil {
				return fmt.Errorf("it has no %s", name)
			}
		}
		if v := string(tx.Bucket(meta).Get(versionKey)); v != layout {
			return fmt.Errorf("its layout is of version %q, not %s", v, layout)
		}
		numbers, last := tx.Bucket(order), uint64(0)
		err := numbers.ForEach(func(key, _ []byte) error {
			if len(key) != 8 {
				return fmt.Errorf("the number %x is none", key)
			}
			last = binary.BigEndian.Uint64(key)
			return nil
		})
		if err == nil && numbers.Sequence() != last { // otherwise drop would delete the wrong assessments
			err = fmt.Errorf("the last assessment has the number %d, not %d", last, numbers.Sequence())
		}
		return err
	})
	if err != nil || !fresh {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{assessments, order, models, meta} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return tx.Bucket(meta).Put(versionKey, []byte(layout))
	})
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }

// update runs a change in a transaction that concurrent writes may share. The change may run more than once and must
// not depend on earlier runs.
func (s *Store) update(change func(tx *bbolt.Tx) error) error {
	return s.db.Batch(change)
}

// Add stores an assessment. Its ID must be new.
func (s *Store) Add(a Assessment) error {
	if a.ID == "" || a.Model == "" {
		return errors.New("outcomes: an assessment needs an id and a model")
	}
	value, err := json.Marshal(record{Model: a.Model, Composite: a.Composite, Own: a.Own, Time: a.Time})
	if err != nil {
		return fmt.Errorf("outcomes: %w", err)
	}
	return s.update(func(tx *bbolt.Tx) error {
		list, numbers := tx.Bucket(assessments), tx.Bucket(order)
		if list.Get([]byte(a.ID)) != nil {
			return fmt.Errorf("outcomes: there is an assessment %q already", a.ID)
		}
		n, err := numbers.NextSequence()
		if err != nil {
			return err
		}
		if err := numbers.Put(binary.BigEndian.AppendUint64(nil, n), []byte(a.ID)); err != nil {
			return err
		}
		if err := list.Put([]byte(a.ID), value); err != nil {
			return err
		}
		return s.drop(list, numbers, n)
	})
}

// drop deletes the assessments that are too old when assessment n is the newest.
// Numbers have no gaps.
func (s *Store) drop(list, numbers *bbolt.Bucket, n uint64) error {
	c := numbers.Cursor()
	for key, id := c.First(); key != nil && binary.BigEndian.Uint64(key)+uint64(s.keep) <= n; key, id = c.First() {
		if err := list.Delete(id); err != nil {
			return err
		}
		if err := numbers.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// Report records the outcome of an answer and returns the updated calibration of its
// model. A later report on the same answer replaces an earlier one. The error matches
// [ErrUnknown] if there is no such assessment.
func (s *Store) Report(id string, success bool) (model string, c Calibration, err error) {
	err = s.update(func(tx *bbolt.Tx) error {
		list := tx.Bucket(assessments)
		var r record
		value := list.Get([]byte(id))
		if value == nil {
			return ErrUnknown
		}
		if err := json.Unmarshal(value, &r); err != nil {
			return fmt.Errorf("outcomes: assessment %q: %w", id, err)
		}
		model = r.Model
		before := r.Success
		r.Success = &success
		value, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("outcomes: %w", err)
		}
		if err := list.Put([]byte(id), value); err != nil {
			return err
		}
		c, err = change(tx, model, func(t *Totals) {
			if before != nil {
				t.add(r.confidence(), *before, -1)
			}
			t.add(r.confidence(), success, 1)
		})
		return err
	})
	return model, c, err
}

// Record counts an outcome without an assessment, and returns the updated calibration
// of the model.
func (s *Store) Record(model string, confidence float64, success bool) (c Calibration, err error) {
	if model == "" || !(confidence >= 0 && confidence <= 1) {
		return c, fmt.Errorf("outcomes: an outcome needs a model and a confidence from 0 to 1, not %q and %g", model, confidence)
	}
	err = s.update(func(tx *bbolt.Tx) (err error) {
		c, err = change(tx, model, func(t *Totals) { t.add(confidence, success, 1) })
		return err
	})
	return c, err
}

// change updates the totals of a model.
func change(tx *bbolt.Tx, model string, by func(*Totals)) (Calibration, error) {
	t, err := totals(tx, model)
	if err != nil {
		return Calibration{}, err
	}
	by(&t)
	value, err := json.Marshal(t)
	if err != nil {
		return Calibration{}, fmt.Errorf("outcomes: %w", err)
	}
	return t.Calibration(), tx.Bucket(models).Put([]byte(model), value)
}

func totals(tx *bbolt.Tx, model string) (t Totals, err error) {
	if value := tx.Bucket(models).Get([]byte(model)); value != nil {
		if err := json.Unmarshal(value, &t); err != nil {
			return t, fmt.Errorf("outcomes: totals of %q: %w", model, err)
		}
	}
	return t, nil
}

// Calibration returns the calibration of a model; its count is 0 for an unknown model.
func (s *Store) Calibration(model string) (c Calibration, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		t, err := totals(tx, model)
		c = t.Calibration()
		return err
	})
	return c, err
}

// Models returns the names of the models with outcomes, sorted.
func (s *Store) Models() (names []string, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(models).ForEach(func(name, _ []byte) error {
			names = append(names, string(name))
			return nil
		})
	})
	return names, err
}

// Outcome returns the outcome of an assessment; nil if unknown.
func (s *Store) Outcome(id string) (success *bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		value := tx.Bucket(assessments).Get([]byte(id))
		if value == nil {
			return ErrUnknown
		}
		var r record
		err := json.Unmarshal(value, &r)
		success = r.Success
		return err
	})
	return success, err
}
