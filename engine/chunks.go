package engine

import "time"

// chunks limits what a step reads of prompts, so that others are not held up: by time, at the speed at which prompts were
// read lately. A chunk that takes longer than its time, as whole blocks may on a slow machine, is followed by steps
// without one.
type chunks struct {
	most  int           // tokens, while others generate
	time  time.Duration // of each step, while others generate
	unit  int           // tokens that are read at once
	token float64       // seconds for a token; 0: not known
	saved time.Duration // by the steps so far that read nothing
}

const (
	// atOnce is the smallest chunk where prompts have no blocks: smaller ones cost nearly as much.
	atOnce = 32
	// untried is the chunk by which the speed is measured first.
	untried = 256
	// alone is how many times longer a step may be if nobody generates: somebody may come.
	alone = 4
	// chunkMemory is over how many steps the speed is averaged.
	chunkMemory = 4
)

func newChunks(c Config, grain int) chunks {
	return chunks{most: c.PrefillChunk, time: c.PrefillTime, unit: max(grain, atOnce)}
}

// room returns how many of most tokens the next step reads of prompts.
func (c *chunks) room(generating bool, most int) int {
	limit := alone * c.time
	if generating {
		most = min(most, c.most)
		c.saved += c.time
		limit = c.saved
	}
	if c.token == 0 {
		return min(most, untried)
	}
	unit := min(c.unit, most)
	if unit < 1 {
		return most
	}
	n := int(limit.Seconds()/c.token) / unit * unit
	if !generating {
		n = max(n, unit)
	}
	return min(n, most)
}

// learn is told how long a step took that read so many tokens of prompts, with others.
func (c *chunks) learn(tokens, all int, took time.Duration) {
	if tokens < 1 {
		return
	}
	c.saved = min(max(0, c.saved-took*time.Duration(tokens)/time.Duration(all)), c.time)
	each := took.Seconds() / float64(all)
	if c.token == 0 {
		c.token = each
	}
	c.token += (each - c.token) / chunkMemory
}
