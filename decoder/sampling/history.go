package sampling

import "math"

// history counts tokens for the penalties: how often each was generated, and
// how often it occurs in the window of the repetition penalty.
type history struct {
	slot   map[int32]int32 // token → position in seen
	seen   []tally
	lastN  int     // length of the window; 0 or less: unbounded
	window []int32 // the latest tokens: grows to lastN, which a request may set to billions, then a ring
	next   int     // position in the ring that the next token takes
}

type tally struct {
	token     int32
	recent    int32 // occurrences in the window
	generated int32 // occurrences in the generated text
}

func newHistory(lastN int) *history {
	return &history{slot: make(map[int32]int32), lastN: lastN}
}

// add records one token, of the prompt or generated.
func (h *history) add(tok int32, generated bool) {
	t := h.tally(tok)
	t.recent++
	if generated {
		t.generated++
	}
	if h.lastN <= 0 {
		return
	}
	if len(h.window) < h.lastN {
		h.window = append(h.window, tok)
		return
	}
	h.tally(h.window[h.next]).recent--
	h.window[h.next] = tok
	h.next = (h.next + 1) % h.lastN
}

func (h *history) tally(tok int32) *tally {
	i, ok := h.slot[tok]
	if !ok {
		i = int32(len(h.seen))
		h.slot[tok] = i
		h.seen = append(h.seen, tally{token: tok})
	}
	return &h.seen[i]
}

// apply returns the logit of t's token after the penalties of o.
func (t *tally) apply(logit float32, o *Options) float32 {
	if t.recent > 0 && o.RepeatPenalty != 1 {
		if logit > 0 {
			logit /= o.RepeatPenalty
		} else {
			logit *= o.RepeatPenalty
		}
	}
	if t.generated > 0 {
		logit -= o.PresencePenalty + float32(t.generated)*o.FrequencyPenalty
	}
	if logit != logit {
		return float32(math.Inf(-1))
	}
	return logit
}
