package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/models"
)

// modelFlags are the flags of all commands that load a model.
type modelFlags struct {
	path    string
	models  string // a folder
	lora    []string
	layers  int
	devices []string
	noMMap  bool
	lock    bool
	force   bool
	lib     string
	context backend.ContextParams
	cache   string
	flash   string
	options modelOptions

	trial *llama.Trial // nil: load at once
}

func (f *modelFlags) register(flags *pflag.FlagSet) {
	flags.StringVarP(&f.path, "model", "m", "", "GGUF file to load, or its name in the folder of --models (default: the small bundled model)")
	flags.StringVar(&f.models, "models", "", "folder of GGUF files, which serve loads when a request names one")
	flags.StringArrayVar(&f.lora, "lora", nil, "LoRA adapter to apply, `FILE[=SCALE]`; may be repeated")
	flags.IntVar(&f.layers, "gpu-layers", -1, "number of layers to offload to GPUs; -1: all")
	flags.StringSliceVar(&f.devices, "device", nil, "devices to use, named as in 'stencil devices' (default: all GPUs)")
	flags.BoolVar(&f.noMMap, "no-mmap", false, "read the weights into memory instead of mapping the file")
	flags.BoolVar(&f.lock, "mlock", false, "lock the weights in RAM")
	flags.BoolVar(&f.force, "no-memory-check", false, "load the model even if the estimate exceeds free memory")
	flags.StringVar(&f.lib, "lib", "", libHelp)
	f.options.model(flags)
	group(flags, "Model")
	flags.IntVarP(&f.context.Size, "context", "c", 0, "KV cache size in tokens, shared by all sequences (default: trained length, if memory allows)")
	flags.IntVar(&f.context.MaxBatch, "batch", 0, "maximum number of tokens decoded in one step (default 512)")
	flags.IntVarP(&f.context.Threads, "threads", "t", 0, "maximum number of threads; fewer are used while other programs are busy (default: all cores)")
	flags.IntVar(&f.context.BatchThreads, "batch-threads", 0, "maximum number of threads for prompt processing (default: as --threads)")
	flags.StringVar(&f.cache, "cache-type", "f16", "data type of the KV cache: "+strings.Join(cacheTypeNames, ", "))
	flags.StringVar(&f.flash, "flash-attention", "auto", "flash attention: auto, on or off")
	f.options.positions(flags)
	group(flags, "Context and memory")
}

// libHelp is the help of --lib.
const libHelp = "folder of ggml back ends, such as CUDA or Vulkan (default: lib next to the program's folder)"

// params checks the flags and returns them as context parameters.
func (f *modelFlags) params() (backend.ContextParams, error) {
	p := f.context
	p.CacheType, p.FlashAttention = backend.CacheType(f.cache), backend.FlashAttention(f.flash)
	if !slices.Contains(flashNames, f.flash) {
		return p, fmt.Errorf("--flash-attention must be auto, on or off, not %q", f.flash)
	}
	if !slices.Contains(cacheTypeNames, f.cache) {
		return p, fmt.Errorf("--cache-type must be one of %s, not %q", strings.Join(cacheTypeNames, ", "), f.cache)
	}
	for name, n := range map[string]int{"context": p.Size, "batch": p.MaxBatch, "threads": p.Threads, "batch-threads": p.BatchThreads} {
		if n < 0 {
			return p, fmt.Errorf("--%s must not be negative", name)
		}
	}
	return p, nil
}

func (f *modelFlags) adapters() ([]llama.LoRA, error) {
	var out []llama.LoRA
	for _, s := range f.lora {
		a := llama.LoRA{Path: s}
		if i := strings.LastIndexByte(s, '='); i >= 0 {
			scale, err := strconv.ParseFloat(s[i+1:], 32)
			if err != nil {
				return nil, fmt.Errorf("--lora %s: %q is not a scale", s, s[i+1:])
			}
			a.Path, a.Scale = s[:i], float32(scale)
		}
		out = append(out, a)
	}
	return out, nil
}

// libFolder returns the folder in which to look for ggml back ends.
func (f *modelFlags) libFolder() string {
	if f.lib != "" {
		return f.lib
	}
	self, err := os.Executable()
	if err != nil {
		return "" // not lib in the working folder, which may be another's
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	return filepath.Join(filepath.Dir(self), "..", "lib")
}

// file returns the path of the model.
func (f *modelFlags) file() (string, error) {
	if f.path == "" {
		return models.Bundled("")
	}
	if _, err := os.Stat(f.path); errors.Is(err, fs.ErrNotExist) && filepath.Base(f.path) == f.path {
		if f.models == "" {
			return "", fmt.Errorf("--model %s: there is no such file here, and --models names no folder with models: %w", f.path, err)
		}
		for _, name := range []string{f.path, f.path + ".gguf"} {
			path := filepath.Join(f.models, name)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		return "", fmt.Errorf("--model %s: there is no such file, here or in %s: %w", f.path, f.models, err)
	}
	return f.path, nil
}

// load loads the model of --model, or the bundled one, and shows progress on out.
func (f *modelFlags) load(ctx context.Context, out *os.File) (backend.Model, error) {
	adapters, err := f.adapters()
	if err != nil {
		return nil, err
	}
	path, err := f.file()
	if err != nil {
		return nil, err
	}
	if _, err := llama.LoadBackends(f.libFolder()); err != nil && !errors.Is(err, backend.ErrNotBuilt) {
		return nil, err
	}
	opt := llama.LoadOptions{
		Devices: f.devices, NoMMap: f.noMMap, Lock: f.lock, LoRA: adapters, NoMemoryCheck: f.force,
		GPULayers: f.layers, Trial: f.trial,
	}
	if err := f.options.set(&opt); err != nil {
		return nil, err
	}
	const steps = 1000
	bar := console.NewProgress(out, "loading "+filepath.Base(path), steps, false)
	defer bar.Close()
	opt.Progress = func(done float64) { bar.Set(int64(done * steps)) }
	return llama.Load(ctx, path, opt)
}

// logFlags are the flags of commands that log.
type logFlags struct {
	format string
	level  string
}

func (f *logFlags) register(flags *pflag.FlagSet, level string) {
	flags.StringVar(&f.format, "log-format", "text", "log format: text or json")
	flags.StringVar(&f.level, "log-level", level, "minimum log level: debug, info, warn or error")
	group(flags, "Logging")
}

// logger returns the configured logger and makes llama.cpp log to it too.
func (f *logFlags) logger(out *os.File) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, fmt.Errorf("--log-level must be debug, info, warn or error, not %q", f.level)
	}
	opt := &slog.HandlerOptions{Level: level}
	var log *slog.Logger
	switch f.format {
	case "text":
		log = slog.New(slog.NewTextHandler(out, opt))
	case "json":
		log = slog.New(slog.NewJSONHandler(out, opt))
	default:
		return nil, fmt.Errorf("--log-format must be text or json, not %q", f.format)
	}
	llama.SetLogger(log)
	return log, nil
}

// modelOptions are the flags that change how llama.cpp loads and computes a model.
type modelOptions struct {
	overrides []string
	rope      llama.Rope
	scaling   string
	yarn      [4]float32
	split     llama.Split
	shares    []float32
	tensors   []string
	experts   bool
	expertsOf int
	denseOf   int
	check     bool
}

// yarnFlags are the flags of modelOptions.yarn.
var yarnFlags = [4]struct{ name, help string }{
	{"yarn-ext-factor", "YaRN: how much is extrapolated, 0 for nothing (default: as the file says)"},
	{"yarn-attn-factor", "YaRN: scale of the attention (default: as the file says)"},
	{"yarn-beta-fast", "YaRN: turns above which positions are not scaled (default: as the file says)"},
	{"yarn-beta-slow", "YaRN: turns below which positions are scaled fully (default: as the file says)"},
}

// model registers the flags about what is loaded, and where.
func (f *modelOptions) model(flags *pflag.FlagSet) {
	flags.StringVar(&f.split.Mode, "split-mode", "", "splitting of a model over several GPUs: none, layer, row or tensor (default layer)")
	flags.Float32SliceVar(&f.shares, "tensor-split", nil, "share of the model that each GPU holds, such as `3,1` (default: by free memory)")
	flags.IntVar(&f.split.Main, "main-gpu", 0, "GPU for the whole model with --split-mode none, by its number among the devices used")
	flags.StringSliceVar(&f.tensors, "override-tensor", nil, "device for tensors whose names match, `PATTERN=DEVICE`, such as exps=CPU; may be repeated")
	flags.BoolVar(&f.experts, "cpu-moe", false, "keep the experts of all layers on the CPU")
	flags.IntVar(&f.expertsOf, "n-cpu-moe", 0, "keep the experts of the first `N` layers on the CPU")
	flags.IntVar(&f.denseOf, "n-cpu-ffn", 0, "keep the dense feed-forward weights of the first `N` layers on the CPU")
	flags.BoolVar(&f.check, "check-tensors", false, "look for invalid numbers in the weights, which reads the whole file")
	flags.StringSliceVar(&f.overrides, "override-kv", nil, "metadata to change, `KEY=TYPE:VALUE`, of type int, float, bool or str; may be repeated")
}

// positions registers the flags about the positions of tokens.
func (f *modelOptions) positions(flags *pflag.FlagSet) {
	flags.StringVar(&f.scaling, "rope-scaling", "", "scaling of positions beyond the trained length: none, linear or yarn (default: as the file says)")
	flags.Float32Var(&f.rope.FreqScale, "rope-freq-scale", 0, "factor of positions: 0.25 for a context 4 times as long (default: as the file says)")
	flags.Float32Var(&f.rope.FreqBase, "rope-freq-base", 0, "base of the frequencies of positions (default: as the file says)")
	flags.IntVar(&f.rope.Original, "yarn-orig-ctx", 0, "YaRN: length that the model was first trained for (default: as the file says)")
	for i, y := range yarnFlags {
		flags.Float32Var(&f.yarn[i], y.name, -1, y.help)
	}
}

// set stores the flags in the options.
func (f *modelOptions) set(opt *llama.LoadOptions) error {
	for _, s := range f.overrides {
		o, err := llama.ParseOverride(s)
		if err != nil {
			return fmt.Errorf("--override-kv: %w", err)
		}
		opt.Override = append(opt.Override, o)
	}
	for _, s := range f.tensors {
		p, err := llama.ParsePlacement(s)
		if err != nil {
			return fmt.Errorf("--override-tensor: %w", err)
		}
		opt.Tensors = append(opt.Tensors, p)
	}
	if f.expertsOf < 0 || f.denseOf < 0 {
		return errors.New("--n-cpu-moe and --n-cpu-ffn must not be negative")
	}
	if f.experts {
		opt.Tensors = append(opt.Tensors, llama.ExpertsOnCPU())
	}
	for i := range f.expertsOf {
		opt.Tensors = append(opt.Tensors, llama.LayerExpertsOnCPU(i))
	}
	for i := range f.denseOf {
		opt.Tensors = append(opt.Tensors, llama.LayerDenseOnCPU(i))
	}
	opt.CheckTensors = f.check
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

// newTrialCommand returns the command that loads a model file in a separate process
// before the server loads it, so that a damaged file can't crash the server.
func newTrialCommand() *cobra.Command {
	return &cobra.Command{
		Use:    llama.TrialCommand,
		Short:  "Load a model file that may be damaged (used internally)",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if status := llama.RunTrial(os.Stdin, cmd.OutOrStdout()); status != 0 {
				return &exitError{status, errors.New("the trial failed")}
			}
			return nil
		},
	}
}
