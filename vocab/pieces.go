package vocab

import "sync"

// pieces keeps the tokens of long pieces of prompts: the tools and the earlier turns of a conversation come again with each
// of its requests. Those not used lately are forgotten. It is safe for concurrent use.
type pieces struct {
	mu         sync.Mutex
	young, old map[piece][]int32
	size       int // of young, in bytes
}

// A piece is plain text between control tokens. first tells whether it begins the text, where some tokenizers add a space.
type piece struct {
	text  string
	first bool
}

const (
	// leastPiece is the size in bytes below which tokenizing costs about as much as looking it up.
	leastPiece = 256
	// mostPieces is the size in bytes of the pieces and tokens kept, of either age.
	mostPieces = 4 << 20
)

type piecesKey struct{}

func piecesOf(v *Vocab) *pieces {
	return v.Attach(piecesKey{}, func() any { return &pieces{young: map[piece][]int32{}} }).(*pieces)
}

// append appends the tokens of a piece, from tokenize unless they are kept.
func (p *pieces) append(dst []int32, of piece, tokenize func(dst []int32) []int32) []int32 {
	if len(of.text) < leastPiece || len(of.text) > mostPieces/8 {
		return tokenize(dst)
	}
	p.mu.Lock()
	tokens, kept := p.young[of]
	aged := false
	if !kept {
		tokens, aged = p.old[of]
	}
	p.mu.Unlock()
	if kept {
		return append(dst, tokens...)
	}
	if !aged {
		tokens = tokenize(nil)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size += len(of.text) + 4*len(tokens); p.size > mostPieces {
		p.young, p.old, p.size = map[piece][]int32{}, p.young, len(of.text)+4*len(tokens)
	}
	p.young[of] = tokens
	return append(dst, tokens...)
}
