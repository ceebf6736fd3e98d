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
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stencil/backend"
	"stencil/engine"
	"stencil/models"
	"stencil/server"
)

type serveFlags struct {
	model  modelFlags
	log    logFlags
	host   string
	port   int
	alias  string
	grace  time.Duration
	engine engine.Config
	server server.Config

	operations operations
	upstream   upstreamFlags
	feedback   feedbackFlags
	agent      agentServeFlags
	prompts    promptFlags
	retry      bool
	embeddings bool
}

func newServeCommand() *cobra.Command {
	f := new(serveFlags)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a model over HTTP",
		Long: `Serve a model over HTTP. Without --model it is the small bundled one: its
weights are random, so the text means nothing, but every document it writes
fits its schema.`,
		Example: `  stencil serve
  stencil serve --model llama-3.2-3b-q4_k_m.gguf --parallel 8 --context 32768`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	flags := cmd.Flags()
	f.model.register(flags)
	f.log.register(flags, "info")
	completeModelFlags(cmd)
	flags.StringVar(&f.host, "host", "127.0.0.1", "address to listen on; 0.0.0.0 for all of the machine's")
	flags.IntVarP(&f.port, "port", "p", 8080, "port to listen on; 0: any free one")
	flags.StringVar(&f.alias, "alias", "", "name under which the model is served (default: its file's name)")
	flags.IntVar(&f.engine.Parallel, "parallel", 4, "requests that generate at the same time")
	flags.IntVar(&f.engine.CacheSlots, "cache-slots", 0, "earlier prompts kept for reuse, beside the running ones (default: as --parallel)")
	flags.IntVar(&f.engine.Queue, "queue", 64, "requests that may wait; more are answered with 429")
	flags.IntVar(&f.engine.PrefillChunk, "prefill-chunk", 0, "tokens of prompts in a step while others generate (default 128)")
	flags.IntVar(&f.server.DefaultTokens, "max-tokens", 1024, "tokens generated for requests that give no max_tokens")
	flags.DurationVar(&f.server.RequestTimeout, "request-timeout", 10*time.Minute, "time limit of one request, waiting included")
	flags.BoolVar(&f.embeddings, "embeddings", false, "have models that write text give embeddings too; models made for embeddings or reranking always do")
	flags.Int64Var(&f.server.BodyLimit, "body-limit", 32<<20, "bytes of a request's body")
	flags.IntVar(&f.server.SchemaCache, "schema-cache", 256, "compiled schemas kept")
	f.prompts.register(flags, &f.engine)
	f.registerOperations(flags)
	f.upstream.register(flags)
	f.feedback.register(flags)
	f.agent.register(flags, &f.server)
	flags.BoolVar(&f.retry, "retry-enabled", true, "ask again for an answer that does not fit, where masks don't see to it")
	flags.IntVar(&f.server.RetryMax, "retry-max", 2, "how often; a request's retry_max overrides it")
	flags.DurationVar(&f.grace, "grace", 30*time.Second, "time for running requests to finish at a shutdown")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, stdout io.Writer) error {
	log, err := f.log.logger(os.Stderr)
	if err != nil {
		return err
	}
	if f.engine.Context, err = f.model.params(); err != nil {
		return err
	}
	if err := f.checkOperations(); err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(f.host, strconv.Itoa(f.port)))
	if err != nil {
		return fmt.Errorf("%w (another port: --port)", err)
	}
	defer l.Close()
	f.server.Version, f.server.Log, f.engine.Log = version(), log, log
	if !f.retry || f.server.RetryMax == 0 {
		f.server.RetryMax = -1
	}
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
	closePrompts, err := f.prompts.open(&f.engine, log)
	if err != nil {
		return err
	}
	defer closePrompts()

	// Listening comes before loading, so that whatever watches the server can
	// tell "loading" from "gone".
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- srv.Serve(serving, l, f.grace) }()

	if f.upstream.given() && f.model.path == "" {
		name, err := f.upstream.add(serving, srv, log)
		if err != nil {
			stop()
			return errors.Join(err, <-served)
		}
		log.Info("ready", "model", name, "address", l.Addr().String())
		fmt.Fprint(stdout, f.welcome(name, nil, urlOf(l.Addr(), f.server.TLSCert != "")))
		return <-served
	}
	m, err := f.start(serving, log)
	if err != nil {
		stop()
		if ctx.Err() != nil { // told to stop while loading
			return <-served
		}
		return errors.Join(err, <-served)
	}
	name := f.name(m.model)
	if err := srv.SetEngines(name, m.Engines); err != nil {
		stop()
		return errors.Join(err, <-served, m.close())
	}
	if err := f.addModels(srv, name, log); err != nil {
		stop()
		return errors.Join(err, <-served, m.close())
	}
	if f.upstream.given() {
		if _, err := f.upstream.add(serving, srv, log); err != nil {
			stop()
			return errors.Join(err, <-served, srv.CloseModels(), m.close())
		}
	}
	log.Info("ready", "model", name, "address", l.Addr().String(), "context", m.context(), "parallel", f.engine.Parallel)
	fmt.Fprint(stdout, f.welcome(name, m, urlOf(l.Addr(), f.server.TLSCert != "")))

	err = <-served
	return errors.Join(err, srv.CloseModels(), m.close())
}

// name is how clients call the model.
func (f *serveFlags) name(model backend.Model) string {
	base := filepath.Base(model.Info().Path)
	return cmp.Or(f.alias, strings.TrimSuffix(base, filepath.Ext(base)), "model")
}

// urlOf returns an address as it is typed: a wildcard is reached by loopback.
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

// welcome says what to do next with a model, nil for one of an upstream. Where a
// key is needed, it is left to whoever pastes the command.
func (f *serveFlags) welcome(name string, m *loaded, url string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nServing %s on %s\n", name, url)
	if m != nil && m.Text != nil && strings.HasPrefix(m.model.Info().Description, models.RandomDescription) {
		b.WriteString("Its weights are random: the text means nothing, but it fits the schema.\n")
	}
	header := ""
	if len(f.server.APIKeys) > 0 {
		header = ` -H "Authorization: Bearer $STENCIL_API_KEY"`
	}
	b.WriteString("\nTry this:\n\n")
	if m != nil && m.Text == nil {
		b.WriteString(tryEmbedding(m.Embeddings, name, url, header) + "\n")
		return b.String()
	}
	fmt.Fprintf(&b, `curl -s %s/generate_json%s -d '{
  "prompt": "Maria Lopez, 34, from Bergen has chosen the team plan. Write to maria.lopez@example.com.\n",
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

`, url, header)
	return b.String()
}
