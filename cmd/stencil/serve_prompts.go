package main

import (
	"errors"
	"log/slog"

	"github.com/spf13/pflag"

	"stencil/backend/llama"
	"stencil/engine"
	"stencil/engine/promptcache"
)

// promptFlags are the flags of serve that say what is kept of prompts, beside the
// slots.
type promptFlags struct {
	dir   string
	bytes int64
}

func (f *promptFlags) register(flags *pflag.FlagSet, cfg *engine.Config) {
	flags.Int64Var(&cfg.CheckpointBytes, "checkpoint-bytes", 0, "memory for the states of prompts that may come again but had to leave the KV cache; with recurrent and hybrid models, of their beginnings too (default: an eighth of what is free, at most 1 GiB; negative: none)")
	flags.StringVar(&f.dir, "prompt-cache", "", "folder in which the beginnings of prompts are kept, so that they are not read again after a restart; its files hold what people wrote, readable for this user alone")
	flags.Int64Var(&f.bytes, "prompt-cache-bytes", 4<<30, "bytes that this folder may take; what was not used for longest is deleted")
}

// open opens the prompt cache, if one is wanted, for all models. What it returns
// waits until everything is written.
func (f *promptFlags) open(cfg *engine.Config, log *slog.Logger) (done func(), err error) {
	if f.dir == "" {
		return func() {}, nil
	}
	if f.bytes <= 0 {
		return nil, errors.New("--prompt-cache-bytes must be positive")
	}
	store, err := promptcache.Open(f.dir, f.bytes, log)
	if err != nil {
		return nil, err
	}
	cfg.PromptCache = store
	return func() {
		if err := store.Close(); err != nil {
			log.Error("closing the prompt cache", "error", err)
		}
		s := store.Stats()
		log.Info("prompt cache", "folder", f.dir, "read", s.Read, "written", s.Written, "dropped", s.Dropped, "evicted", s.Evicted, "damaged", s.Damaged)
	}, nil
}

// bounded returns the configuration with a bound for checkpoints, which depends
// on how much memory the model has left.
func (f *promptFlags) bounded(cfg engine.Config) engine.Config {
	if available, _, ok := llama.SystemMemory(); ok && cfg.CheckpointBytes == 0 {
		cfg.CheckpointBytes = min(1<<30, max(1, available/8))
	}
	return cfg
}
