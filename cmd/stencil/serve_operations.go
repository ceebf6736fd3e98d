package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stencil/backend/llama"
	"stencil/server"
)

// operations are the flags of serve that are about running it: who may ask,
// over what, and which models.
type operations struct {
	keys      []string
	keyFile   string
	models    string
	keepAlive time.Duration
}

func (f *serveFlags) registerOperations(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.operations.keys, "api-key", nil, "key that requests must bear; may be repeated")
	flags.StringVar(&f.operations.keyFile, "api-key-file", "", "file with such keys, one a line")
	flags.StringSliceVar(&f.server.CORSOrigins, "cors-origin", nil, `origins whose web pages may ask, such as https://example.com; "*": all`)
	flags.StringVar(&f.server.TLSCert, "tls-cert", "", "file with the certificate, for HTTPS")
	flags.StringVar(&f.server.TLSKey, "tls-key", "", "file with the certificate's key")
	flags.BoolVar(&f.server.LogBodies, "log-bodies", false, "put the bodies of requests, prompts and all, into the log")
	flags.StringVar(&f.operations.models, "models", "", "folder whose GGUF files are loaded when they are asked for by name")
	flags.DurationVar(&f.operations.keepAlive, "keep-alive", 5*time.Minute, "time after which an unused model of --models is unloaded; negative: never")
}

// checkOperations reads what flags refer to.
func (f *serveFlags) checkOperations() error {
	if (f.server.TLSCert == "") != (f.server.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key belong together")
	}
	f.server.APIKeys = f.operations.keys
	if f.operations.keyFile != "" {
		text, err := os.ReadFile(f.operations.keyFile)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				f.server.APIKeys = append(f.server.APIKeys, line)
			}
		}
		if len(f.server.APIKeys) == 0 {
			return fmt.Errorf("%s has no key", f.operations.keyFile)
		}
	}
	for _, key := range f.server.APIKeys {
		if strings.TrimSpace(key) == "" {
			return errors.New("--api-key must not be empty")
		}
	}
	return nil
}

// addModels makes the models of a folder available, but for the one that is
// served already.
func (f *serveFlags) addModels(srv *server.Server, served string, log *slog.Logger) error {
	if f.operations.models == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(f.operations.models, "*.gguf"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no .gguf files", f.operations.models)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".gguf")
		if name == served {
			continue
		}
		one := *f
		one.model.path = path
		// Others are being served by then.
		one.model.trial = &llama.Trial{Context: f.engine.Context, Embeds: f.embeddings}
		one.model.trial.Context.MaxSeqs = f.engine.Parallel
		srv.AddModel(name, func(ctx context.Context) (server.Engines, func() error, error) {
			m, err := one.start(ctx, log)
			if err != nil {
				return server.Engines{}, nil, err
			}
			return m.Engines, m.close, nil
		}, f.operations.keepAlive)
	}
	return nil
}
