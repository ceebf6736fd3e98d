package schema

import (
	"errors"

	"github.com/stencil-json/stencil/meter"
	"github.com/stencil-json/stencil/regular"
	"github.com/stencil-json/stencil/schema/language"
	"github.com/stencil-json/stencil/schema/syntax"
)

// source is the decoder's view of a schema: it creates frames as they are reached.
// The parts below it determine what a schema means, each with its own tables; the
// source only dispatches. It is used under its grammar's lock.
type source struct {
	*base
	sets     *keySets
	numbers  *numbers
	views    *views
	texts    *texts
	keys     *keyAutomaton
	objects  *objects
	next     *nextKeys
	arrays   *arrays
	sat      *solver
	shortest *shortest
	frames   *frameTable
	prep     *preparer

	followed bool // other text may follow
}

func newSource(doc *syntax.Document, opt Options, lang *language.Pool, m *meter.Meter) *source {
	s := &source{base: &base{doc: doc, opt: opt, lang: lang, meter: m}}
	s.Reset()
	return s
}

// Stale implements [decoder.Staler]: in a pool of its own, the schema has more room.
func (s *source) Stale() bool {
	_, is := errors.AsType[*regular.LimitError](s.err)
	return is && s.lang.Common()
}

// Follow implements [decoder.Followed].
func (s *source) Follow() { s.followed = true }

// Reset implements [decoder.Source].
func (s *source) Reset() {
	if s.Stale() {
		s.lang = language.New()
	}
	b := newBase(s.doc, s.opt, s.lang, s.meter)
	sets, nums := newKeySets(b), newNumbers(b)
	vs := newViews(b, sets, nums)
	ts := newTexts(b, vs)
	keys := newKeyAutomaton(b, sets, vs, ts)
	sv := newSolver(b, vs, nums)
	dv := newDeriver(b, sets, keys, sv)
	obj := newObjects(b, sets, vs, keys, dv, sv)
	next := newNextKeys(b, sets, ts, keys, obj)
	arr := newArrays(b, vs, dv, sv, obj)
	arr.count = newCounts(b, vs, nums, ts, keys, obj, arr)
	vs.satisfiable, vs.listed, sv.objects, sv.arrays = sv.viewSatisfiable, sv.lists.Values, obj, arr
	frames := newFrameTable(b)
	*s = source{base: b, followed: s.followed, sets: sets, numbers: nums, views: vs, texts: ts, keys: keys,
		objects: obj, next: next, arrays: arr, sat: sv, frames: frames,
		shortest: newShortest(b, sets, vs, nums, ts, keys, obj, next, arr),
		prep:     newPreparer(b, sets, ts, keys, obj, next, frames)}
}

// Err implements [decoder.Source].
func (s *source) Err() error { return s.err }

// SetMeter implements [decoder.Metered].
func (s *source) SetMeter(m *meter.Meter) { s.meter, s.goals.Meter = m, m }

// Exceeded returns the error for a bound of the meter, with the likely cause.
func (s *source) Exceeded(limit *meter.LimitError) error {
	return explained(s.opt.Limits.exceeded(limit), s.doc.Suspects())
}

// Bytes implements [decoder.Source].
func (s *source) Bytes() int {
	return s.goals.Bytes() + s.forms.Bytes() + s.views.bytes() + s.numbers.held.Bytes() + 120*len(s.frames.Keys) +
		200*len(s.objects.states.Keys) + 64*len(s.arrays.states) + 160*len(s.keys.states.Keys) +
		64*len(s.shortest.known) + 64*len(s.objects.moves) + 48*len(s.arrays.moves)
}
