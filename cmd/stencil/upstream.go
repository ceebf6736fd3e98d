package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/remote"
	"github.com/stencil-json/stencil/server"
)

// upstreamFlags name a model behind an OpenAI-compatible API.
type upstreamFlags struct {
	config       remote.Config
	alias        string
	engine       string
	capabilities []string
}

func (f *upstreamFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.config.URL, "upstream", "", "base URL of an OpenAI-compatible API whose model to use, such as https://api.example.com/v1")
	flags.StringVar(&f.config.Key, "upstream-key", "", "API key for --upstream; prefer the variable STENCIL_UPSTREAM_KEY")
	flags.StringVar(&f.config.Model, "upstream-model", "", "name of the model at the upstream (default: the first in /v1/models)")
	flags.StringVar(&f.alias, "upstream-alias", "", "name under which to serve the upstream model (default: as --upstream-model)")
	flags.DurationVar(&f.config.Timeout, "upstream-timeout", 2*time.Minute, "maximum time until the upstream answers, and between two events of a stream")
	flags.IntVar(&f.config.Retries, "upstream-retries", 3, "retries after status 429, 5xx or a broken connection; negative: none")
	flags.DurationVar(&f.config.MaxWait, "upstream-max-wait", 30*time.Second, "longest wait before a retry, even if Retry-After asks for more")
	flags.StringVar(&f.engine, "upstream-engine", "", "server software of the upstream: "+strings.Join(remote.Engines, ", ")+" (default: detect)")
	flags.StringSliceVar(&f.capabilities, "upstream-capabilities", nil, "upstream features: json_schema, json_object, logprobs, tools, or none (default: probe)")
	flags.Float64Var(&f.config.PricePrompt, "upstream-price-prompt", 0, "price of a million prompt tokens")
	flags.Float64Var(&f.config.PriceCompletion, "upstream-price-completion", 0, "price of a million completion tokens")
	group(flags, "Upstream")
}

// given reports whether --upstream is set.
func (f *upstreamFlags) given() bool { return f.config.URL != "" }

// configured returns the capabilities that the flags name; nil if the upstream must
// be probed.
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

// add probes the upstream, unless its capabilities are configured, and serves its
// model. It returns the name under which the model is served.
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
			return "", fmt.Errorf("%w (probing the upstream failed; set --upstream-capabilities to skip it)", err)
		}
	}
	name := f.alias
	if name == "" {
		name = c.Model()
	}
	if name == "" {
		return "", fmt.Errorf("the upstream %s lists no models; name one with --upstream-model", f.config.URL)
	}
	srv.AddUpstream(name, c)
	return name, nil
}
