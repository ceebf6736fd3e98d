package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/defaults"
	"github.com/stencil-json/stencil/engine"
	"github.com/stencil-json/stencil/models"
	"github.com/stencil-json/stencil/server"
)

type serveFlags struct {
	model  modelFlags
	log    logFlags
	hosts  []string
	port   int
	alias  []string
	tags   []string
	grace  time.Duration
	engine engine.Config
	server server.Config

	operations operations
	upstream   upstreamFlags
	hub        hubFlags
	feedback   feedbackFlags
	agent      agentServeFlags
	prompts    promptFlags
	defaults   defaults.Flags
	retry      bool
	embeddings bool
}

// takeModel takes a model that is given as an argument for --model. Arguments are
// looked at before variables and the configuration file, which give way to it.
func takeModel(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case len(args) > 1:
		return fmt.Errorf("one model can be served, not %d; a folder of them with --models", len(args))
	case cmd.Flags().Changed("model"):
		return fmt.Errorf("the model is given twice: %s and --model %s", args[0], cmd.Flags().Lookup("model").Value)
	}
	return cmd.Flags().Set("model", args[0])
}

func newServeCommand() *cobra.Command {
	f := new(serveFlags)
	cmd := &cobra.Command{
		Use:   "serve [MODEL]",
		Short: "Serve a model over HTTP",
		Long: `Serve a model over HTTP, with stencil's own API and those of OpenAI, Anthropic
and Ollama.

MODEL is the same as --model. Without either, the small bundled model is served,
which extracts fields from short texts, classifies them and can do nothing else.
With --upstream, a model behind an OpenAI-compatible API is served, together with
that of --model if both are given.

llama-server's options and variables (LLAMA_ARG_…) are accepted where stencil has a
counterpart; the error for any other says what there is instead.`,
		Example: `  stencil serve
  stencil serve llama-3.2-3b-q4_k_m.gguf --parallel 8 --context 32768`,
		ValidArgsFunction: modelName,
		Args:              takeModel,
		RunE:              func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	f.model.register(flags)
	flags.BoolVar(&f.server.StrictModels, "strict-model-names", false, "refuse requests for models that are not served, with one model too")
	flags.StringSliceVar(&f.alias, "alias", nil, "names of the model; the first in the alphabet is listed (default: the file's name)")
	flags.StringSliceVar(&f.tags, "tags", nil, "tags of the model, shown in lists of models")
	flags.BoolVar(&f.embeddings, "embeddings", false, "compute embeddings with models that generate text, too")
	f.registerModels(flags)
	f.defaults.Chat(flags)
	f.hub.register(flags)
	group(flags, "Model")
	f.prompts.register(flags, &f.engine)
	flags.Int64Var(&f.server.MemoryLimit, "memory-limit", 0, "memory for request bodies and constraints, in bytes (default: half of what is free, up to 8 GiB)")
	group(flags, "Context and memory")
	flags.IntVar(&f.engine.Parallel, "parallel", 4, "number of requests that generate at the same time")
	flags.IntVar(&f.engine.CacheSlots, "cache-slots", 0, "idle slots, which keep earlier prompts for reuse (default: as --parallel)")
	flags.IntVar(&f.engine.PrefillChunk, "prefill-chunk", 0, "maximum number of prompt tokens per step while other requests generate (default 128)")
	flags.DurationVar(&f.engine.PrefillTime, "prefill-time", 0, "time for prompts per step while other requests generate (default 100ms)")
	flags.IntVar(&f.engine.Queue, "queue", 64, "maximum number of waiting requests; further ones get status 429")
	flags.DurationVar(&f.server.RequestTimeout, "request-timeout", 10*time.Minute, "time limit of a request, including time in the queue")
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "time for running requests to finish at shutdown")
	flags.IntVar(&f.engine.Draft, "draft", 0, "maximum number of tokens drafted per step, as far as that pays off; 0: no drafts")
	group(flags, "Scheduling")
	flags.StringSliceVar(&f.hosts, "host", []string{"127.0.0.1"}, "addresses to listen on; 0.0.0.0: all interfaces")
	flags.IntVarP(&f.port, "port", "p", 8080, "port to listen on; 0: any free port")
	flags.Int64Var(&f.server.BodyLimit, "body-limit", 32<<20, "maximum size of a request body in bytes")
	f.registerOperations(flags)
	flags.BoolVar(&f.server.LlamaMetrics, "llamacpp-metrics", false, "give GET /metrics llama-server's names too")
	flags.BoolVar(&f.server.NoSlots, "no-slots", false, "refuse GET /slots")
	flags.Int64Var(&f.server.SlotBytes, "slot-save-bytes", 8<<30, "maximum size of all files in --slot-save-path in bytes; more is refused")
	flags.StringVar(&f.server.SlotFolder, "slot-save-path", "", "folder in which POST /slots/N saves slots; files hold prompt text (default: none are saved)")
	f.registerResponses(flags)
	group(flags, "HTTP")
	flags.IntVar(&f.server.DefaultTokens, "max-tokens", 1024, "max_tokens for requests that don't set one; -1: what the context has room for")
	f.defaults.Sampling(flags)
	group(flags, "Sampling")
	flags.IntVar(&f.server.SchemaCache, "schema-cache", 256, "number of compiled schemas to keep")
	limits := &f.server.SchemaLimits
	flags.IntVar(&limits.Bytes, "schema-bytes", 0, "maximum size of a schema in bytes (default 8 MiB)")
	flags.IntVar(&limits.Depth, "schema-depth", 0, "maximum nesting of a schema (default 512)")
	flags.IntVar(&limits.States, "schema-states", 0, "maximum number of states of a schema at once (default 4 million)")
	flags.IntVar(&limits.Steps, "schema-steps", 0, "maximum number of steps to decide whether a schema can be satisfied (default 2 million)")
	flags.DurationVar(&limits.Time, "schema-time", 0, "maximum time to compile a schema or to compute a mask (default 10s)")
	flags.IntVar(&limits.Memory, "schema-memory", 0, "maximum memory of what is made of one schema, in bytes (default 512 MiB)")
	registerToolForm(flags, &f.server.ToolForm)
	flags.BoolVar(&f.retry, "retry-enabled", true, "without masks, ask again after an invalid answer")
	flags.IntVar(&f.server.RetryMax, "retry-max", 2, "number of retries after an invalid answer, unless the request sets retry_max")
	group(flags, "Constraint")
	f.upstream.register(flags)
	f.agent.register(flags, &f.server)
	f.feedback.register(flags)
	f.log.register(flags, "info")
	flags.BoolVar(&f.server.Verbose, "verbose", false, "add its prompt to the answer of a chat")
	flags.BoolVar(&f.server.LogBodies, "log-bodies", false, "log request bodies, prompts included")
	group(flags, "Logging")
	return cmd
}

// memoryLimit returns set if it is positive, else half of the memory that is available
// within the control group's limit, but at least 512 MiB, as usual requests need, and
// at most 8 GiB.
func memoryLimit(set int64) int64 {
	if set > 0 {
		return set
	}
	available, _, ok := llama.SystemMemory()
	if !ok {
		return 0 // the server's default
	}
	return min(8<<30, max(512<<20, available/2))
}

func (f *serveFlags) run(ctx context.Context, stdout io.Writer) error {
	log, err := f.log.logger(os.Stderr)
	if err != nil {
		return err
	}
	if f.engine.Context, err = f.model.params(); err != nil {
		return err
	}
	if f.engine.Draft < 0 {
		return fmt.Errorf("--draft must not be negative")
	}
	if err := errors.Join(f.checkOperations(), f.protected(settingsOf(ctx)), f.checkResponses(), f.hub.check(f.model.path)); err != nil {
		return err
	}
	if err := f.defaults.Set(&f.server); err != nil {
		return err
	}
	if s := settingsOf(ctx); s.File != "" {
		log.Info("configuration", "file", s.File)
	}
	l, err := server.Listen(f.hosts, f.port)
	if err != nil {
		return fmt.Errorf("%w (choose another port with --port)", err)
	}
	defer l.Close()
	f.server.Version, f.server.Log, f.engine.Log = version(), log, log
	if !f.retry || f.server.RetryMax == 0 {
		f.server.RetryMax = -1
	}
	f.server.MemoryLimit = memoryLimit(f.server.MemoryLimit)
	closeAgent, err := f.agent.open(&f.server, f.contextTokens())
	if err != nil {
		return err
	}
	defer closeAgent()
	srv, closeFeedback, err := f.feedback.open(f.server, log)
	if err != nil {
		return err
	}
	defer closeFeedback()
	closeResponses, err := openResponses(srv, log)
	if err != nil {
		return err
	}
	defer closeResponses()
	closePrompts, err := f.prompts.open(srv, &f.engine, log)
	if err != nil {
		return err
	}
	defer closePrompts()

	// The server listens before it loads the model, so that a health check can
	// distinguish "loading" from "down".
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	server.SpareThreads()
	go func() { served <- srv.Serve(serving, l, f.grace) }()

	if f.upstream.given() && f.model.path == "" && !f.hub.given() {
		name, err := f.upstream.add(serving, srv, log)
		if err != nil {
			stop()
			if ctx.Err() != nil { // stopped while probing
				return <-served
			}
			return errors.Join(err, <-served)
		}
		log.Info("ready", "model", name, "address", l.Addr().String())
		fmt.Fprint(stdout, f.welcome(name, nil, urlOf(l.Addr(), f.server.TLSCert != "")))
		return <-served
	}
	if f.hub.given() {
		f.model.path, err = f.hub.fetch(serving)
	}
	var m *loaded
	if err == nil {
		m, err = f.start(serving, log)
	}
	if err != nil {
		stop()
		if ctx.Err() != nil { // stopped while loading
			return <-served
		}
		return errors.Join(err, <-served)
	}
	name := f.name(m.model)
	free, err := f.set(srv, name, m, log)
	if err == nil {
		err = f.addModels(srv, name, log)
	}
	if err != nil {
		stop()
		return errors.Join(err, <-served, srv.CloseModels(), free())
	}
	if f.upstream.given() {
		if _, err := f.upstream.add(serving, srv, log); err != nil {
			stop()
			if ctx.Err() != nil {
				err = nil
			}
			return errors.Join(err, <-served, srv.CloseModels(), free())
		}
	}
	log.Info("ready", "model", name, "address", l.Addr().String(), "context", m.context(), "parallel", f.engine.Parallel)
	fmt.Fprint(stdout, f.welcome(name, m, urlOf(l.Addr(), f.server.TLSCert != "")))

	err = <-served
	return errors.Join(err, srv.CloseModels(), free())
}

// name returns the name under which clients request the model.
func (f *serveFlags) name(model backend.Model) string {
	base := filepath.Base(model.Info().Path)
	if len(f.alias) > 0 {
		return slices.Min(f.alias)
	}
	return cmp.Or(strings.TrimSuffix(base, filepath.Ext(base)), "model")
}

// urlOf returns the URL of an address; for a wildcard address, that of loopback.
func urlOf(addr net.Addr, secure bool) string {
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return scheme + addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return scheme + net.JoinHostPort(host, port)
}

// welcome returns a message with a command to try. m is nil for an upstream
// model. The command names the variable that holds the API key, never the key.
func (f *serveFlags) welcome(name string, m *loaded, url string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nServing %s on %s\n", name, url)
	if m != nil && m.Text != nil && strings.HasPrefix(m.model.Info().Description, models.RandomDescription) {
		b.WriteString("The model's weights are random: the text is meaningless, but fits the schema.\n")
	}
	header := ""
	if len(f.server.Access.Keys) > 0 {
		header = ` -H "Authorization: Bearer $STENCIL_API_KEY"`
	}
	b.WriteString("\nTry this:\n\n")
	if m != nil && m.Text == nil {
		b.WriteString(tryEmbedding(m.Embeddings, name, url, header) + "\n")
		return b.String()
	}
	text := "Maria Lopez, 34, from Bergen has chosen the team plan. Write to maria.lopez@example.com."
	asked := `"messages": [{"role": "user", "content": "` + text + `"}]`
	if m != nil && (f.model.path == "" || m.Text.Vocab().ChatTemplate() == "") {
		asked = `"prompt": "` + text + `\n"` // what the bundled model was trained on, and what base models go on with
	}
	fmt.Fprintf(&b, `curl -s %s/generate_json%s -d '{
  %s,
  "max_tokens": 80,
  "temperature": 0,
  "schema": {
    "type": "object",
    "properties": {
      "name": {"type": "string", "minLength": 1, "maxLength": 40},
      "age": {"type": "integer", "minimum": 0, "maximum": 120},
      "email": {"type": "string"},
      "plan": {"enum": ["free", "pro", "team"]}
    },
    "required": ["name", "age", "email", "plan"],
    "additionalProperties": false
  }
}'

`, url, header, asked)
	return b.String()
}
