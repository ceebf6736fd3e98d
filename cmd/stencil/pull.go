package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/vocab"
)

// defaultHub is the base URL for hf: addresses.
const defaultHub = "https://huggingface.co"

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
			src, err := resolve(args[0], hub)
			if err != nil {
				return err
			}
			target, err := targetPath(src, out)
			if err != nil {
				return err
			}
			d := &download{source: src, target: target, want: strings.ToLower(sum), token: token, force: force, log: cmd.ErrOrStderr()}
			if d.want != "" && !isSHA256(d.want) {
				return fmt.Errorf("--sha256 must be 64 hexadecimal digits, not %q", sum)
			}
			if strings.HasSuffix(target, ".gguf") {
				d.check, d.magic = checkModel, "GGUF"
			}
			done, err := d.run(cmd.Context())
			if err != nil {
				return err
			}
			w := cmd.OutOrStdout()
			if done.already {
				fmt.Fprintf(w, "%s already exists\n", target)
			} else {
				fmt.Fprintf(w, "%s: %s, sha256 %s (%s)\n", target, llama.Size(done.size), done.sum, done.verified)
			}
			_, err = fmt.Fprintf(w, "stencil serve --model %s\n", target)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&out, "out", "o", ".", "file or folder to write to")
	flags.StringVar(&sum, "sha256", "", "expected SHA-256 of the file")
	flags.StringVar(&hub, "hub", defaultHub, "base URL for hf: addresses")
	flags.StringVar(&token, "token", "", "access token for the hub; prefer the variable STENCIL_TOKEN")
	flags.BoolVar(&force, "force", false, "download again even if the file exists")
	group(flags, "Download")
	return cmd
}

// A pullSource is where a file comes from.
type pullSource struct {
	url  *url.URL
	file string // its name
	hub  bool   // an hf: address
}

// resolve parses the address that the user gave.
func resolve(arg, hub string) (pullSource, error) {
	rest, isHub := strings.CutPrefix(arg, "hf:")
	if !isHub {
		u, err := url.Parse(arg)
		if err != nil {
			return pullSource{}, fmt.Errorf("pull: %w", err)
		}
		if u.Scheme == "" || u.Host == "" {
			return pullSource{}, fmt.Errorf("pull: %q is neither a URL nor hf:OWNER/REPO/FILE.gguf", arg)
		}
		name := path.Base(u.Path)
		if err := checkName(name); err != nil {
			return pullSource{}, fmt.Errorf("pull: %q names no file: %w", arg, err)
		}
		return pullSource{url: u, file: name}, checkScheme(u)
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return pullSource{}, fmt.Errorf("pull: %q is not of the form hf:OWNER/REPO/FILE.gguf", arg)
	}
	repo, revision, ok := strings.Cut(parts[1], "@")
	if !ok {
		revision = "main"
	}
	base, err := url.Parse(hub)
	if err != nil {
		return pullSource{}, fmt.Errorf("pull: --hub: %w", err)
	}
	name := path.Base(parts[2])
	if err := checkName(name); err != nil {
		return pullSource{}, fmt.Errorf("pull: %q names no file: %w", arg, err)
	}
	u := base.JoinPath(parts[0], repo, "resolve", revision, parts[2])
	return pullSource{url: u, file: name, hub: true}, checkScheme(u)
}

// checkName refuses names that are none, and those that a terminal, a shell or another
// program would take for something else.
func checkName(name string) error {
	switch {
	case name == "." || name == ".." || name == "/":
		return errors.New("it ends with a folder")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }):
		return fmt.Errorf("a control character or a backslash is in %q", name)
	}
	return nil
}

// checkScheme allows https, and http to this machine itself.
func checkScheme(u *url.URL) error {
	switch u.Scheme {
	case "https":
		return nil
	case "http":
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() == "localhost" || ip != nil && ip.IsLoopback() {
			return nil
		}
		return fmt.Errorf("pull: %s: plain http is allowed for this machine only; use https", u.Redacted())
	}
	return fmt.Errorf("pull: %s: unsupported scheme %q; use https", u.Redacted(), u.Scheme)
}

// targetPath returns the path to write: out itself, or the name of the file in the
// folder out.
func targetPath(src pullSource, out string) (string, error) {
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return filepath.Join(out, src.file), nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", err
	case err != nil && strings.HasSuffix(out, string(filepath.Separator)):
		return "", fmt.Errorf("pull: the folder %s does not exist", out)
	}
	return out, nil
}

func isSHA256(s string) bool {
	if len(s) != 64 {
		return false
	}
	for _, c := range s {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// checkModel checks that a file is a complete GGUF model.
func checkModel(path string) error {
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		return fmt.Errorf("not a complete model file: %w", err)
	}
	return g.CheckTensors()
}
