package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/llama"
)

// modelOptions are the flags that change how llama.cpp reads and computes a model.
type modelOptions struct {
	overrides []string
	rope      llama.Rope
	scaling   string
	yarn      [4]float32
	split     llama.Split
	shares    []float32
}

// yarnFlags are the flags of modelOptions.yarn.
var yarnFlags = [4]struct{ name, help string }{
	{"yarn-ext-factor", "YaRN: how much is extrapolated, 0 for nothing (default: as the file says)"},
	{"yarn-attn-factor", "YaRN: scale of the attention (default: as the file says)"},
	{"yarn-beta-fast", "YaRN: turns above which positions are not scaled (default: as the file says)"},
	{"yarn-beta-slow", "YaRN: turns below which positions are scaled fully (default: as the file says)"},
}

// model registers those about what is loaded, and where.
func (f *modelOptions) model(flags *pflag.FlagSet) {
	flags.StringVar(&f.split.Mode, "split-mode", "", "splitting of a model over several GPUs: none, layer, row or tensor (default layer)")
	flags.Float32SliceVar(&f.shares, "tensor-split", nil, "share of the model that each GPU holds, such as `3,1` (default: by free memory)")
	flags.IntVar(&f.split.Main, "main-gpu", 0, "GPU for the whole model with --split-mode none, by its number among the devices used")
	flags.StringSliceVar(&f.overrides, "override-kv", nil, "metadata to change, `KEY=TYPE:VALUE`, of type int, float, bool or str; may be repeated")
}

// positions registers those about the positions of tokens.
func (f *modelOptions) positions(flags *pflag.FlagSet) {
	flags.StringVar(&f.scaling, "rope-scaling", "", "scaling of positions beyond the trained length: none, linear or yarn (default: as the file says)")
	flags.Float32Var(&f.rope.FreqScale, "rope-freq-scale", 0, "factor of positions: 0.25 for a context 4 times as long (default: as the file says)")
	flags.Float32Var(&f.rope.FreqBase, "rope-freq-base", 0, "base of the frequencies of positions (default: as the file says)")
	flags.IntVar(&f.rope.Original, "yarn-orig-ctx", 0, "YaRN: length that the model was first trained for (default: as the file says)")
	for i, y := range yarnFlags {
		flags.Float32Var(&f.yarn[i], y.name, -1, y.help)
	}
}

// set fills in the options.
func (f *modelOptions) set(opt *llama.LoadOptions) error {
	for _, s := range f.overrides {
		o, err := llama.ParseOverride(s)
		if err != nil {
			return fmt.Errorf("--override-kv: %w", err)
		}
		opt.Override = append(opt.Override, o)
	}
	opt.Split, opt.Rope = f.split, f.rope
	opt.Split.Tensors, opt.Rope.Scaling = f.shares, strings.ToLower(f.scaling)
	for i, to := range []**float32{&opt.Rope.Ext, &opt.Rope.Attn, &opt.Rope.BetaFast, &opt.Rope.BetaSlow} {
		if x := f.yarn[i]; x != -1 {
			*to = &x
		}
	}
	if err := opt.Rope.Check(); err != nil {
		return fmt.Errorf("--rope-… and --yarn-…: %w", err)
	}
	if err := opt.Split.Check(); err != nil {
		return fmt.Errorf("--split-mode, --tensor-split, --main-gpu: %w", err)
	}
	return nil
}
