package stored

import (
	"container/list"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/server/shares"
)

// A Response is a stored response: its input, its output and the answer.
type Response struct {
	ID           string            `json:"id"`
	Owner        string            `json:"owner,omitempty"`        // only this owner can get it
	Previous     string            `json:"previous,omitempty"`     // id of the response that it continues
	Conversation string            `json:"conversation,omitempty"` // id of the conversation that it belongs to
	Input        []json.RawMessage `json:"input"`                  // items that came with the request
	Output       []json.RawMessage `json:"output"`
	Reply        json.RawMessage   `json:"reply"`              // the whole answer
	Running      bool              `json:"running,omitempty"`  // it has not ended
	Streamed     bool              `json:"streamed,omitempty"` // its events were others than those that the answer alone determines
}

// Limits limit what is stored. The least recently used responses of the owner who stores most are dropped first.
type Limits struct {
	Number int
	Bytes  int64
	Time   time.Duration // since its last use
}

// Errors of a store.
var (
	ErrNotFound = errors.New("stored: there is nothing of that id: it was not stored, was deleted, or has made room for others")
	ErrTooLarge = errors.New("stored: it is larger than all that may be stored")
	ErrNoRoom   = errors.New("stored: it is too large beside those of other clients")
)

// A Store stores responses. It is safe for concurrent use.
type Store struct {
	limits Limits
	values values

	mu    sync.Mutex
	index map[string]*entry
	items map[itemKey][]string // ids of the entries that have an item, by its id
	used  *list.List           // of *entry, most recently used in front
	of    shares.Shares
	dirty map[string]*entry // used since the last write to the file
}

// values stores the encoded responses of a store.
type values interface {
	get(id string) ([]byte, error) // nil: none
	// change stores and deletes values, and updates the time of last use of entries.
	change(put *entry, value []byte, used map[string]*entry, drop []string) error
	close() error
}

// An entry is the entry in the index of a response or a conversation.
type entry struct {
	ID    string    `json:"id"`
	Kind  string    `json:"kind,omitempty"`
	Owner string    `json:"owner,omitempty"`
	Size  int64     `json:"size"`
	Used  time.Time `json:"used"`
	Items []string  `json:"items,omitempty"`
	place *list.Element
}

// The kinds of entries.
const (
	ofResponse     = ""
	ofConversation = "conversation"
)

type itemKey struct{ owner, id string }

// overhead and itemOverhead are the assumed size of an entry and of each of its items, beside the value.
const (
	overhead     = 512
	itemOverhead = 128
)

// New returns a store in memory.
func New(limits Limits) *Store { return newStore(limits, memory{}) }

func newStore(limits Limits, v values) *Store {
	return &Store{limits: limits, values: v, index: map[string]*entry{}, items: map[itemKey][]string{}, used: list.New(), dirty: map[string]*entry{},
		of: shares.Shares{Limit: shares.Share{Number: limits.Number, Bytes: limits.Bytes}}}
}

// Close closes the store's file, if it has one.
func (s *Store) Close() error { return s.values.close() }

// Put stores a response. If necessary, it drops the least recently used ones of the owner who stores most. It fails with
// ErrNoRoom rather than drop those of owners who store less than the response's owner would.
func (s *Store) Put(r *Response) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(&entry{ID: r.ID, Owner: r.Owner, Items: ids(slices.Concat(r.Input, r.Output))}, r)
}

// put stores a value, in place of the one with the same id. After an error, that one is still there. The caller holds the
// lock.
func (s *Store) put(e *entry, what any) error {
	value, err := json.Marshal(what)
	if err != nil {
		return err
	}
	e.Used = time.Now()
	e.Size = int64(len(value)+overhead) + int64(len(e.Items))*itemOverhead
	if e.Size > s.limits.Bytes || s.limits.Number < 1 {
		return ErrTooLarge
	}
	drop := s.expire()
	before := s.index[e.ID]
	if before != nil {
		s.remove(before)
	}
	more, ok := s.makeRoom(e.Owner, shares.Share{Number: 1, Bytes: e.Size})
	if ok {
		err = s.values.change(e, value, s.dirty, append(drop, more...))
		clear(s.dirty)
	} else if err = s.values.change(nil, nil, nil, drop); err == nil {
		err = ErrNoRoom
	}
	if err == nil {
		s.add(e, true)
	} else if before != nil {
		s.add(before, true)
	}
	return err
}

// ids returns the ids of items.
func ids(items []json.RawMessage) (out []string) {
	for _, item := range items {
		if id := idOf(item); id != "" {
			out = append(out, id)
		}
	}
	return out
}

func idOf(item json.RawMessage) string {
	var it struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(item, &it) // an item whose id is no string has none
	return it.ID
}

// add adds an entry to the index. The caller holds the lock.
func (s *Store) add(e *entry, first bool) {
	if before := s.index[e.ID]; before != nil {
		s.remove(before)
	}
	if first {
		e.place = s.used.PushFront(e)
	} else {
		e.place = s.used.PushBack(e)
	}
	s.index[e.ID] = e
	s.of.Add(e.Owner, e.Size)
	for _, id := range e.Items {
		key := itemKey{e.Owner, id}
		s.items[key] = append(s.items[key], e.ID)
	}
}

// remove removes an entry from the index and returns its id. The caller holds the lock.
func (s *Store) remove(e *entry) string {
	s.used.Remove(e.place)
	delete(s.index, e.ID)
	delete(s.dirty, e.ID)
	s.of.Remove(e.Owner, e.Size)
	for _, id := range e.Items {
		key := itemKey{e.Owner, id}
		left := slices.DeleteFunc(s.items[key], func(of string) bool { return of == e.ID })
		if s.items[key] = left; len(left) == 0 {
			delete(s.items, key)
		}
	}
	return e.ID
}

// makeRoom removes entries until there is room for more of an owner, and returns their ids. The caller holds the lock.
func (s *Store) makeRoom(owner string, more shares.Share) (drop []string, ok bool) {
	entries, ok := shares.Room(&s.of, owner, more, s.oldest())
	for _, e := range entries {
		drop = append(drop, s.remove(e))
	}
	return drop, ok
}

// oldest returns the entries, the least recently used first.
func (s *Store) oldest() iter.Seq2[*entry, shares.Thing] {
	return func(yield func(*entry, shares.Thing) bool) {
		for at := s.used.Back(); at != nil; at = at.Prev() {
			if e := at.Value.(*entry); !yield(e, shares.Thing{Owner: e.Owner, Bytes: e.Size}) {
				return
			}
		}
	}
}

// expire removes entries that have not been used within the time limit, and returns their ids. The caller holds the
// lock.
func (s *Store) expire() (drop []string) {
	least := time.Now().Add(-s.limits.Time)
	for oldest := s.used.Back(); oldest != nil && oldest.Value.(*entry).Used.Before(least); oldest = s.used.Back() {
		drop = append(drop, s.remove(oldest.Value.(*entry)))
	}
	return drop
}

// Get returns a response of an owner.
func (s *Store) Get(owner, id string) (*Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(owner, id)
}

func (s *Store) get(owner, id string) (*Response, error) {
	r := new(Response)
	return r, s.read(owner, id, ofResponse, r)
}

// read decodes a value of an owner, which is in use now. The caller holds the lock.
func (s *Store) read(owner, id, kind string, to any) error {
	if drop := s.expire(); drop != nil {
		if err := s.values.change(nil, nil, nil, drop); err != nil {
			return err
		}
	}
	e := s.index[id]
	if e == nil || e.Owner != owner || e.Kind != kind {
		return ErrNotFound
	}
	value, err := s.values.get(id)
	if err != nil {
		return err
	}
	if value == nil {
		return ErrNotFound
	}
	e.Used = time.Now()
	s.used.MoveToFront(e.place)
	s.dirty[id] = e
	return json.Unmarshal(value, to)
}

// Delete deletes a response of an owner.
func (s *Store) Delete(owner, id string) error { return s.delete(owner, id, ofResponse) }

func (s *Store) delete(owner, id, kind string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.index[id]
	if e == nil || e.Owner != owner || e.Kind != kind {
		return ErrNotFound
	}
	return s.values.change(nil, nil, nil, []string{s.remove(e)})
}

// Item returns an item of one of an owner's responses and conversations.
func (s *Store) Item(owner, id string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.items[itemKey{owner, id}]
	if len(of) == 0 {
		return nil, ErrNotFound
	}
	last := of[len(of)-1]
	var items []json.RawMessage
	var err error
	if s.index[last].Kind == ofConversation {
		var c Conversation
		err = s.read(owner, last, ofConversation, &c)
		items = c.Items
	} else {
		var r Response
		err = s.read(owner, last, ofResponse, &r)
		items = slices.Concat(r.Output, r.Input)
	}
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if idOf(item) == id {
			return item, nil
		}
	}
	return nil, ErrNotFound
}

// Up returns all items up to the end of a response: those before it, then its own. It fails with ErrNotFound if some of
// them are not there any more.
func (s *Store) Up(owner, id string) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	input, output, whole, err := s.parts(owner, id)
	if err == nil && !whole {
		err = ErrNotFound
	}
	return slices.Concat(input, output), err
}

// Input returns all items up to the output of a response: those before it, and its input.
func (s *Store) Input(owner, id string) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	input, _, _, err := s.parts(owner, id)
	return input, err
}

// parts returns a response's full input, and its output. whole is false if the conversation that it belonged to is not
// there. The caller holds the lock.
func (s *Store) parts(owner, id string) (input, output []json.RawMessage, whole bool, err error) {
	var chain []*Response
	for next := id; next != "" && len(chain) <= s.limits.Number; {
		r, err := s.get(owner, next)
		if err != nil {
			return nil, nil, false, err
		}
		chain = append(chain, r)
		next = r.Previous
	}
	input, whole, err = s.before(chain[len(chain)-1])
	if err != nil {
		return nil, nil, false, err
	}
	for i := len(chain) - 1; i >= 0; i-- {
		input = append(input, chain[i].Input...)
		if i > 0 {
			input = append(input, chain[i].Output...)
		}
	}
	return input, chain[0].Output, whole, nil
}

// memory stores values in memory.
type memory map[string][]byte

func (m memory) get(id string) ([]byte, error) { return m[id], nil }

func (m memory) change(put *entry, value []byte, _ map[string]*entry, drop []string) error {
	for _, id := range drop {
		delete(m, id)
	}
	if put != nil {
		m[put.ID] = value
	}
	return nil
}

func (m memory) close() error { return nil }
