package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func talk(owner, id string, items ...string) *Conversation {
	c := &Conversation{ID: id, Owner: owner, Created: 5, Metadata: map[string]string{"a": "b"}, Items: []json.RawMessage{}}
	for _, item := range items {
		c.Items = append(c.Items, json.RawMessage(`{"id":"`+item+`"}`))
	}
	return c
}

// add adds an item to a conversation.
func add(item string) func(*Conversation) error {
	return func(c *Conversation) error {
		c.Items = append(c.Items, json.RawMessage(`{"id":"`+item+`"}`))
		return nil
	}
}

func TestConversation(t *testing.T) {
	each(t, plenty, func(t *testing.T, s *Store) {
		if err := s.PutConversation(talk("ann", "c", "one")); err != nil {
			t.Fatal(err)
		}
		c, err := s.ChangeConversation("ann", "c", add("two"))
		if got := fmt.Sprintf("%s", c.Items); err != nil || got != `[{"id":"one"} {"id":"two"}]` || c.Metadata["a"] != "b" || c.Created != 5 {
			t.Error(c, err)
		}
		mistake := errors.New("no")
		if _, err := s.ChangeConversation("ann", "c", func(c *Conversation) error { c.Items = nil; return mistake }); !errors.Is(err, mistake) {
			t.Error(err)
		}
		if c, err := s.Conversation("ann", "c"); err != nil || len(c.Items) != 2 {
			t.Error(c, err)
		}
		for _, err := range []error{
			func() error { _, err := s.Conversation("bob", "c"); return err }(),
			func() error { _, err := s.ChangeConversation("bob", "c", add("x")); return err }(),
			s.DeleteConversation("bob", "c"), s.Delete("ann", "c"),
			func() error { _, err := s.Get("ann", "c"); return err }(),
		} {
			if !errors.Is(err, ErrNotFound) {
				t.Error(err)
			}
		}
		// An item is found as long as something has it.
		r := response("ann", "r", "")
		r.Conversation, r.Output = "c", []json.RawMessage{json.RawMessage(`{"id":"two"}`)}
		put(t, s, r)
		if items, err := s.Up("ann", "r"); err != nil || fmt.Sprintf("%s", items) != `[{"id":"one"} {"id":"in_r"} {"id":"two"}]` {
			t.Errorf("%s %v", items, err)
		}
		if err := s.DeleteConversation("ann", "c"); err != nil {
			t.Error(err)
		}
		if _, err := s.Item("ann", "two"); err != nil {
			t.Error(err)
		}
		if _, err := s.Item("ann", "one"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if _, err := s.Up("ann", "r"); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		if items, err := s.Input("ann", "r"); err != nil || len(items) != 1 {
			t.Error(items, err)
		}
	})
}

// TestChangeAtOnce checks that changes at the same time are all made.
func TestChangeAtOnce(t *testing.T) {
	each(t, plenty, func(t *testing.T, s *Store) {
		if err := s.PutConversation(talk("", "c")); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if _, err := s.ChangeConversation("", "c", add(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if c, err := s.Conversation("", "c"); err != nil || len(c.Items) != 20 {
			t.Error(c, err)
		}
	})
}

// TestReplace checks that a value takes the place of the one with its id in the count of bytes too, and that this one stays
// if there is no room.
func TestReplace(t *testing.T) {
	each(t, Limits{Number: 2, Bytes: 4000, Time: time.Hour}, func(t *testing.T, s *Store) {
		put(t, s, response("ann", "a", ""))
		if err := s.PutConversation(talk("ann", "c", "one")); err != nil {
			t.Fatal(err)
		}
		before := s.of.Used
		for range 10 {
			put(t, s, response("ann", "a", ""))
			if err := s.PutConversation(talk("ann", "c", "one")); err != nil {
				t.Fatal(err)
			}
		}
		if s.of.Used != before || len(s.items) != 3 || len(s.items[itemKey{"ann", "one"}]) != 1 {
			t.Error(s.of.Used, before, s.items)
		}
		has(t, s, "ann", "a", true)
		if _, err := s.ChangeConversation("ann", "c", add(strings.Repeat("x", 4000))); !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
		if c, err := s.Conversation("ann", "c"); err != nil || len(c.Items) != 1 {
			t.Error(c, err)
		}
	})
	s := New(Limits{Number: 10, Bytes: 4000, Time: time.Hour})
	put(t, s, response("ann", "a", ""))
	if err := s.PutConversation(talk("bob", "c", "one")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ChangeConversation("bob", "c", add(strings.Repeat("x", 2500))); !errors.Is(err, ErrNoRoom) {
		t.Error(err)
	}
	if c, err := s.Conversation("bob", "c"); err != nil || len(c.Items) != 1 {
		t.Error(c, err)
	}
	has(t, s, "ann", "a", true)
}

// TestLayouts checks that a file of layout 1, which has no conversations, is taken over, and that one of a later layout is
// refused.
func TestLayouts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(layout string) {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			for bucket, pair := range map[string][2]string{
				"responses": {"resp_1", `{"id":"resp_1","owner":"ann","input":[{"id":"msg_1"}],"output":[{"id":"msg_2"}],"reply":{"id":"resp_1"}}`},
				"index":     {"resp_1", `{"id":"resp_1","owner":"ann","size":900,"used":"` + time.Now().Format(time.RFC3339Nano) + `","items":["msg_1","msg_2"]}`},
				"meta":      {"version", layout},
			} {
				b, err := tx.CreateBucketIfNotExists([]byte(bucket))
				if err != nil {
					return err
				}
				if err := b.Put([]byte(pair[0]), []byte(pair[1])); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	for range 2 {
		s, err := Open(path, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if items, err := s.Up("ann", "resp_1"); err != nil || len(items) != 2 {
			t.Error(items, err)
		}
		if err := s.PutConversation(talk("ann", "conv_1", "one")); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write("3")
	if _, err := Open(path, plenty); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `version "3"`) {
		t.Error(err)
	}
}
