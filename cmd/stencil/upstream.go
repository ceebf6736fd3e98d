package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"stencil/backend/remote"
	"stencil/server"
)

// upstreamFlags say where a model is that is behind someone else's API.
type upstreamFlags struct {
	config       remote.Config
	alias        string
	engine       string
	capabilities []string
}

func (f *upstreamFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.config.URL, "upstream", "", "serve a model of this OpenAI-compatible API, such as https://api.example.com/v1; without --model, no other")
	flags.StringVar(&f.config.Key, "upstream-key", "", "key for it (better given as STENCIL_UPSTREAM_KEY)")
	flags.StringVar(&f.config.Model, "upstream-model", "", "the model's name there (default: the first that it lists)")
	flags.StringVar(&f.alias, "upstream-alias", "", "the model's name here (default: as there)")
	flags.DurationVar(&f.config.Timeout, "upstream-timeout", 2*time.Minute, "time until it begins to answer, and between the parts of a stream")
	flags.IntVar(&f.config.Retries, "upstream-retries", 3, "further tries after 429, 5xx or a broken connection; negative: none")
	flags.DurationVar(&f.config.MaxWait, "upstream-max-wait", 30*time.Second, "longest wait between two tries, whatever Retry-After says")
	flags.StringVar(&f.engine, "upstream-engine", "", "what it is: "+strings.Join(remote.Engines, ", ")+" (default: found out)")
	flags.StringSliceVar(&f.capabilities, "upstream-capabilities", nil, "what it offers: json_schema, json_object, logprobs, tools, or none (default: found out with a few small requests)")
	flags.Float64Var(&f.config.PricePrompt, "upstream-price-prompt", 0, "price of a million tokens of prompts")
	flags.Float64Var(&f.config.PriceCompletion, "upstream-price-completion", 0, "price of a million tokens of answers")
}

// given reports whether there is an upstream.
func (f *upstreamFlags) given() bool { return f.config.URL != "" }

// configured returns the capabilities that the flags name, nil if they are to
// be found out.
func (f *upstreamFlags) configured() (*remote.Capabilities, error) {
	if f.engine != "" && !slices.Contains(remote.Engines, f.engine) {
		return nil, fmt.Errorf("--upstream-engine must be one of %s, not %s", strings.Join(remote.Engines, ", "), f.engine)
	}
	if f.engine == "" && len(f.capabilities) == 0 {
		return nil, nil
	}
	caps := &remote.Capabilities{Engine: f.engine}
	for _, name := range f.capabilities {
		switch name {
		case "json_schema":
			caps.JSONSchema = true
		case "json_object":
			caps.JSONObject = true
		case "logprobs":
			caps.Logprobs = true
		case "tools":
			caps.Tools = true
		case "none":
		default:
			return nil, fmt.Errorf("--upstream-capabilities: %q is not one of json_schema, json_object, logprobs, tools, none", name)
		}
	}
	return caps, nil
}

// add makes the upstream's model available, after a look at what it offers. It
// returns the name under which it is.
func (f *upstreamFlags) add(ctx context.Context, srv *server.Server, log *slog.Logger) (string, error) {
	var err error
	if f.config.Capabilities, err = f.configured(); err != nil {
		return "", err
	}
	f.config.Log = log
	c, err := remote.New(f.config)
	if err != nil {
		return "", err
	}
	if f.config.Capabilities == nil {
		if _, err := c.Probe(ctx); err != nil {
			return "", fmt.Errorf("%w (what it offers could not be found out; --upstream-capabilities says it)", err)
		}
	}
	name := f.alias
	if name == "" {
		name = c.Model()
	}
	if name == "" {
		return "", fmt.Errorf("the upstream %s lists no models: --upstream-model names one", f.config.URL)
	}
	srv.AddUpstream(name, c)
	return name, nil
}
