package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/config"
	"github.com/stencil-json/stencil/internal/boltfile"
	"github.com/stencil-json/stencil/server"
)

// operations are the flags of serve about access, TLS and the set of models.
type operations struct {
	keys      []string
	origins   []string
	keyFile   string
	keepAlive time.Duration
	sleep     time.Duration
}

func (f *serveFlags) registerOperations(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.operations.keys, "api-key", nil, "API key that requests must carry; may be repeated")
	flags.StringVar(&f.operations.keyFile, "api-key-file", "", "file with API keys, one per line")
	flags.StringSliceVar(&f.server.Access.Hosts, "allowed-host", nil, `names that clients may call the server by, such as llm.example.com; "*": any`)
	flags.StringSliceVar(&f.server.Access.Origins, "allowed-origin", nil, `origins whose web pages may use the server, such as https://example.com; "*": all`)
	flags.StringSliceVar(&f.operations.origins, "cors-origin", nil, "the same as --allowed-origin")
	flags.StringVar(&f.server.TLSCert, "tls-cert", "", "certificate file, for HTTPS")
	flags.StringVar(&f.server.TLSKey, "tls-key", "", "private key file of --tls-cert")
}

// registerResponses registers the flags for the storage of responses of /v1/responses.
func (f *serveFlags) registerResponses(flags *pflag.FlagSet) {
	c := &f.server
	flags.StringVar(&c.ResponsesFile, "responses-store", "", "file for the responses of /v1/responses, which later requests can refer to (default: kept in memory)")
	flags.IntVar(&c.Responses.Number, "responses-max", 1000, "number of responses to keep; 0: none")
	flags.Int64Var(&c.Responses.Bytes, "responses-bytes", 64<<20, "maximum size of the kept responses in bytes")
	flags.DurationVar(&c.Responses.Time, "responses-time", 24*time.Hour, "time after its last use for which a response is kept")
	flags.IntVar(&c.Background.Number, "background-max", 64, "number of responses that may be made in the background at a time; 0: none")
	flags.IntVar(&c.Background.PerClient, "background-max-per-key", 16, "number of those of one API key or, without keys, of one address")
}

// checkResponses checks the flags of registerResponses. In a server configuration, 0 means the default.
func (f *serveFlags) checkResponses() error {
	c := &f.server
	if c.Responses.Number < 0 || c.Responses.Bytes <= 0 || c.Responses.Time <= 0 {
		return errors.New("--responses-max must not be negative, --responses-bytes and --responses-time must be positive")
	}
	if c.Responses.Number == 0 {
		c.Responses.Number = -1
	}
	if c.Background.Number < 0 || c.Background.PerClient <= 0 {
		return errors.New("--background-max must not be negative, --background-max-per-key must be positive")
	}
	if c.Background.Number == 0 {
		c.Background.Number = -1
	}
	return nil
}

// openResponses opens the file of stored responses and returns a function that closes it. A file that was named and
// can't be written is an error: its owner relies on it.
func openResponses(srv *server.Server, log *slog.Logger) (func(), error) {
	if err := srv.OpenResponses(); err != nil {
		if boltfile.Unwritable(err) {
			err = fmt.Errorf("%w; without --responses-store the server keeps responses in memory", err)
		}
		return nil, err
	}
	return func() {
		if err := srv.CloseResponses(); err != nil {
			log.Error("closing the file of responses failed", "error", err)
		}
	}, nil
}

func (f *serveFlags) registerModels(flags *pflag.FlagSet) {
	flags.DurationVar(&f.operations.keepAlive, "keep-alive", 5*time.Minute, "idle time after which a model from --models is unloaded; negative: never")
	flags.IntVar(&f.server.MaxModels, "models-max", 0, "number of models from --models in memory at once; 0: as many as fit")
	flags.BoolVar(&f.server.ManualModels, "no-models-autoload", false, "load models from --models by POST /models/load alone")
	flags.DurationVar(&f.operations.sleep, "sleep", 0, "idle time after which the model of --model is unloaded until the next request; 0: never")
}

// checkOperations checks the flags of registerOperations and reads the file of API keys.
func (f *serveFlags) checkOperations() error {
	if (f.server.TLSCert == "") != (f.server.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key must be given together")
	}
	f.server.Access.Keys = f.operations.keys
	if f.operations.keyFile != "" {
		text, err := os.ReadFile(f.operations.keyFile)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				f.server.Access.Keys = append(f.server.Access.Keys, line)
			}
		}
		if len(f.server.Access.Keys) == 0 {
			return fmt.Errorf("%s contains no API key", f.operations.keyFile)
		}
	}
	for _, key := range f.server.Access.Keys {
		if strings.TrimSpace(key) == "" {
			return errors.New("--api-key must not be empty")
		}
	}
	keys := slices.Sorted(slices.Values(f.server.Access.Keys))
	f.engine.Apart = len(slices.Compact(keys)) > 1 && !f.prompts.share
	if f.server.MaxModels < 0 || f.operations.sleep < 0 {
		return errors.New("--models-max and --sleep must not be negative")
	}
	if folder := f.server.SlotFolder; folder != "" {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("--slot-save-path %s is not a folder", folder)
		}
	}
	if len(f.hosts) == 0 {
		return errors.New("--host must not be empty")
	}
	f.server.Access.Listen, f.server.Access.Also = f.hosts[0], f.hosts[1:]
	f.server.Access.Origins = append(f.server.Access.Origins, f.operations.origins...)
	return f.server.Access.Check()
}

// protected refuses to serve other machines without the keys or the encryption that were left out of the configuration file.
func (f *serveFlags) protected(s *config.Settings) error {
	if !slices.ContainsFunc(f.hosts, func(host string) bool {
		ip := net.ParseIP(host)
		return host != "localhost" && (ip == nil || !ip.IsLoopback())
	}) {
		return nil
	}
	for _, flag := range []string{"api-key", "api-key-file", "tls-cert"} {
		if o := s.Missing(flag); o != nil && (flag == "tls-cert" || len(f.server.Access.Keys) == 0) {
			return fmt.Errorf("%s: %s is not taken from a file that nobody named, and --host %s would be served without it: trust the file (stencil config trust) or name it with --config", o.Source, flag, strings.Join(f.hosts, ","))
		}
	}
	return nil
}

// addModels adds the models in the folder of --models, except the one that is already being served.
func (f *serveFlags) addModels(srv *server.Server, served string, log *slog.Logger) error {
	if f.model.models == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(f.model.models, "*.gguf"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s contains no .gguf files", f.model.models)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".gguf")
		if name == served {
			continue
		}
		one := *f
		one.model.path = path
		// A crash would also end the models that are already being served.
		one.model.trial = &llama.Trial{Context: f.engine.Context, Embeds: f.embeddings}
		one.model.trial.Context.MaxSeqs = f.engine.Parallel
		srv.AddModel(name, one.loader(log), f.operations.keepAlive)
	}
	return nil
}

// loader returns a function that loads the model of the flags.
func (f *serveFlags) loader(log *slog.Logger) server.Loader {
	return func(ctx context.Context) (server.Engines, func() error, error) {
		m, err := f.start(ctx, log)
		if err != nil {
			return server.Engines{}, nil, err
		}
		return m.Engines, m.close, nil
	}
}

// set starts to serve the model, and returns a function that frees it at the end.
func (f *serveFlags) set(srv *server.Server, name string, m *loaded, log *slog.Logger) (free func() error, err error) {
	if f.operations.sleep > 0 {
		free, err = func() error { return nil }, srv.SetSleeping(name, m.Engines, m.close, f.loader(log), f.operations.sleep)
		if err != nil {
			free = m.close
		}
	} else {
		free, err = m.close, srv.SetEngines(name, m.Engines)
	}
	srv.DescribeModel(name, slices.DeleteFunc(slices.Clone(f.alias), func(s string) bool { return s == name }), f.tags)
	return free, err
}

// feedbackFlags name the file for assessments and their outcomes.
type feedbackFlags struct {
	path  string
	given bool
}

// feedbackOff is the path that disables feedback.
const feedbackOff = "off"

func (f *feedbackFlags) register(flags *pflag.FlagSet) {
	flags.Var((*feedbackPath)(f), "feedback", `file for assessments and reported outcomes; "off": none (default: ~/.cache/stencil/feedback.db)`)
	group(flags, "Signals")
}

// feedbackPath is feedbackFlags as a flag value that records that a path was given.
type feedbackPath feedbackFlags

func (f *feedbackPath) String() string { return f.path }

func (f *feedbackPath) Set(path string) error {
	f.path, f.given = path, true
	return nil
}

func (f *feedbackPath) Type() string { return "file" }

// open returns a server that stores outcomes in the file of the flags, and a function that closes the file. A failure to
// open a file that was named is an error. The default file may be in use by another server on this machine; then the
// error is logged, and /feedback reports it.
func (f *feedbackFlags) open(cfg server.Config, log *slog.Logger) (*server.Server, func(), error) {
	cfg.Feedback = f.path
	homeless := false
	if !f.given {
		folder, err := os.UserCacheDir()
		if err != nil {
			log.Warn("outcomes are not stored: the user has no cache folder", "error", err)
			homeless = true
		} else {
			cfg.Feedback = filepath.Join(folder, "stencil", "feedback.db")
		}
	}
	if cfg.Feedback == feedbackOff {
		cfg.Feedback = ""
	}
	srv := server.New(cfg)
	if homeless {
		srv.Stores("feedback", false)
	}
	switch err := srv.OpenFeedback(); {
	case err == nil:
	case !f.given:
		log.Warn("outcomes are not stored; choose another file with --feedback", "error", err)
	case boltfile.Unwritable(err):
		return nil, nil, fmt.Errorf("%w; with --feedback off the server stores no outcomes", err)
	default:
		return nil, nil, err
	}
	return srv, func() {
		if err := srv.CloseFeedback(); err != nil {
			log.Error("closing the outcomes file failed", "error", err)
		}
	}, nil
}
