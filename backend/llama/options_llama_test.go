//go:build llama && cgo

package llama

import (
	"bytes"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/models"
)

// Overrides and rope settings change what a model computes, and the key of its states.
func TestOptions(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Layers: 2, Width: 64, Seed: 3})
	seen := map[string]string{}
	compute := func(name string, opt LoadOptions) []float32 {
		t.Helper()
		m := load(t, path, opt)
		c := newCtx(t, m, backend.ContextParams{Size: 256})
		key, err := c.StateKey()
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[key] = name
		return slices.Clone(feed(t, c, 0, someTokens(m, 40, 7)...))
	}
	override := func(list ...string) LoadOptions {
		var opt LoadOptions
		for _, s := range list {
			o, err := ParseOverride(s)
			if err != nil {
				t.Fatal(err)
			}
			opt.Override = append(opt.Override, o)
		}
		return opt
	}
	zero, two := float32(0), float32(2)
	plain := compute("the file as it is", LoadOptions{})
	base := compute("a base", LoadOptions{Rope: Rope{FreqBase: 500}})
	sameLogits(t, "the base, overridden", compute("the base, overridden", override("llama.rope.freq_base=float:500")), base)
	linear := compute("linear", LoadOptions{Rope: Rope{Scaling: "linear", FreqScale: 0.25}})
	sameLogits(t, "linear, overridden", compute("linear, overridden", override("llama.rope.scaling.type=str:linear", "llama.rope.scaling.factor=float:4")), linear)
	sameLogits(t, "no scaling", compute("no scaling", LoadOptions{Rope: Rope{Scaling: "none", FreqScale: 0.25}}), plain)
	results := map[string][]float32{
		"the file": plain, "a base": base, "linear": linear,
		"yarn":        compute("yarn", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 64}}),
		"original":    compute("original", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 32}}),
		"attn 2":      compute("attn 2", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 64, Ext: &zero, Attn: &two}}),
		"beta_fast 2": compute("beta_fast 2", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 64, BetaFast: &two}}),
		"beta_slow 0": compute("beta_slow 0", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 64, BetaSlow: &zero}}),
	}
	sameLogits(t, "YaRN without extrapolation", compute("ext 0", LoadOptions{Rope: Rope{Scaling: "yarn", FreqScale: 0.25, Original: 64, Ext: &zero}}), linear)
	for one, a := range results {
		for other, b := range results {
			if one < other && slices.Equal(a, b) {
				t.Errorf("%s and %s compute the same", one, other)
			}
		}
	}

	// Without a GPU a split has no effect.
	m := load(t, path, LoadOptions{GPULayers: AllLayers, Split: Split{Mode: "none", Main: 1, Tensors: []float32{1, 2}}})
	if len(gpus(nil)) == 0 {
		c := newCtx(t, m, backend.ContextParams{Size: 256})
		sameLogits(t, "a split", feed(t, c, 0, someTokens(m, 40, 7)...), plain)
	}

	// The vocabulary is read from the same metadata.
	for _, want := range []bool{true, false} {
		m := load(t, path, override("tokenizer.ggml.add_bos_token=bool:"+map[bool]string{true: "true", false: "false"}[want]))
		if got := m.Vocab().AddBOS(); got != want {
			t.Errorf("add_bos_token is %t", got)
		}
	}
}

// Tensors with certain names are kept on the given device. Errors list the available devices.
func TestPlacements(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Arch: "qwen3moe", Layers: 2, Width: 64, Seed: 3})
	var said bytes.Buffer
	before := logger.Load()
	SetLogger(slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelDebug - 4})))
	defer SetLogger(before)
	moved := func(list ...Placement) []string {
		t.Helper()
		said.Reset()
		load(t, path, LoadOptions{Tensors: list})
		var names []string
		for _, m := range regexp.MustCompile(`tensor (blk\.\S+) .*buffer type overridden to CPU`).FindAllStringSubmatch(said.String(), -1) {
			names = append(names, m[1])
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	first := []string{"blk.0.ffn_down_exps.weight", "blk.0.ffn_gate_exps.weight", "blk.0.ffn_up_exps.weight"}
	second := []string{"blk.1.ffn_down_exps.weight", "blk.1.ffn_gate_exps.weight", "blk.1.ffn_up_exps.weight"}
	if got := moved(ExpertsOnCPU()); !slices.Equal(got, append(slices.Clone(first), second...)) {
		t.Errorf("all experts: %q\n%s", got, said.String())
	}
	if got := moved(LayerExpertsOnCPU(0)); !slices.Equal(got, first) {
		t.Errorf("those of the first layer: %q", got)
	}
	if got := moved(Placement{`blk\.1\.attn_q\.`, "CPU"}, LayerDenseOnCPU(0)); !slices.Equal(got, []string{"blk.1.attn_q.weight"}) {
		t.Errorf("one of attention: %q", got)
	}
	for want, p := range map[string]Placement{"can't be kept on CUDA9; there are CPU": {"x", "CUDA9"}, "( is not a regular expression": {"(", "CPU"}} {
		if m, err := Load(t.Context(), path, LoadOptions{Tensors: []Placement{p}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", err, m)
		}
	}
}
