package vocab

import (
	"os"
	"slices"
	"testing"

	"github.com/stencil-json/stencil/internal/shared"
)

func loadShared(t testing.TB, name string) *Vocab {
	t.Helper()
	v, err := Load(shared.File(t, "vocab", name+".gguf"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestKnownTokens(t *testing.T) {
	const text = `{"name": "Ann", "age": 42}`
	for _, c := range []struct {
		name      string
		tokens    int
		model     Model
		eog       []int32
		ids       []int32
		continued []int32
		template  bool
	}{
		{"llama3", 128256, BPE, []int32{128001, 128008, 128009},
			[]int32{5018, 609, 794, 330, 28192, 498, 330, 425, 794, 220, 2983, 92}, nil, true},
		{"llama4", 202048, BPE, []int32{200001, 200007, 200008},
			[]int32{7564, 946, 1217, 392, 34859, 706, 392, 496, 1217, 220, 3763, 105}, nil, false},
		{"llama2", 32000, SPM, []int32{2},
			[]int32{8853, 978, 1115, 376, 2744, 29876, 613, 376, 482, 1115, 29871, 29946, 29906, 29913},
			[]int32{6377, 978, 1115, 376, 2744, 29876, 613, 376, 482, 1115, 29871, 29946, 29906, 29913}, false},
		{"mistral3", 32768, SPM, []int32{2},
			[]int32{10598, 1629, 2032, 1113, 24662, 1316, 1113, 1233, 2032, 29473, 29549, 29518, 29520}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := loadShared(t, c.name)
			if v.Len() != c.tokens || v.Model() != c.model || !slices.Equal(v.EOG(), c.eog) {
				t.Errorf("got %d tokens, %s, end of generation %v; want %d, %s, %v", v.Len(), v.Model(), v.EOG(), c.tokens, c.model, c.eog)
			}
			if got := v.Tokenize(nil, text, false); !slices.Equal(got, c.ids) {
				t.Errorf("Tokenize gives %v, want %v", got, c.ids)
			}
			if got := v.TokenizeText(nil, []byte(text)); c.continued != nil && !slices.Equal(got, c.continued) {
				t.Errorf("TokenizeText gives %v, want %v", got, c.continued)
			}
			if (v.ChatTemplate() != "") != c.template {
				t.Errorf("chat template %q", v.ChatTemplate())
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, name := range []string{"llama2", "llama3", "llama4"} {
		path := shared.File(b, "vocab", name+".gguf")
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(path); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/tokenizer", func(b *testing.B) {
			for b.Loop() {
				v, err := Load(path)
				if err != nil {
					b.Fatal(err)
				}
				v.Tokenize(nil, "a", false)
			}
		})
	}
}

func BenchmarkTokenize(b *testing.B) {
	code, err := os.ReadFile("vocab.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"llama2", "llama3", "llama4"} {
		v := loadShared(b, name)
		for _, c := range []struct {
			name string
			text []byte
		}{{"forced", []byte(`", "age": `)}, {"code", code}} {
			b.Run(name+"/"+c.name, func(b *testing.B) {
				var ids []int32
				b.SetBytes(int64(len(c.text)))
				b.ReportAllocs()
				for b.Loop() {
					ids = v.TokenizeText(ids[:0], c.text)
				}
			})
		}
	}
}
