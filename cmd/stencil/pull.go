package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
			_, err = fmt.Fprintf(w, "stencil serve --model %s\n", target)
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

// agentName is what servers are told that this program is.
func agentName() string { return "stencil/" + version() }
