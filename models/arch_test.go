package models

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/vocab"
)

// TestLlamaUnchanged checks that files of the first architecture do not
// change, since measurements refer to them.
func TestLlamaUnchanged(t *testing.T) {
	for _, c := range []struct {
		opt  RandomOptions
		want string
	}{
		{RandomOptions{}, "dc604d1973ff3f4e9c02b1bf46cef8642e5a06a5219b886dd9f82aa20f0c634e"},
		{RandomOptions{Type: Q8_0, Layers: 3, Width: 128}, "269c98cd9d7d24934704af31d743b852a22e8efc284b285e8ee0e7faa08ed076"},
		{RandomOptions{Type: F16, Heads: 4, KVHeads: 2, FF: 160, Seed: 9}, "026267fbc6fdf2c57e97e76e8ca430ccee4826f06c453d958e6c4499fec44a7c"},
		{RandomOptions{Type: Q4_0}, "1d11c3afa5bb995ca0087031d0a6d967588f0cf943fe1862e3fc4d068e13ee4c"},
	} {
		data, _ := random(t, c.opt)
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != c.want {
			t.Errorf("%+v: sum %s, want %s", c.opt, got, c.want)
		}
	}
}

// optionsOf sets each of the options that not all architectures have to a
// value other than the default.
var optionsOf = map[string]func(*RandomOptions){
	"heads":        func(o *RandomOptions) { o.Heads = 8 },
	"kv-heads":     func(o *RandomOptions) { o.KVHeads = 2 },
	"head-size":    func(o *RandomOptions) { o.HeadSize = 32 },
	"ff":           func(o *RandomOptions) { o.FF = 64 },
	"experts":      func(o *RandomOptions) { o.Experts = 4 },
	"experts-used": func(o *RandomOptions) { o.ExpertUsed = 3 },
	"window":       func(o *RandomOptions) { o.Window = 256 },
	"state":        func(o *RandomOptions) { o.State = 8 },
	"pooling":      func(o *RandomOptions) { o.Pooling = PoolingRank },
}

// TestArchitectures checks for every architecture that its files are
// complete and that they depend on exactly the options that it lists.
func TestArchitectures(t *testing.T) {
	for _, a := range Architectures() {
		t.Run(a.Name, func(t *testing.T) {
			opt := RandomOptions{Arch: a.Name, Seed: 3}
			data, g := random(t, opt)
			if again, _ := random(t, opt); !bytes.Equal(data, again) {
				t.Error("same options and seed, different files")
			}
			if g.Str("general.architecture") != a.Name || !strings.HasPrefix(g.Str("general.description"), RandomDescription) {
				t.Errorf("architecture %q, description %q", g.Str("general.architecture"), g.Str("general.description"))
			}
			v, err := vocab.FromGGUF(g)
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := g.Int(a.Name + ".vocab_size"); n != int64(v.Len()) {
				t.Errorf("%d tokens announced, there are %d", n, v.Len())
			}
			names := map[string]bool{}
			for _, x := range g.Tensors {
				if names[x.Name] {
					t.Errorf("tensor %s is there twice", x.Name)
				}
				names[x.Name] = true
			}
			layers, _ := g.Int(a.Name + ".block_count")
			for i := range layers {
				if !slices.ContainsFunc(g.Tensors, func(x vocab.TensorInfo) bool { return strings.HasPrefix(x.Name, layer(int(i))("")) }) {
					t.Errorf("layer %d has no tensors", i)
				}
			}
			for name, set := range optionsOf {
				changed := opt
				set(&changed)
				var b bytes.Buffer
				err := Random(&b, changed)
				switch takes := slices.Contains(a.Options, name); {
				case takes && err != nil:
					t.Errorf("--%s: %v", name, err)
				case takes && bytes.Equal(b.Bytes(), data):
					t.Errorf("--%s changes nothing", name)
				case !takes && (err == nil || !strings.Contains(err.Error(), "the architecture "+a.Name+" takes no option for")):
					t.Errorf("--%s, which it does not take: %v", name, err)
				}
			}
			for typ, want := range map[Type]string{BF16: "BF16", Q8_0: "Q8_0", Q4_K_M: "Q6_K"} {
				opt := RandomOptions{Arch: a.Name, Width: 256, Type: typ}
				if slices.Contains(a.Options, "ff") {
					opt.FF = 256
				}
				if slices.Contains(a.Options, "experts") {
					opt.Experts = 2
				}
				_, g := random(t, opt)
				counts := map[string]int{}
				for _, x := range g.Tensors {
					counts[x.Type.String()]++
				}
				if counts[want] == 0 {
					t.Errorf("%s: tensors of types %v", typ, counts)
				}
			}
		})
	}
}

// TestArchitectureKeys checks the keys about what a model's layers store.
func TestArchitectureKeys(t *testing.T) {
	list := func(g *vocab.GGUF, key string) string {
		v, ok := g.Get(key)
		if !ok {
			return "none"
		}
		if v.Type != vocab.TypeArray {
			return v.String()
		}
		var all []string
		for i := range v.Len() {
			all = append(all, v.At(i).String())
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		opt  RandomOptions
		want map[string]string
	}{
		{RandomOptions{Arch: "qwen35", Layers: 8}, map[string]string{"full_attention_interval": "4", "ssm.inner_size": "128", "ssm.state_size": "32", "ssm.time_step_rank": "4", "ssm.group_count": "2"}},
		{RandomOptions{Arch: "lfm2", KVHeads: 2}, map[string]string{"attention.head_count_kv": "0 0 0 2", "shortconv.l_cache": "3"}},
		{RandomOptions{Arch: "gemma3", Window: 99}, map[string]string{"attention.sliding_window": "99", "block_count": "6"}},
		{RandomOptions{Arch: "gemma4", Layers: 8}, map[string]string{"attention.shared_kv_layers": "5", "attention.sliding_window_pattern": "true true false true true false true true", "attention.key_length": "32", "attention.key_length_swa": "16"}},
		{RandomOptions{Arch: "deepseek2"}, map[string]string{"attention.key_length": "72", "attention.value_length": "64", "attention.key_length_mla": "24", "attention.head_count_kv": "1"}},
		{RandomOptions{Arch: "mamba", Width: 128, State: 32}, map[string]string{"ssm.inner_size": "256", "ssm.state_size": "32", "attention.head_count": "0"}},
		{RandomOptions{Arch: "bert"}, map[string]string{"pooling_type": "1", "attention.causal": "false"}},
		{RandomOptions{Arch: "qwen3"}, map[string]string{"pooling_type": "none"}},
		{RandomOptions{Arch: "qwen3", Pooling: PoolingRank}, map[string]string{"pooling_type": "4", "classifier.output_labels": "yes no"}},
	} {
		_, g := random(t, c.opt)
		for key, want := range c.want {
			if got := list(g, c.opt.Arch+"."+key); got != want {
				t.Errorf("%s: %s is %s, want %s", c.opt.Arch, key, got, want)
			}
		}
	}
	// Layers above those that store keys and values have no matrices for them.
	_, g := random(t, RandomOptions{Arch: "gemma4"})
	var with []string
	for _, x := range g.Tensors {
		if strings.HasSuffix(x.Name, "attn_k.weight") {
			with = append(with, x.Name)
		}
	}
	if len(with) != 3 {
		t.Errorf("gemma4: keys in %v", with)
	}
}

// TestWordPiece reads the vocabulary of the embedding model and copies it.
func TestWordPiece(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bert.gguf")
	if err := WriteRandom(path, RandomOptions{Arch: "bert"}); err != nil {
		t.Fatal(err)
	}
	v, err := vocab.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if v.Model() != vocab.WPM {
		t.Fatalf("a vocabulary of kind %s", v.Model())
	}
	text := func(ids []int32) string {
		var all []string
		for _, id := range ids {
			all = append(all, v.Text(id))
		}
		return strings.Join(all, " ")
	}
	if got, want := text(v.Encode("The model: xq7!")), "[CLS] ▁the ▁model ▁: ▁x q 7 ▁! [SEP]"; got != want {
		t.Errorf("tokens %s, want %s", got, want)
	}
	if got := text(v.Tokenize(nil, "漢", false)); got != "[UNK]" {
		t.Errorf("an unknown character became %s", got)
	}
	_, g := random(t, RandomOptions{Arch: "bert", Vocab: path})
	if n, ok := g.Int("tokenizer.ggml.token_type_count"); !ok || n != 2 {
		t.Errorf("%d types of segments in a copy", n)
	}
	// A vocabulary of another architecture has no segment types.
	other := filepath.Join(t.TempDir(), "other.gguf")
	if err := WriteRandom(other, RandomOptions{}); err != nil {
		t.Fatal(err)
	}
	_, g = random(t, RandomOptions{Arch: "bert", Vocab: other})
	if n, ok := g.Int("tokenizer.ggml.token_type_count"); !ok || n != 2 {
		t.Errorf("%d types of segments with a vocabulary of bytes", n)
	}
}
