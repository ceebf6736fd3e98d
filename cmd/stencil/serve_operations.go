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

// operations are the flags of serve about access, TLS and the set of models.
type operations struct {
	keys      []string
	keyFile   string
	models    string
	keepAlive time.Duration
}

func (f *serveFlags) registerOperations(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.operations.keys, "api-key", nil, "API key that requests must carry; may be repeated")
	flags.StringVar(&f.operations.keyFile, "api-key-file", "", "file with API keys, one per line")
	flags.StringSliceVar(&f.server.CORSOrigins, "cors-origin", nil, `origins allowed to call the server from a browser, such as https://example.com; "*": all`)
	flags.StringVar(&f.server.TLSCert, "tls-cert", "", "certificate file, for HTTPS")
	flags.StringVar(&f.server.TLSKey, "tls-key", "", "private key file of --tls-cert")
}

func (f *serveFlags) registerModels(flags *pflag.FlagSet) {
	flags.StringVar(&f.operations.models, "models", "", "folder of GGUF files to load on demand, when a request names one")
	flags.DurationVar(&f.operations.keepAlive, "keep-alive", 5*time.Minute, "idle time after which a model from --models is unloaded; negative: never")
}

// checkOperations checks these flags and reads the file of API keys.
func (f *serveFlags) checkOperations() error {
	if (f.server.TLSCert == "") != (f.server.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key must be given together")
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
			return fmt.Errorf("%s contains no API key", f.operations.keyFile)
		}
	}
	for _, key := range f.server.APIKeys {
		if strings.TrimSpace(key) == "" {
			return errors.New("--api-key must not be empty")
		}
	}
	return nil
}

// addModels makes the models of a folder available, except the one that is
// already being served.
func (f *serveFlags) addModels(srv *server.Server, served string, log *slog.Logger) error {
	if f.operations.models == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(f.operations.models, "*.gguf"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s contains no .gguf files", f.operations.models)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".gguf")
		if name == served {
			continue
		}
		one := *f
		one.model.path = path
		// A crash would take down the models already being served.
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
