package vocab

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/internal/recent"
)

// TestPiecesForgotten checks that what isn't used goes, and that neither short nor huge pieces are kept.
func TestPiecesForgotten(t *testing.T) {
	p, calls := &pieces{recent.New[piece, []int32](mostPieces)}, 0
	tokens := func(text string) bool {
		before := calls
		got := p.append([]int32{-1}, piece{text: text}, func(dst []int32) []int32 {
			calls++
			for _, b := range []byte(text[:8]) {
				dst = append(dst, int32(b))
			}
			return dst
		})
		want := []int32{-1}
		for _, b := range []byte(text[:8]) {
			want = append(want, int32(b))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("tokens %v of %.8s", got, text)
		}
		return calls > before
	}
	other := func(i int) string { return fmt.Sprintf("%08d", i) + strings.Repeat("x", mostPieces/16) }
	used, once := strings.Repeat("used ", 100), strings.Repeat("once ", 100)
	tokens(used)
	tokens(once)
	for i := range 100 {
		tokens(other(i))
		if tokens(used) {
			t.Fatalf("a piece in use is forgotten after %d others", i)
		}
	}
	if !tokens(once) {
		t.Error("a piece not in use is kept")
	}
	for _, text := range []string{strings.Repeat("x", leastPiece-1), strings.Repeat("x", mostPieces/8+1)} {
		if tokens(text); !tokens(text) {
			t.Errorf("a piece of %d bytes is kept", len(text))
		}
	}
}
