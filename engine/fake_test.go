package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
	"github.com/stencil-json/stencil/decoder"
	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/vocab"
)

// testVocab returns the small vocabulary of package scripted.
func testVocab(t testing.TB) *vocab.Vocab {
	t.Helper()
	v, err := scripted.Vocabulary()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// fakeLanguage is a constraint defined by functions of the text.
type fakeLanguage struct {
	v        *vocab.Vocab
	viable   func(text string) bool // whether some text of the language begins with it
	complete func(text string) bool
	shortest func(text string) string // the shortest completion
	forced   func(text string) string // the text that must follow
	pause    func()                   // before each mask
	masks    *atomic.Int64            // number of masks computed
	broken   func(text string) bool   // whether masks fail there
}

func (l fakeLanguage) NewMatcher() Matcher { return &fakeMatcher{l: l} }

type fakeMatcher struct {
	l    fakeLanguage
	text string
	past []string
	done bool
}

func (m *fakeMatcher) Mask() (sampling.Set, error) {
	if m.l.pause != nil {
		m.l.pause()
	}
	if m.l.masks != nil {
		m.l.masks.Add(1)
	}
	if m.l.broken != nil && m.l.broken(m.text) {
		return nil, errors.New("more than 10 states")
	}
	var s fakeMask
	for id := range int32(m.l.v.Len()) {
		if m.l.v.IsEOG(id) && m.l.complete(m.text) {
			s = append(s, id)
		} else if b := m.l.v.Bytes(id); len(b) > 0 && m.l.viable(m.text+string(b)) {
			s = append(s, id)
		}
	}
	return s, nil
}

type fakeMask []int32

func (s fakeMask) Parts() (vocab.Bitset, []int32) { return nil, s }

func (m *fakeMatcher) Accept(token int32) error {
	if m.done {
		return errors.New("after the end")
	}
	next := m.text
	if m.l.v.IsEOG(token) {
		if !m.l.complete(m.text) {
			return fmt.Errorf("end after %q", m.text)
		}
		m.done = true
	} else {
		next += string(m.l.v.Bytes(token))
		if next == m.text || !m.l.viable(next) {
			return fmt.Errorf("%q after %q", m.l.v.Bytes(token), m.text)
		}
	}
	m.past = append(m.past, m.text)
	m.text = next
	return nil
}

func (m *fakeMatcher) Rollback(n int) error {
	if n > len(m.past) {
		return errors.New("rollback too far")
	}
	if n > 0 {
		m.text, m.done = m.past[len(m.past)-n], false
		m.past = m.past[:len(m.past)-n]
	}
	return nil
}

func (m *fakeMatcher) Accepting() bool { return m.done || m.l.complete(m.text) }

func (m *fakeMatcher) ForcedTokens() []int32 {
	if m.l.forced == nil {
		return nil
	}
	return m.l.v.TokenizeText(nil, []byte(m.l.forced(m.text)))
}

func (m *fakeMatcher) Remaining() []decoder.Piece {
	if m.Accepting() {
		return nil
	}
	return []decoder.Piece{{Text: m.l.shortest(m.text)}}
}

// quoted returns the language of prefix, any number of letters, and suffix.
// Prefix and suffix are forced where nothing else can follow.
func quoted(v *vocab.Vocab, prefix, letters, suffix string) fakeLanguage {
	body := func(text string) (string, bool) { return strings.CutPrefix(text, prefix) }
	split := func(rest string) (tail string) { return strings.TrimLeft(rest, letters) }
	return fakeLanguage{
		v: v,
		viable: func(text string) bool {
			rest, ok := body(text)
			if !ok {
				return strings.HasPrefix(prefix, text)
			}
			return strings.HasPrefix(suffix, split(rest))
		},
		complete: func(text string) bool {
			rest, ok := body(text)
			return ok && split(rest) == suffix
		},
		shortest: func(text string) string {
			rest, ok := body(text)
			if !ok {
				return prefix[len(text):] + suffix
			}
			return suffix[len(split(rest)):]
		},
		forced: func(text string) string {
			rest, ok := body(text)
			if !ok {
				return prefix[len(text):]
			}
			if tail := split(rest); tail != "" {
				return suffix[len(tail):]
			}
			return ""
		},
	}
}
