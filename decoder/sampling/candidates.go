package sampling

import (
	"math"
	"slices"
)

// A candidate is a token that no truncation has removed so far. Lists of
// candidates stay in the order of ids.
type candidate struct {
	logit float32
	token int32
}

// before reports whether a is likelier than b; among equals the lower id comes
// first.
func (a candidate) before(b candidate) bool {
	return a.logit > b.logit || a.logit == b.logit && a.token < b.token
}

// topHeap collects the k likeliest of the candidates offered to it. Its root
// is the least likely one kept, so that nearly every offer fails on one
// comparison.
type topHeap struct {
	kept []candidate
	k    int
}

func (h *topHeap) reset(k int) {
	h.k = k
	h.kept = h.kept[:0]
}

// floor returns the logit below which every offer fails. NaN is below any.
func (h *topHeap) floor() float32 {
	if len(h.kept) < h.k {
		return float32(math.Inf(-1))
	}
	return h.kept[0].logit
}

func (h *topHeap) offer(c candidate) {
	if len(h.kept) < h.k {
		h.kept = append(h.kept, c)
		for i := len(h.kept) - 1; i > 0; {
			up := (i - 1) / 2
			if !h.kept[up].before(h.kept[i]) {
				break
			}
			h.kept[up], h.kept[i] = h.kept[i], h.kept[up]
			i = up
		}
		return
	}
	if !c.before(h.kept[0]) {
		return
	}
	h.kept[0] = c
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.kept); child++ {
			if h.kept[worst].before(h.kept[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h.kept[i], h.kept[worst] = h.kept[worst], h.kept[i]
		i = worst
	}
}

func sortByToken(c []candidate) {
	slices.SortFunc(c, func(a, b candidate) int { return int(a.token) - int(b.token) })
}

func sortByLogit(c []candidate) {
	slices.SortFunc(c, func(a, b candidate) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
}

// maxLogit returns the largest logit of c.
func maxLogit(c []candidate) float32 {
	top := c[0].logit
	for _, x := range c[1:] {
		if x.logit > top {
			top = x.logit
		}
	}
	return top
}

// A weighted key orders tokens for a truncation by mass: the smallest keys are
// kept until their masses add up to the share.
type weighted struct {
	key, mass float32
}

// keepMass keeps the candidates with the smallest keys whose masses add up to
// share or more, and at least one. keys holds a key and a mass for each
// candidate and is not modified; scratch is reordered.
func keepMass(c []candidate, keys, scratch []weighted, share float64) []candidate {
	if len(c) == 0 {
		return c
	}
	limit, rest := massThreshold(scratch, share)
	kept := c[:0]
	for i, x := range c {
		k := keys[i]
		switch {
		case k.key < limit:
			kept = append(kept, x)
		case k.key == limit && (rest > 0 || len(kept) == 0):
			kept = append(kept, x)
			rest -= float64(k.mass)
		}
	}
	return kept
}

// massThreshold returns the key at which the sum of masses, in the order of
// keys, reaches share, and the part of share that the keys below it leave over.
// It is a quickselect by mass: linear on average, and it reorders w.
func massThreshold(w []weighted, share float64) (limit float32, rest float64) {
	for {
		if len(w) == 1 {
			return w[0].key, share
		}
		pivot := median(w[0].key, w[len(w)/2].key, w[len(w)-1].key)
		// Three parts: below the pivot, equal to it, above it.
		low, i, high := 0, 0, len(w)
		var below, equal float64
		for i < high {
			switch k := w[i].key; {
			case k < pivot:
				below += float64(w[i].mass)
				w[low], w[i] = w[i], w[low]
				low++
				i++
			case k == pivot:
				equal += float64(w[i].mass)
				i++
			default:
				high--
				w[i], w[high] = w[high], w[i]
			}
		}
		switch {
		case low > 0 && below >= share:
			w = w[:low]
		case below+equal >= share || high == len(w):
			return pivot, share - below
		default:
			share -= below + equal
			w = w[high:]
		}
	}
}

func median(a, b, c float32) float32 {
	return max(min(a, b), min(max(a, b), c))
}
