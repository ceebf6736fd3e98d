package sampling

import (
	"math"
	"slices"
)

// naive is a straightforward sampler: float64, one map of allowed tokens, full
// sorts. It is the oracle of the tests.
type naive struct {
	opt       Options
	dense     bool // the allowed set has a bitset
	prompt    []int32
	generated []int32
}

type naiveToken struct {
	id    int32
	logit float64
	first bool // has a bias or a penalty; such tokens come first in a draw without truncations
}

type verdict struct {
	token int32
	kept  []int32
	close bool // a decision depends on less than float32 resolves
}

const tolerance = 1e-5

func (n *naive) sample(logits []float32, allowed map[int32]bool, uniform float64) verdict {
	var v verdict
	var list []naiveToken
	for id, l := range logits {
		t := naiveToken{id: int32(id), logit: float64(l)}
		if !allowed[t.id] || !n.adjust(&t) {
			continue
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return verdict{token: -1}
	}
	if n.opt.Temperature == 0 {
		n.sortByLogit(list)
		v.close = len(list) > 1 && list[0].logit-list[1].logit < tolerance && list[0].first != list[1].first
		v.token = list[0].id
		return v
	}
	truncated := false
	if k := n.opt.TopK; k > 0 {
		truncated = true
		n.sortByLogit(list)
		if k < len(list) {
			v.close = v.close || nearTie(list[k-1], list[k])
			list = list[:k]
		}
	}
	if n.opt.TypicalP > 0 && n.opt.TypicalP < 1 {
		truncated = true
		z := n.sum(list, 1)
		var entropy float64
		for _, t := range list {
			p := math.Exp(t.logit) / z
			if p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		key := func(t naiveToken) float64 { return math.Abs(-math.Log(math.Exp(t.logit)/z) - entropy) }
		list = n.keep(list, key, float64(n.opt.TypicalP), &v.close)
	}
	if n.opt.TopP > 0 && n.opt.TopP < 1 {
		truncated = true
		list = n.keep(list, func(t naiveToken) float64 { return -t.logit }, float64(n.opt.TopP), &v.close)
	}
	if n.opt.MinP > 0 {
		truncated = true
		n.sortByLogit(list)
		floor := list[0].logit + math.Log(float64(n.opt.MinP))
		var kept []naiveToken
		for _, t := range list {
			if math.Abs(t.logit-floor) < tolerance {
				v.close = true
			}
			if t.logit >= floor {
				kept = append(kept, t)
			}
		}
		list = kept
	}
	slices.SortFunc(list, func(a, b naiveToken) int { return int(a.id) - int(b.id) })
	for _, t := range list {
		v.kept = append(v.kept, t.id)
	}
	if !truncated && n.dense {
		slices.SortStableFunc(list, func(a, b naiveToken) int {
			switch {
			case a.first == b.first:
				return 0
			case a.first:
				return -1
			}
			return 1
		})
	}
	scale := 1 / float64(n.opt.Temperature)
	total := n.sum(list, scale)
	target := uniform * total
	for _, t := range list {
		w := math.Exp(t.logit * scale)
		if math.Abs(target-w) < tolerance*total {
			v.close = true
		}
		v.token = t.id
		if target < w {
			break
		}
		target -= w
	}
	return v
}

func (n *naive) adjust(t *naiveToken) bool {
	for _, b := range n.opt.LogitBias {
		if b.Token == t.id {
			t.logit += float64(b.Add)
			t.first = true
		}
	}
	all := append(slices.Clone(n.prompt), n.generated...)
	lastN := n.opt.RepeatLastN
	if lastN == 0 {
		lastN = DefaultRepeatLastN
	}
	if lastN > 0 && len(all) > lastN {
		all = all[len(all)-lastN:]
	}
	penalised := n.opt.RepeatPenalty != 0 && n.opt.RepeatPenalty != 1 || n.opt.PresencePenalty != 0 || n.opt.FrequencyPenalty != 0
	if penalised && slices.Contains(all, t.id) {
		t.first = true
		if p := float64(n.opt.RepeatPenalty); p != 0 && p != 1 {
			if t.logit > 0 {
				t.logit /= p
			} else {
				t.logit *= p
			}
		}
	}
	count := 0
	for _, g := range n.generated {
		if g == t.id {
			count++
		}
	}
	if penalised && count > 0 {
		t.first = true
		t.logit -= float64(n.opt.PresencePenalty) + float64(count)*float64(n.opt.FrequencyPenalty)
	}
	return !math.IsInf(t.logit, -1)
}

func (n *naive) sum(list []naiveToken, scale float64) float64 {
	var z float64
	for _, t := range list {
		z += math.Exp(t.logit * scale)
	}
	return z
}

func (n *naive) keep(list []naiveToken, key func(naiveToken) float64, share float64, close *bool) []naiveToken {
	slices.SortFunc(list, func(a, b naiveToken) int {
		switch ka, kb := key(a), key(b); {
		case ka < kb:
			return -1
		case ka > kb:
			return 1
		}
		return int(a.id) - int(b.id)
	})
	z := n.sum(list, 1)
	var sum float64
	for i, t := range list {
		sum += math.Exp(t.logit) / z
		if math.Abs(sum-share) < tolerance {
			*close = true
		}
		if sum >= share {
			if i+1 < len(list) && math.Abs(key(list[i])-key(list[i+1])) < tolerance {
				*close = true
			}
			return list[:i+1]
		}
	}
	return list
}

func (n *naive) sortByLogit(list []naiveToken) {
	slices.SortFunc(list, func(a, b naiveToken) int {
		switch {
		case a.logit > b.logit:
			return -1
		case a.logit < b.logit:
			return 1
		}
		return int(a.id) - int(b.id)
	})
}

// nearTie reports whether float32 arithmetic may order two tokens differently.
// Logits taken unchanged from the row can't be confused.
func nearTie(a, b naiveToken) bool {
	return (a.first || b.first) && math.Abs(a.logit-b.logit) < tolerance
}
