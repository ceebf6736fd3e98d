package vocab_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
	"github.com/stencil-json/stencil/vocab"
)

// TestPiecesKept checks that prompts have the same tokens however often their pieces have been seen, with a tokenizer that adds a space to the first piece and with one that doesn't.
func TestPiecesKept(t *testing.T) {
	for _, name := range []string{"llama2", "llama3"} {
		path := shared.File(t, "vocab", name+".gguf")
		v, err := vocab.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		controls := vocab.ControlsOf(v)
		eos, _ := v.EOS()
		mark := v.Text(eos)
		long := func(i int) string { return strings.Repeat(fmt.Sprintf("Turn %d of it, naïve. ", i), 20) }
		prompt := func(i int) string { return long(i) + mark + long(i) + mark + "short" + mark + long(i+1) }
		var want [8][]int32
		for i := range want {
			fresh, err := vocab.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			want[i] = vocab.ControlsOf(fresh).Tokenize([]int32{7}, prompt(i), '\uE000')
			if !slices.Contains(want[i], eos) {
				t.Fatal("control tokens are not recognised")
			}
		}
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() {
				for n := range 40 {
					i := (n*7 + c) % len(want)
					if got := controls.Tokenize([]int32{7}, prompt(i), '\uE000'); !slices.Equal(got, want[i]) {
						t.Errorf("%s: prompt %d differs", name, i)
						return
					}
				}
			})
		}
		clients.Wait()
	}
}
