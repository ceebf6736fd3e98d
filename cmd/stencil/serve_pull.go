package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/cmd/stencil/download"
)

// hubFlags name a model that is downloaded before it is served, unless it is here.
type hubFlags struct {
	from download.Repository
	url  string
}

func (f *hubFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.from.Name, "hf-repo", "", "download and serve a model of a hub: `OWNER/REPO[:TAG]` (default tag: Q4_K_M)")
	flags.StringVar(&f.from.File, "hf-file", "", "file of --hf-repo, in place of a tag")
	flags.StringVar(&f.from.Token, "hf-token", "", "access token for --hf-repo; prefer the variable STENCIL_HF_TOKEN")
	flags.StringVar(&f.from.Hub, "hub", download.Hub, "base URL for --hf-repo")
	flags.StringVar(&f.url, "model-url", "", "download and serve the model at this URL")
}

func (f *hubFlags) given() bool { return f.from.Name != "" || f.url != "" }

func (f *hubFlags) check(model string) error {
	if f.from.Name != "" && f.url != "" || f.given() && model != "" {
		return errors.New("--model, --model-url and --hf-repo exclude one another")
	}
	if f.from.File != "" && f.from.Name == "" {
		return errors.New("--hf-file needs --hf-repo")
	}
	return nil
}

// fetch returns the path of the model, downloaded to the user's cache if it is not there.
func (f *hubFlags) fetch(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(cache, "stencil", "hub")
	if f.url == "" {
		from := f.from
		from.Agent, from.Log = agentName(), os.Stderr
		return from.Fetch(ctx, folder)
	}
	source, err := download.Resolve(f.url, f.from.Hub)
	if err != nil {
		return "", err
	}
	target := filepath.Join(folder, source.Folder(), source.Name)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	_, err = (&download.File{Source: source, Path: target, Model: true, Agent: agentName(), Log: os.Stderr}).Run(ctx)
	return target, err
}
