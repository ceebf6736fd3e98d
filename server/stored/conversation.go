package stored

import (
	"encoding/json"
	"errors"
	"slices"
)

// A Conversation is a stored list of items, to which responses add theirs.
type Conversation struct {
	ID       string            `json:"id"`
	Owner    string            `json:"owner,omitempty"` // only this owner can get it
	Created  int64             `json:"created"`         // Unix seconds
	Metadata map[string]string `json:"metadata"`
	Items    []json.RawMessage `json:"items"`
}

// PutConversation stores a conversation, as Put does a response.
func (s *Store) PutConversation(c *Conversation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.putConversation(c)
}

func (s *Store) putConversation(c *Conversation) error {
	return s.put(&entry{ID: c.ID, Kind: ofConversation, Owner: c.Owner, Items: ids(c.Items)}, c)
}

// Conversation returns a conversation of an owner.
func (s *Store) Conversation(owner, id string) (*Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := new(Conversation)
	return c, s.read(owner, id, ofConversation, c)
}

// ChangeConversation changes a conversation of an owner, with nobody else changing it meanwhile, and returns it. It stays as
// it is if change, or storing it, fails.
func (s *Store) ChangeConversation(owner, id string, change func(*Conversation) error) (*Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := new(Conversation)
	if err := s.read(owner, id, ofConversation, c); err != nil {
		return nil, err
	}
	if err := change(c); err != nil {
		return nil, err
	}
	return c, s.putConversation(c)
}

// DeleteConversation deletes a conversation of an owner. The responses that belong to it stay.
func (s *Store) DeleteConversation(owner, id string) error {
	return s.delete(owner, id, ofConversation)
}

// before returns the items before a response in its conversation: all if it has added none. whole is false if the
// conversation is not there. The caller holds the lock.
func (s *Store) before(r *Response) (items []json.RawMessage, whole bool, err error) {
	if r.Conversation == "" {
		return nil, true, nil
	}
	var c Conversation
	if err := s.read(r.Owner, r.Conversation, ofConversation, &c); err != nil {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return nil, false, err
	}
	own := ids(slices.Concat(r.Input, r.Output))
	for i, item := range c.Items {
		if slices.Contains(own, idOf(item)) {
			return slices.Clip(c.Items[:i]), true, nil
		}
	}
	return slices.Clip(c.Items), true, nil
}
