package vocab

import "github.com/stencil-json/stencil/internal/recent"

// pieces keeps the tokens of long pieces of prompts: the tools and the earlier turns of a conversation come again with each
// of its requests. It is safe for concurrent use.
type pieces struct{ tokens *recent.Map[piece, []int32] }

// A piece is plain text between control tokens. first tells whether it begins the text, where some tokenizers add a space.
type piece struct {
	text  string
	first bool
}

const (
	// leastPiece is the size in bytes below which tokenizing costs about as much as looking it up.
	leastPiece = 256
	// mostPieces is the size in bytes of the pieces and tokens kept, of either generation.
	mostPieces = 4 << 20
)

type piecesKey struct{}

func piecesOf(v *Vocab) *pieces {
	return v.Attach(piecesKey{}, func() any { return &pieces{recent.New[piece, []int32](mostPieces)} }).(*pieces)
}

// append appends the tokens of a piece, from tokenize unless they are kept.
func (p *pieces) append(dst []int32, of piece, tokenize func(dst []int32) []int32) []int32 {
	if len(of.text) < leastPiece || len(of.text) > mostPieces/8 {
		return tokenize(dst)
	}
	return append(dst, p.tokens.Get(of, func() ([]int32, int) {
		tokens := tokenize(nil)
		return tokens, len(of.text) + 4*len(tokens)
	})...)
}
