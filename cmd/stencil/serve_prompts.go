package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/chat"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/engine/promptcache"
	"github.com/stencil-json/stencil/internal/boltfile"
	"github.com/stencil-json/stencil/server"
)

// toolForm is the value of the flag --tool-form.
type toolForm string

func registerToolForm(flags *pflag.FlagSet, form *string) {
	flags.Var((*toolForm)(form), "tool-form", "format of tool calls, such as hermes, llama3 or mistral (default: the chat template's)")
}

func (f *toolForm) String() string { return string(*f) }
func (f *toolForm) Type() string   { return "string" }

func (f *toolForm) Set(name string) error {
	if name != "" && !slices.Contains(chat.CallForms(), name) {
		return fmt.Errorf("there is none of that name; there are %s", strings.Join(chat.CallForms(), ", "))
	}
	*f = toolForm(name)
	return nil
}

// promptFlags are the flags of serve for the prompt caches beyond the slots.
type promptFlags struct {
	dir   string
	bytes int64
	share bool
}

func (f *promptFlags) register(flags *pflag.FlagSet, cfg *engine.Config) {
	flags.Int64Var(&cfg.CheckpointBytes, "checkpoint-bytes", 0, "memory for states evicted from the KV cache; negative: none (default: 1/8 of free RAM, up to 1 GiB)")
	flags.StringVar(&f.dir, "prompt-cache", "", "folder for prompt states that survive a restart; holds prompt text, readable by this user only")
	flags.Int64Var(&f.bytes, "prompt-cache-bytes", 4<<30, "maximum size of the --prompt-cache folder in bytes; least recently used files are deleted")
	flags.BoolVar(&f.share, "share-prompts", false, "reuse prompts across API keys; times and cached tokens then tell a client what others have sent")
}

// open opens the prompt cache on disk, which all models share, if --prompt-cache is set. The returned function waits
// until everything is written. If the folder can't be written, the server runs without the cache.
func (f *promptFlags) open(srv *server.Server, cfg *engine.Config, log *slog.Logger) (done func(), err error) {
	if f.dir == "" {
		return func() {}, nil
	}
	if f.bytes <= 0 {
		return nil, errors.New("--prompt-cache-bytes must be positive")
	}
	store, err := promptcache.Open(f.dir, f.bytes, log)
	srv.Stores("prompts", err == nil)
	if boltfile.Unwritable(err) {
		log.Error("prompt states are not stored until the server is restarted: --prompt-cache can't be written", "error", err)
		return func() {}, nil
	}
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

// bounded returns cfg with the default limit of checkpoint memory, which depends on the free memory after the model has
// been loaded.
func (f *promptFlags) bounded(cfg engine.Config) engine.Config {
	if available, _, ok := llama.SystemMemory(); ok && cfg.CheckpointBytes == 0 {
		cfg.CheckpointBytes = min(1<<30, max(1, available/8))
	}
	return cfg
}
