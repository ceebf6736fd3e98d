package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/cmd/stencil/download"
)

func newPullCommand() *cobra.Command {
	var out, sum, hub, token string
	var force bool
	cmd := &cobra.Command{
		Use:   "pull URL|hf:OWNER/REPO/FILE.gguf",
		Short: "Download a model file",
		Long: `Download a model file. Run the command again to resume an interrupted download.
The file gets its final name only once it is complete and its SHA-256 is verified,
if known from --sha256 or from the hub. Plain http is allowed for this machine
only.

hf:OWNER/REPO@REVISION/FILE.gguf names a branch, tag or commit.`,
		Example: `  stencil pull hf:bartowski/Llama-3.2-1B-Instruct-GGUF/Llama-3.2-1B-Instruct-Q4_K_M.gguf
  stencil pull https://example.com/model.gguf --sha256 9f86d081884c7d65…`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			src, err := download.Resolve(args[0], hub)
			if err != nil {
				return err
			}
			target, err := download.Target(src, out)
			if err != nil {
				return err
			}
			d := &download.File{Source: src, Path: target, Sum: strings.ToLower(sum), Token: token, Force: force, Model: strings.HasSuffix(target, ".gguf"), Agent: agentName(), Log: cmd.ErrOrStderr()}
			done, err := d.Run(cmd.Context())
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if done.Already {
				fmt.Fprintf(w, "%s already exists\n", target)
			} else {
				fmt.Fprintf(w, "%s: %s, sha256 %s (%s)\n", target, llama.Size(done.Size), done.Sum, done.Verified)
			}
			_, err = fmt.Fprintf(w, "%s serve --model %s\n", program(), target)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&out, "out", "o", ".", "file or folder to write to")
	flags.StringVar(&sum, "sha256", "", "expected SHA-256 of the file")
	flags.StringVar(&hub, "hub", download.Hub, "base URL for hf: addresses")
	flags.StringVar(&token, "token", "", "access token for the hub; prefer the variable STENCIL_TOKEN")
	flags.BoolVar(&force, "force", false, "download again even if the file exists")
	group(flags, "Download")
	return cmd
}

// agentName is the user agent of downloads.
func agentName() string { return "stencil/" + version() }

// hubFlags name a model that is downloaded before it is served, unless it is in the
// cache.
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
	flags.BoolVar(&f.from.Offline, "offline", false, "download nothing: --hf-repo and --model-url name models that were downloaded before")
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

// fetch returns the path of the model, after downloading it to the user's cache if it is
// not there.
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
	if f.from.Offline {
		_, err := os.Stat(target)
		return target, err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", err
	}
	_, err = (&download.File{Source: source, Path: target, Model: true, Agent: agentName(), Log: os.Stderr}).Run(ctx)
	return target, err
}

// program is this program as it was called, for commands that are printed to be copied.
func program() string {
	if called := os.Args[0]; filepath.Base(called) == "stencil" && !filepath.IsAbs(called) {
		return called
	}
	return "stencil"
}
