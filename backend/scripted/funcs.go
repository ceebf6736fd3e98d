package scripted

import (
	"math"
	"strings"

	"github.com/stencil-json/stencil/vocab"
)

// Strong is the logit of a token that a script wants, while all others are
// zero: at temperature 1 even with a vocabulary of 200,000 tokens, the others
// together have a probability below one in a million.
const Strong = 30

// Say returns a Func that writes reply after any history and then ends the
// generation. Its position in the reply is the longest prefix of it that the
// history ends with, so a mask that forces other tokens restarts it.
func Say(v *vocab.Vocab, reply string) Func {
	return SayTokens(append(v.TokenizeText(nil, []byte(reply)), v.EOG()[0]))
}

// SayTokens is Say for a reply given as tokens, including the end.
func SayTokens(reply []int32) Func {
	return func(history []int32, logits []float32) {
		logits[reply[standing(history, reply)]] = Strong
	}
}

// SayText returns a Func that writes reply as Say does, but in any tokens: it
// continues the text that the history ends with, regardless of how it was
// tokenized.
func SayText(v *vocab.Vocab, reply string) Func {
	return func(history []int32, logits []float32) {
		text := string(v.Decode(history))
		n := len(reply)
		for n > 0 && !strings.HasSuffix(text, reply[:n]) {
			n--
		}
		if n == len(reply) {
			logits[v.EOG()[0]] = Strong
			return
		}
		for id := range logits {
			if b := v.Bytes(int32(id)); len(b) > 0 && strings.HasPrefix(reply[n:], string(b)) {
				logits[id] = Strong + float32(len(b)) // the longest is the most likely
			}
		}
	}
}

// standing returns the length of the longest proper prefix of reply that
// history ends with.
func standing(history, reply []int32) int {
	for n := min(len(history), len(reply)-1); n > 0; n-- {
		tail := history[len(history)-n:]
		same := true
		for i, t := range tail {
			if t != reply[i] {
				same = false
				break
			}
		}
		if same {
			return n
		}
	}
	return 0
}

// Random returns a Func of independent normal logits with a standard deviation
// of 4, which is typical of trained models, determined by the seed and the
// whole history.
func Random(seed uint64) Func {
	return func(history []int32, logits []float32) {
		h := mix(seed)
		for _, t := range history {
			h = mix(h ^ uint64(uint32(t)))
		}
		for i := 0; i < len(logits); i += 2 {
			h = mix(h)
			// Box and Muller's transform of two uniform numbers.
			u := (float64(h>>40) + 1) / (1 << 24)
			r := 4 * math.Sqrt(-2*math.Log(u))
			sin, cos := math.Sincos(2 * math.Pi * float64(h&(1<<24-1)) / (1 << 24))
			logits[i] = float32(r * sin)
			if i+1 < len(logits) {
				logits[i+1] = float32(r * cos)
			}
		}
	}
}

// mix is the SplitMix64 generator's step (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
