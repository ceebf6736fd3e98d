package engine

import "time"

// prices are the costs of batches by size, as multiples of a batch of one token.
// They decide whether a draft is worth decoding: on a GPU eight tokens cost
// hardly more than one; on a CPU two may cost as much as two batches of one, and
// eight half as much as eight. The loop measures its own batches and compares
// ratios, since other programs slow down all sizes.
type prices struct {
	one  float64                // seconds of a batch of one token
	of   [maxPriced + 1]float64 // by tokens; 0: not known
	seen [maxPriced + 1]int     // measurements, up to priceMemory
}

const (
	maxPriced   = 48
	priceMemory = 8
	// hope is the assumed cost of a further token in a batch of a size that was
	// never measured. It is low, so that sizes are tried.
	hope = 0.25
	// pardon is the fraction of a size's excess over hope that is forgotten at each
	// batch of one token, so that a size measured at a bad moment is tried again.
	pardon = 1.0 / 2048
	// outlier limits a measurement to a multiple of the expected cost; a larger one
	// is due to another program.
	outlier = 2
)

// learn records how long a batch without prompts took.
func (p *prices) learn(tokens int, took time.Duration) {
	if tokens < 1 || tokens > maxPriced || took <= 0 {
		return
	}
	x := took.Seconds()
	if tokens == 1 {
		if p.one == 0 {
			p.one = x
		}
		p.one += (min(x, outlier*p.one) - p.one) / priceMemory
		for n := 2; n <= maxPriced; n++ {
			if low := hoped(n); p.of[n] > low {
				p.of[n] -= (p.of[n] - low) * pardon
			}
		}
		return
	}
	if p.one == 0 {
		return
	}
	ratio := min(x/p.one, outlier*p.price(tokens))
	p.seen[tokens] = min(p.seen[tokens]+1, priceMemory)
	p.of[tokens] += (ratio - p.of[tokens]) / float64(p.seen[tokens])
}

func hoped(tokens int) float64 { return 1 + hope*float64(tokens-1) }

// price returns the cost of a batch of the given number of tokens.
func (p *prices) price(tokens int) float64 {
	if tokens <= 1 {
		return float64(tokens)
	}
	tokens = min(tokens, maxPriced)
	if p.of[tokens] > 0 {
		return p.of[tokens]
	}
	for n := tokens - 1; n > 1; n-- {
		if p.of[n] > 0 {
			return p.of[n] + hope*float64(tokens-n)
		}
	}
	return hoped(tokens)
}

// worth returns how many of the guesses should go into a batch that already has
// the given number of tokens and sequences. A guess that comes true, and the
// forced text after it, saves its sequence a step; in return, the batch becomes
// more expensive.
func (p *prices) worth(list []guess, tokens, sequences int) (n int) {
	base := p.price(tokens)
	best, saved := 0.0, 0.0
	for i, g := range list {
		if tokens+i+1 > maxPriced {
			break
		}
		more := p.price(tokens+i+1) - base
		if g.forced {
			saved += g.chance * more / float64(i+1) // it would be decoded later anyway
		} else {
			saved += g.chance * base / float64(sequences)
		}
		if i+1 < len(list) && list[i+1].forced {
			continue // no logits are needed here
		}
		if gain := saved - more; gain > best {
			best, n = gain, i+1
		}
	}
	return n
}
