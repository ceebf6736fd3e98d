package sampling

import (
	"math"
	"math/bits"
	"slices"

	"github.com/stencil-json/stencil/vocab"
)

// A Step is one of the steps between the logits and the draw. Options that name the steps, and the
// options of some steps, need a slower path, which holds every allowed token in a list; see
// [Options.Chained].
type Step uint8

// The steps. Bias comes before all of them.
const (
	Penalties Step = iota // repetition, frequency and presence penalties
	DRY
	TopNSigma
	TopK
	Typical
	TopP
	MinP
	XTC
	Temperature // fixed, or set by the entropy of the remaining tokens
)

// DefaultSteps is the order of the steps if Options.Steps is nil.
var DefaultSteps = []Step{Penalties, DRY, TopNSigma, TopK, Typical, TopP, MinP, XTC, Temperature}

// Chained reports whether the options need the slower path.
func (o *Options) Chained() bool {
	return o.Keep || o.Steps != nil || o.Mirostat != 0 || o.TopNSigma > 0 || o.DRYMultiplier != 0 || o.XTCProbability > 0 || o.DynatempRange > 0
}

// A chain is the state of the slower path between tokens.
type chain struct {
	steps  []Step
	kept   []candidate // the tokens that the last one was drawn from, with the logits of the draw
	tokens []int32     // prompt and text, for DRY
	match  []int32     // scratch: see matches
	after  map[int32]int32
	mu     float64 // of mirostat
	drawn  int32   // the token drawn last, or -1; change is its effect on mu
	change float64
}

func newChain(o *Options) *chain {
	c := &chain{steps: o.Steps, mu: 2 * float64(o.MirostatTau), drawn: -1}
	if c.steps == nil {
		c.steps = DefaultSteps
	}
	if o.Mirostat != 0 {
		c.steps = []Step{Temperature} // replaces the truncations
		if o.penalises() {
			c.steps = []Step{Penalties, Temperature}
		}
	}
	return c
}

// sampleChain draws a token, applying the steps in their order.
func (s *Sampler) sampleChain(logits []float32, base vocab.Bitset, extra, exclude []int32) (int32, error) {
	c := s.chain
	s.list = s.list[:0]
	add := func(t int32) {
		if slices.Contains(exclude, t) {
			return
		}
		if l, ok := s.biased(t, logits[t]); ok {
			s.list = append(s.list, candidate{l, t})
		}
	}
	for i, word := range base {
		for ; word != 0; word &= word - 1 {
			add(int32(i*64 + bits.TrailingZeros64(word)))
		}
	}
	for _, t := range extra {
		if base == nil || !base.Has(t) {
			add(t)
		}
	}
	c.drawn = -1
	if len(s.list) == 0 {
		return -1, ErrEmpty
	}
	sortByToken(s.list)
	if top := maxLogit(s.list); math.IsInf(float64(top), 0) {
		return s.only(likeliest(s.list)), nil
	}
	greedy := s.opt.Temperature == 0 && s.opt.DynatempRange == 0
	for _, step := range c.steps {
		if greedy && step != Penalties && step != DRY {
			continue // the likeliest token is drawn regardless of truncations
		}
		best := likeliest(s.list)
		switch step {
		case Penalties:
			s.penalties()
		case DRY:
			s.dry()
		case TopNSigma:
			s.topNSigma()
		case TopK:
			if k := s.opt.TopK; k > 0 && k < len(s.list) {
				s.heap.reset(k)
				for _, one := range s.list {
					s.heap.offer(one)
				}
				s.takeHeap()
			}
		case Typical:
			s.typical()
		case TopP:
			s.topP()
		case MinP:
			s.minP()
		case XTC:
			s.xtc(len(exclude))
		case Temperature:
			s.heat()
		}
		if len(s.list) == 0 || math.IsInf(float64(maxLogit(s.list)), 0) { // absurd options can overflow
			return s.only(best), nil
		}
	}
	if greedy {
		return s.only(likeliest(s.list)), nil
	}
	if s.opt.Mirostat != 0 {
		s.surprising()
	}
	c.kept = append(c.kept[:0], s.list...)
	token := s.drawAt(1, len(exclude))
	if s.opt.Mirostat != 0 {
		c.drawn, c.change = token, float64(s.opt.MirostatEta)*(s.surprise(token)-float64(s.opt.MirostatTau))
	}
	return token, nil
}

// only records a draw without alternatives.
func (s *Sampler) only(token int32) int32 {
	s.chain.kept = append(s.chain.kept[:0], candidate{0, token})
	return token
}

// biased returns the logit of a token after its bias; false if a bias of -Inf forbids the token.
func (s *Sampler) biased(t int32, logit float32) (float32, bool) {
	if i, found := slices.BinarySearchFunc(s.opt.LogitBias, t, func(b Bias, t int32) int { return int(b.Token) - int(t) }); found {
		if logit += s.opt.LogitBias[i].Add; math.IsInf(float64(s.opt.LogitBias[i].Add), -1) {
			return 0, false
		}
	}
	if logit != logit {
		logit = float32(math.Inf(-1))
	}
	return logit, true
}

func (s *Sampler) penalties() {
	if s.history == nil {
		return
	}
	for i := range s.list {
		if at, seen := s.history.slot[s.list[i].token]; seen {
			s.list[i].logit = s.history.seen[at].apply(s.list[i].logit, &s.opt)
		}
	}
}

// topNSigma keeps the logits within TopNSigma standard deviations of the largest one.
func (s *Sampler) topNSigma() {
	if s.opt.TopNSigma <= 0 {
		return
	}
	top := maxLogit(s.list)
	n, mean := 0.0, 0.0
	for _, c := range s.list {
		if !math.IsInf(float64(c.logit), 0) {
			n++
			mean += float64(c.logit)
		}
	}
	mean /= n
	variance := 0.0
	for _, c := range s.list {
		if !math.IsInf(float64(c.logit), 0) {
			variance += (float64(c.logit) - mean) * (float64(c.logit) - mean)
		}
	}
	floor := top - s.opt.TopNSigma*float32(math.Sqrt(variance/n))
	s.list = slices.DeleteFunc(s.list, func(c candidate) bool { return c.logit < floor })
}

// xtc drops, with probability XTCProbability, all likely tokens except the least likely of them.
func (s *Sampler) xtc(attempt int) {
	if s.opt.XTCProbability <= 0 || s.opt.XTCThreshold > 0.5 || len(s.list) < 2 {
		return
	}
	const salt = 0x785443 // makes the number differ from the draw's
	x := mix(s.opt.Seed + mix(s.position+mix(uint64(attempt)+salt)))
	if float64(x>>11)/(1<<53) >= float64(s.opt.XTCProbability) {
		return
	}
	top, total := maxLogit(s.list), 0.0
	for _, c := range s.list {
		total += float64(weight(top - c.logit))
	}
	floor := top + float32(math.Log(float64(s.opt.XTCThreshold)*total))
	if s.opt.XTCThreshold == 0 {
		floor = float32(math.Inf(-1))
	}
	least, n := candidate{float32(math.Inf(1)), -1}, 0
	for _, c := range s.list {
		if c.logit >= floor {
			n++
			if c.logit < least.logit {
				least = c
			}
		}
	}
	if n < 2 {
		return
	}
	s.list = slices.DeleteFunc(s.list, func(c candidate) bool { return c.logit >= floor && c.token != least.token })
}

// heat divides the logits by the temperature. With a dynamic range, the entropy determines the
// temperature within it.
func (s *Sampler) heat() {
	t := float64(s.opt.Temperature)
	if r := float64(s.opt.DynatempRange); r > 0 && len(s.list) > 1 {
		top, total, entropy := maxLogit(s.list), 0.0, 0.0
		for _, c := range s.list {
			total += math.Exp(float64(c.logit - top))
		}
		for _, c := range s.list {
			if p := math.Exp(float64(c.logit-top)) / total; p > 0 {
				entropy -= p * math.Log(p)
			}
		}
		low := max(0, t-r)
		exponent := float64(s.opt.DynatempExponent)
		t = low + (t+r-low)*math.Pow(entropy/math.Log(float64(len(s.list))), exponent)
	}
	scale := float32(1 / max(t, MinTemperature))
	top := maxLogit(s.list)
	for i := range s.list {
		s.list[i].logit = (s.list[i].logit - top) * scale
	}
}

// surprising truncates the list by mirostat: version 2 keeps the tokens that surprise by at most mu
// bits, version 1 as many tokens as Zipf's law, fitted to the likeliest 100, implies for mu.
func (s *Sampler) surprising() {
	slices.SortFunc(s.list, func(a, b candidate) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	top, total := s.list[0].logit, 0.0
	for _, c := range s.list {
		total += math.Exp(float64(c.logit - top))
	}
	keep := 0
	if s.opt.Mirostat == 2 {
		for keep < len(s.list) && -math.Log2(math.Exp(float64(s.list[keep].logit-top))/total) <= s.chain.mu {
			keep++
		}
	} else {
		const most = 100
		ratio, squares := 0.0, 0.0
		for i := 0; i+1 < min(most, len(s.list)); i++ {
			t := math.Log(float64(i+2) / float64(i+1))
			ratio += t * float64(s.list[i].logit-s.list[i+1].logit)
			squares += t * t
		}
		zipf := ratio / max(squares, 1e-9)
		e := zipf - 1
		k := math.Pow(e*math.Pow(2, s.chain.mu)/(1-math.Pow(float64(s.size), -e)), 1/zipf)
		if !(k < float64(len(s.list))) {
			k = float64(len(s.list))
		}
		keep = int(k)
	}
	s.list = s.list[:min(max(keep, 1), len(s.list))]
	sortByToken(s.list)
}

// surprise returns the surprise of a token of the list, in bits.
func (s *Sampler) surprise(token int32) float64 {
	top, total, its := maxLogit(s.list), 0.0, 0.0
	for _, c := range s.list {
		w := math.Exp(float64(c.logit - top))
		total += w
		if c.token == token {
			its = w
		}
	}
	return -math.Log2(its / total)
}

// accept records a token of the text and updates mu.
func (c *chain) accept(token int32, o *Options) {
	if token == c.drawn {
		c.mu -= c.change
	}
	c.drawn = -1
	c.note(token, o)
}

// note records a token of prompt or text.
func (c *chain) note(token int32, o *Options) {
	if o.DRYMultiplier != 0 {
		c.tokens = append(c.tokens, token)
	}
}

// dry lowers the logits of tokens that would continue a repetition, exponentially in its length. A
// repetition does not extend across a breaker.
func (s *Sampler) dry() {
	o, c := &s.opt, s.chain
	if o.DRYMultiplier == 0 || o.DRYBase < 1 {
		return
	}
	window := c.tokens
	if n := o.DRYLastN; n >= 0 && n < len(window) {
		window = window[len(window)-n:]
	}
	reach := 0 // the maximum length of a repetition, in tokens
	for reach < len(window) && !o.DRYBreakers.has(window[len(window)-1-reach]) {
		reach++
	}
	if reach < o.DRYAllowedLength || len(window) <= o.DRYAllowedLength {
		return
	}
	c.matches(window)
	if c.after == nil {
		c.after = map[int32]int32{}
	}
	clear(c.after)
	for back := 1; back < len(window); back++ {
		n := min(c.match[back], int32(reach))
		next := window[len(window)-back]
		if n >= int32(o.DRYAllowedLength) && n > 0 && n > c.after[next] {
			c.after[next] = n
		}
	}
	for i := range s.list {
		n, repeats := c.after[s.list[i].token]
		if !repeats || o.DRYBreakers.has(s.list[i].token) {
			continue
		}
		exponent := float64(n) - float64(o.DRYAllowedLength)
		penalty := float64(o.DRYMultiplier) * math.Pow(float64(o.DRYBase), exponent)
		s.list[i].logit -= float32(min(penalty, 1e4))
	}
}

// matches sets match[k] to the length of the longest common suffix of the window and the window
// without its last k tokens, in linear time (the Z function of the reversed tokens).
func (c *chain) matches(window []int32) {
	n := len(window)
	at := func(i int) int32 { return window[n-1-i] }
	c.match = slices.Grow(c.match[:0], n)[:n]
	clear(c.match)
	left, right := 0, 0
	for i := 1; i < n; i++ {
		k := 0
		if i < right {
			k = min(right-i, int(c.match[i-left]))
		}
		for i+k < n && at(k) == at(i+k) {
			k++
		}
		c.match[i] = int32(k)
		if i+k > right {
			left, right = i, i+k
		}
	}
}

// A TokenSet is a set of tokens; nil is empty.
type TokenSet map[int32]bool

func (s TokenSet) has(t int32) bool { return s[t] }

// Kept appends the likeliest n of the tokens that the last one was drawn from, with the natural
// logarithms of the probabilities of the draw. Options.Keep must be set.
func (s *Sampler) Kept(dst []Alternative, n int) []Alternative {
	if s.chain == nil || len(s.chain.kept) == 0 {
		return dst
	}
	list := slices.Clone(s.chain.kept)
	slices.SortFunc(list, func(a, b candidate) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	total := 0.0
	for _, c := range list {
		total += math.Exp(float64(c.logit - list[0].logit))
	}
	for _, c := range list[:min(n, len(list))] {
		if p := math.Exp(float64(c.logit-list[0].logit)) / total; p > 0 {
			dst = append(dst, Alternative{c.token, float32(math.Log(p))})
		}
	}
	return dst
}

// KeptLogprob returns the logarithm of the probability with which Kept would list a token.
func (s *Sampler) KeptLogprob(token int32) float32 {
	if s.chain == nil {
		return 0
	}
	top, total, its := float32(math.Inf(-1)), 0.0, 0.0
	for _, c := range s.chain.kept {
		top = max(top, c.logit)
	}
	for _, c := range s.chain.kept {
		w := math.Exp(float64(c.logit - top))
		total += w
		if c.token == token {
			its = w
		}
	}
	return float32(math.Log(its / total))
}
