package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/engine/prefix"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/vocab"
)

// A job is a request within the engine. Its sequences belong to the loop; ctx and stream are
// safe for concurrent use.
type job struct {
	req       Request
	owner     string         // of its prompt and what follows
	cutting   prefix.Cutting // of its prompt
	ctx       context.Context
	cancel    context.CancelCauseFunc
	forget    func() // ends ctx and its watchers without waking the loop
	stream    *Stream
	sequences []*sequence
	begun     int   // sequences that have left the queue
	open      int   // sequences that have not ended
	away      int   // sequences that are away
	lost      error // why the job ended, while some of its sequences are still away
	submitted time.Time

	shelf           *promptcache.Shelf // of its owner; nil: none
	readable, known int                // tokens of the prompt that can be read from disk, and that are stored there or about to be
}

// A sequence is one choice of a job.
type sequence struct {
	job     *job
	choice  int
	errand  func(*sequence) // the step for a worker to run
	back    chan struct{}   // signals that the step is done; of capacity 1
	stage   stage
	toll    *toll
	slow    int  // for so many further steps it counts as slow: see slowFor
	outside bool // it is away
	emptied bool // its slot lost its KV cells while it was away

	looking sync.Mutex // guards logits while they are read or replaced by a copy
	vocab   *vocab.Vocab

	tokens   []int32   // the prompt and the generated tokens
	prompt   int       // number of prompt tokens
	reported int       // prompt tokens reported in events, plus one
	cached   int       // tokens in the slot when it was first acquired
	asked    *Question // nil: a text is generated
	slot     *slot
	taken    int // number of its tokens in the running batch
	row      int // its row of logits in the running batch, -1 if none
	logits   []float32
	shared   int                // number of its tokens in other slots' cells when it got its own
	ready    bool               // begin has run
	sits     bool               // it has a place, result.Place
	primed   bool               // the whole prompt has been decoded once
	stored   *stored            // being read from disk for it, until it has its slot
	from     origin             // of the reused part of its prompt
	stops    []stop             // where its state is to be saved, in order
	kind     prefix.Kind        // how its tokens in the running batch are computed
	given    []float32          // the logits after all of its tokens, from an earlier request
	watch    func(Passage) bool // Request.Watch; may be nil
	until    func([]byte) (int, bool)
	recast   Recaster // Request.Recast; may be nil
	again    *Recast  // what it returned, until the next token

	changed bool // the tokens in the context have been replaced since the last decode
	shrunk  int  // number of generated tokens missing from the context

	model  string // for messages
	looked bool   // whether the logits have been checked to be finite

	drafter  *drafter // nil if it has no drafts
	sampler  *sampling.Sampler
	measurer *sampling.Measurer // nil unless probabilities are wanted
	gate     *sampling.Measurer // of Request.Gate and Request.Doubt; nil until it is needed
	doubt    *doubt             // until Request.Doubt is decided
	holding  bool               // nothing is sent until then
	matcher  Matcher            // nil for free text
	budget   *budget            // nil for free text and with Request.Truncate
	mask     sampling.Set
	masked   bool    // mask is that of the current position
	exclude  []int32 // scratch of choose
	one      [1]int32
	few      []int32 // the tokens that the mask allows at the current position, if they are few

	tracing   *tracing
	masking   time.Duration // recent mean duration of a mask
	advancing time.Duration // duration of the last advance, without waited
	waited    time.Duration // of the current one: for another request

	tail      textTail
	size      int          // of the whole text in bytes
	parts     *partTracker // nil unless the constraint is a sequence
	text      []byte       // text ready to be sent
	sent      int          // how much of it has been sent
	told      time.Time    // when the last event was sent
	done      bool         // the result has been sent
	unsent    []Token
	passages  []Passage
	result    Result
	limits    ConstraintResult
	ended     bool
	err       error
	started   time.Time
	prefilled time.Time
}

// progress sends how much of the prompt is known, unless it has been sent already.
func (s *sequence) progress(now time.Time, known int) {
	if known = min(known, s.prompt); !s.job.req.Progress || s.choice > 0 || s.primed || s.asked != nil || known < s.reported {
		return
	}
	s.reported = known + 1
	s.job.stream.send(Event{Choice: s.choice, Progress: &Progress{Total: s.prompt, Cached: s.cached, Known: known, Took: now.Sub(s.started)}})
}

// left returns how many tokens may still be generated.
func (s *sequence) left() int {
	return s.job.req.MaxTokens - max(s.generated(), len(s.tokens)-s.prompt)
}

func (s *sequence) generated() int { return len(s.tokens) - s.prompt + s.shrunk }

// pending returns the tokens that have not been decoded.
func (s *sequence) run() run { return run{s.job.owner, s.tokens} }

func (s *sequence) pending() []int32 { return s.tokens[len(s.slot.tokens):] }

// begin appends what the constraint forces at the start, before anything has been decoded. It
// runs on a worker.
func (s *sequence) begin() {
	s.sampler.Prompt(s.tokens[:s.prompt])
	if s.matcher == nil {
		return
	}
	if s.force(); !s.ended {
		s.settle()
	}
}

// prepare makes mask that of the current position. It runs on a worker during decoding, if that
// is worth it.
func (s *sequence) prepare() {
	if s.matcher == nil || s.masked || s.ended {
		return
	}
	start := time.Now()
	mask, err := s.matcher.Mask()
	took := time.Since(start)
	if err != nil {
		s.fail(s.constraintError(err))
		return
	}
	s.mask, s.masked = mask, true
	s.limits.Masks++
	s.limits.MaskTotal += took
	s.limits.MaskMax = max(s.limits.MaskMax, took)
	s.masking = recent(s.masking, took)
	s.tracing.span(PartMask, start, s, 0)
}

// constraintError returns the error for a refusal by the matcher, or for what made the matcher
// unusable, if known.
func (s *sequence) constraintError(err error) error {
	if cause := matcherErr(s.matcher); cause != nil {
		err = cause
	}
	return s.refused(err)
}

// advance samples the next token from the logits, and appends it and the text forced after it.
// It continues while the batch contains guesses that came true. Several sequences may advance
// in parallel.
func (s *sequence) advance() {
	start := time.Now()
	s.goOn()
	for s.draftCame() && !s.ended {
		s.goOn()
	}
	s.advancing, s.waited = time.Since(start)-s.waited, 0
}

// draftCame makes the logits after a guess that came true the current ones.
func (s *sequence) draftCame() bool {
	d := s.drafter
	if d == nil || d.used == 0 || s.changed {
		return false
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	logits := d.after(s.tokens)
	if logits != nil {
		s.logits = logits
	}
	return logits != nil
}

// measure measures the logits before sampling. It reports whether they are finite.
func (s *sequence) measure() (measured sampling.Measurement, ok bool) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if !s.looked {
		s.looked = true
		if !finite(s.logits) {
			return measured, false
		}
	}
	if s.measurer != nil {
		start := s.tracing.clock()
		measured = s.measurer.Measure(s.logits, s.mask, s.job.req.Alternatives)
		s.tracing.span(PartMeasure, start, s, 0)
	}
	return measured, true
}

// logprob returns the log probability of a token at the current position.
func (s *sequence) logprob(m *sampling.Measurement, token int32) float32 {
	s.looking.Lock()
	defer s.looking.Unlock()
	return m.LogprobIn(s.logits, token)
}

// sample draws a token.
func (s *sequence) sample() (token int32, err error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.sampler.Sample(s.logits, s.mask, s.exclude)
}

// possible reports whether a token's logit is finite.
func (s *sequence) possible(token int32) bool {
	s.looking.Lock()
	defer s.looking.Unlock()
	return s.logits[token] <= math.MaxFloat32
}

func (s *sequence) goOn() {
	if s.prepare(); s.ended {
		return
	}
	measured, ok := s.measure()
	if !ok {
		s.fail(&LogitsError{s.model})
		return
	}
	if s.asked != nil {
		for _, token := range s.asked.Tokens {
			s.result.Scores = append(s.result.Scores, float64(s.logprob(&measured, token)))
		}
		s.end(FinishStop)
		return
	}
	s.few = s.fewOptions()
	s.doubt.look(&measured)
	token, ok := s.choose()
	if !ok || s.ended {
		return
	}
	if !s.has(token) {
		return
	}
	s.doubt.sampled(token)
	if !s.possible(token) {
		s.fail(&LogitsError{s.model})
		return
	}
	if s.vocab.IsEOG(token) {
		s.end(FinishStop)
		return
	}
	s.append(token, false, &measured)
	if s.matcher != nil && !s.ended {
		start := s.tracing.clock()
		s.force()
		s.tracing.span(PartForce, start, s, 0)
	}
	if !s.ended {
		s.doubt.decide(false)
	}
	if !s.ended {
		s.reread()
	}
	if !s.ended {
		s.settle()
	}
}

// reread replaces the text in the model's context by other tokens, if Request.Recast returns
// any.
func (s *sequence) reread() {
	if s.recast == nil {
		return
	}
	r := s.recast(s.parts.m.Spans(), s.parts.raw)
	if r == nil {
		return
	}
	s.recast = nil
	as := r.Tokens
	if growth := s.prompt + len(as) - len(s.tokens); growth >= s.left() {
		return
	}
	for _, token := range as {
		if !s.has(token) {
			return
		}
	}
	s.shrunk = len(s.tokens) - s.prompt - len(as)
	s.tokens = append(s.tokens[:s.prompt:s.prompt], as...)
	s.changed, s.again = true, r
}

// has fails the sequence if the token does not exist: in a batch it would fail the other
// sequences too.
func (s *sequence) has(token int32) bool {
	if token < 0 || int(token) >= s.vocab.Len() {
		s.fail(fmt.Errorf("engine: token %d is not in the vocabulary of %d", token, s.vocab.Len()))
		return false
	}
	return true
}

// finite reports whether a row of logits is valid: none is NaN or +Inf, and not all are -Inf.
func finite(logits []float32) bool {
	some := false
	for _, l := range logits {
		if !(l <= math.MaxFloat32) {
			return false
		}
		some = some || l >= -math.MaxFloat32
	}
	return some
}

// maxOptions is how many tokens count as few: more than the tokens with which an enumeration
// can continue, fewer than those for a number.
const maxOptions = 256

// fewOptions returns the tokens that the mask allows if they are few and the request wants
// them.
func (s *sequence) fewOptions() []int32 {
	if s.matcher == nil || !s.job.req.Measure {
		return nil
	}
	base, extra := s.mask.Parts()
	if base != nil || len(extra) > maxOptions {
		return nil
	}
	return extra
}

// isFree reports whether the text is currently free: without a constraint, or in a segment
// without one.
func (s *sequence) isFree() bool {
	if s.matcher == nil {
		return true
	}
	return s.parts != nil && s.parts.m.Free()
}

// settle ends the sequence if nothing more can or may follow.
func (s *sequence) settle() {
	if s.matcher != nil && s.onlyEndFollows() {
		s.limits.SavedSteps++
		s.end(FinishStop)
		return
	}
	switch {
	case s.ended || s.left() > 0:
	case s.budget != nil && !s.isFree():
		// By the invariant, the text is complete; it could have continued.
		if !s.matcher.Accepting() {
			s.fail(s.constraintError(errors.New("the document is not complete at the end of its budget")))
			return
		}
		s.closing()
		s.end(FinishStop)
	default:
		s.end(FinishLength)
	}
}

// closing records that the budget restricts the text from here on.
func (s *sequence) closing() {
	if !s.limits.BudgetClosed {
		s.limits.BudgetClosed, s.limits.Closing = true, s.size
	}
}

// maxTries is how many tokens that exceed the budget are sampled at one place before the
// planned completion is used. Each try costs a matcher step and a pass over the logits.
const maxTries = 16

// choose samples the next token and has the matcher, if any, accept it. It returns false if the
// sequence has ended instead.
func (s *sequence) choose() (int32, bool) {
	s.prepare()
	if s.ended {
		return 0, false
	}
	s.exclude = append(s.exclude[:0], s.withheld()...)
	if s.generated() < s.job.req.MinTokens {
		s.exclude = append(s.exclude, s.vocab.EOG()...)
	}
	withheld := len(s.exclude)
	if s.ended {
		return 0, false
	}
	for {
		start := s.tracing.clock()
		token, err := s.sample()
		start = s.tracing.span(PartSample, start, s, 1)
		switch {
		case err != nil && len(s.exclude) > withheld:
			return s.follow()
		case errors.Is(err, sampling.ErrEmpty) && s.matcher != nil && s.matcher.Accepting():
			s.end(FinishStop) // a vocabulary without end-of-generation tokens
			return 0, false
		case err != nil:
			s.fail(s.constraintError(err))
			return 0, false
		}
		if s.matcher == nil || s.vocab.IsEOG(token) {
			return token, true
		}
		if err := s.matcher.Accept(token); err != nil {
			s.fail(s.constraintError(err))
			return 0, false
		}
		s.masked = false
		if s.budget == nil {
			s.tracing.span(PartAccept, start, s, 1)
			return token, true
		}
		s.one[0] = token
		if s.budget.fits(s.one[:], s.left()-1) {
			s.budget.commit()
			s.tracing.span(PartAccept, start, s, 1)
			return token, true
		}
		if err := s.matcher.Rollback(1); err != nil {
			s.fail(s.constraintError(err))
			return 0, false
		}
		s.masked = true
		s.closing()
		if s.exclude = append(s.exclude, token); len(s.exclude)-withheld >= maxTries {
			return s.follow()
		}
	}
}

// follow takes the next token of the budget's completion, or ends the text if it is complete.
func (s *sequence) follow() (int32, bool) {
	s.closing()
	plan := s.budget.complete()
	if len(plan) == 0 {
		if !s.matcher.Accepting() {
			s.fail(s.constraintError(errors.New("no spelling of a completion in this vocabulary")))
			return 0, false
		}
		s.end(FinishStop)
		return 0, false
	}
	token := plan[0]
	if err := s.matcher.Accept(token); err != nil {
		s.fail(s.constraintError(err))
		return 0, false
	}
	s.masked = false
	s.one[0] = token
	if !s.budget.fits(s.one[:], s.left()-1) {
		s.fail(s.constraintError(errors.New("the planned completion does not fit the budget")))
		return 0, false
	}
	s.budget.commit()
	return token, true
}

// force appends the text that must follow, if it fits the budget.
func (s *sequence) force() {
	if s.job.req.NoForced {
		return
	}
	forced := s.matcher.ForcedTokens()
	if err := matcherErr(s.matcher); err != nil {
		s.fail(s.refused(err))
		return
	}
	if s.budget == nil {
		forced = forced[:min(len(forced), max(0, s.left()))]
	}
	if len(forced) == 0 {
		return
	}
	at := len(s.tokens)
	s.tokens = append(s.tokens, forced...) // forced belongs to the matcher; this is a copy
	forced = s.tokens[at:]
	s.tokens = s.tokens[:at]
	for i, token := range forced {
		if err := s.matcher.Accept(token); err != nil {
			s.fail(s.constraintError(errors.Join(err, s.matcher.Rollback(i))))
			return
		}
	}
	if s.budget != nil {
		if !s.budget.fits(forced, s.left()-len(forced)) {
			// The budget's own tokens for the same text do fit; they are sampled, with few alternatives.
			if err := s.matcher.Rollback(len(forced)); err != nil {
				s.fail(s.constraintError(err))
			}
			return
		}
		s.budget.commit()
	}
	s.masked = false
	s.limits.ForcedTokens += len(forced)
	s.limits.SavedSteps += len(forced)
	for _, token := range forced {
		s.append(token, true, nil)
	}
}

// append adds a token to the text.
func (s *sequence) append(token int32, forced bool, measured *sampling.Measurement) {
	if !s.has(token) {
		return
	}
	if !forced { // else it is a part of PartForce
		start := s.tracing.clock()
		defer func() { s.tracing.span(PartText, start, s, 1) }()
	}
	s.tokens = append(s.tokens, token)
	s.sampler.Accept(token)
	b := s.vocab.Bytes(token)
	if s.job.req.Special && s.matcher == nil && b == nil {
		b = []byte(s.vocab.Piece(token))
	}
	if s.measurer != nil {
		t := Token{ID: token, Bytes: b, Forced: forced}
		if !forced {
			t.Logprob = s.logprob(measured, token)
			t.Top = append(t.Top, measured.Top...)
			t.Allowed = measured.Allowed
			if req := &s.job.req; req.Sampling.Keep {
				t.Kept, t.KeptLogprob = s.sampler.Kept(nil, req.Alternatives), s.sampler.KeptLogprob(token)
			}
			for _, option := range s.few {
				t.Options = append(t.Options, sampling.Alternative{Token: option, Logprob: s.logprob(measured, option)})
			}
		}
		s.unsent = append(s.unsent, t)
	}
	s.size += len(b)
	if s.parts != nil {
		s.parts.raw = append(s.parts.raw, b...)
		if s.measurer != nil && len(b) > 0 {
			t := &s.unsent[len(s.unsent)-1]
			segment, start := s.parts.segmentAt(s.size)
			t.Segment, t.Before = segment, max(0, start-(s.size-len(b)))
		}
		s.tell(false)
		return
	}
	s.tail.stops = nil
	if s.isFree() && s.generated() > s.job.req.MinTokens {
		s.tail.stops = s.job.req.Stop
	}
	text, stop := s.tail.add(b)
	s.text = append(s.text, text...)
	s.stop(stop)
	if s.until == nil && s.job.req.Until != nil {
		s.until = s.job.req.Until()
	}
	if s.until != nil && !s.ended && s.isFree() {
		if keep, ends := s.until(s.text); ends {
			s.text = s.text[:min(max(keep, s.sent), len(s.text))]
			s.tail.held = s.tail.held[:0]
			s.end(FinishLength)
		}
	}
}

// stop ends the text at a stop string, unless stop is empty.
func (s *sequence) stop(stop string) {
	if stop != "" {
		s.result.StopString = stop
		s.end(FinishStop)
	}
}

// tell adds the text in parts that can be sent; all of it once it is complete.
func (s *sequence) tell(complete bool) {
	if s.holding = !complete && s.doubt.holds(); s.holding {
		return
	}
	parts, more := s.parts.next(complete)
	for i, p := range parts {
		s.tail.stops = nil
		if s.parts.m.EndsAnywhere(p.Segment) && s.generated() > s.job.req.MinTokens {
			s.tail.stops = s.job.req.Stop
		}
		text, stop := s.tail.add([]byte(p.Text))
		if stop == "" && (complete || !more[i]) {
			text += s.tail.flush()
		}
		s.text = append(s.text, text...)
		s.passages = appendPassage(s.passages, Passage{p.Segment, p.Visit, text})
		if stop != "" {
			s.stop(stop)
			return
		}
		if s.watch != nil && s.watch(Passage{p.Segment, p.Visit, text}) && !complete {
			s.end(FinishStop)
			return
		}
	}
}

// onlyEndFollows reports whether the text is complete and can't continue.
func (s *sequence) onlyEndFollows() bool {
	if !s.matcher.Accepting() {
		return false
	}
	if s.prepare(); s.ended {
		return false
	}
	base, extra := s.mask.Parts()
	ends := len(s.vocab.EOG())
	if len(extra)+base.Count() > ends {
		return false
	}
	for _, t := range base.AppendTo(extra[:len(extra):len(extra)]) {
		if !s.vocab.IsEOG(t) {
			return false
		}
	}
	return true
}

func (s *sequence) end(reason FinishReason) {
	s.ended = true
	s.result.Finish = reason
	if s.parts != nil && s.result.StopString == "" {
		if s.doubt.decide(true); s.err == nil && !s.limits.Unwanted {
			s.tell(true)
		}
		return
	}
	s.text = append(s.text, s.tail.flush()...)
}

func (s *sequence) fail(err error) {
	s.ended = true
	s.err = err
}

// summary completes the result of a sequence that has ended.
func (s *sequence) summary(now time.Time) *Result {
	r := s.result
	r.Text, r.Tokens = string(s.text), slices.Clone(s.tokens[s.prompt:])
	r.Seed = s.job.req.Sampling.Seed + uint64(s.choice)
	r.PromptTokens, r.CachedTokens, r.CompletionTokens = s.prompt, min(s.cached, s.prompt), s.generated()
	if s.prefilled.IsZero() {
		s.prefilled = now
	}
	r.Timings = Timings{Queued: s.started.Sub(s.job.submitted), Prompt: s.prefilled.Sub(s.started), Generate: now.Sub(s.prefilled)}
	if d := s.drafter; d != nil {
		r.DraftTokens, r.AcceptedTokens = d.drafted, d.accepted
	}
	if s.matcher != nil {
		limits := s.limits
		r.Constraint = &limits
	}
	return &r
}
