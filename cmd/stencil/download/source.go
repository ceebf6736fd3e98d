package download

import (
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/stencil-json/stencil/vocab"
)

// Hub is the base URL for hf: addresses.
const Hub = "https://huggingface.co"

// A Source is the place from which a file is downloaded.
type Source struct {
	Name string // of the file
	url  *url.URL
	hub  bool // an hf: address
}

// Folder returns a folder name that is unique to this source, so that files with the same name
// don't collide.
func (s Source) Folder() string {
	sum := sha256.Sum256([]byte(s.url.String()))
	return hex.EncodeToString(sum[:8])
}

// Resolve parses the address that the user gave.
func Resolve(arg, hub string) (Source, error) {
	rest, isHub := strings.CutPrefix(arg, "hf:")
	if !isHub {
		u, err := url.Parse(arg)
		if err != nil {
			return Source{}, fmt.Errorf("pull: %w", err)
		}
		if u.Scheme == "" || u.Host == "" {
			return Source{}, fmt.Errorf("pull: %q is neither a URL nor hf:OWNER/REPO/FILE.gguf", arg)
		}
		name := path.Base(u.Path)
		if err := checkName(name); err != nil {
			return Source{}, fmt.Errorf("pull: %q names no file: %w", arg, err)
		}
		return Source{url: u, Name: name}, checkScheme(u)
	}
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) != 3 || parts[0] == "" || parts[1] == "" || parts[2] == "" {
		return Source{}, fmt.Errorf("pull: %q is not of the form hf:OWNER/REPO/FILE.gguf", arg)
	}
	repo, revision, ok := strings.Cut(parts[1], "@")
	if !ok {
		revision = "main"
	}
	for _, one := range append([]string{parts[0], repo, revision}, strings.Split(parts[2], "/")...) {
		if one == "" || one == "." || one == ".." { // it would be another address, to which the token goes
			return Source{}, fmt.Errorf("pull: %q is not of the form hf:OWNER/REPO/FILE.gguf: %q is the name of nothing", arg, one)
		}
	}
	base, err := url.Parse(hub)
	if err != nil {
		return Source{}, fmt.Errorf("pull: --hub: %w", err)
	}
	name := path.Base(parts[2])
	if err := checkName(name); err != nil {
		return Source{}, fmt.Errorf("pull: %q names no file: %w", arg, err)
	}
	u := base.JoinPath(parts[0], repo, "resolve", revision, parts[2])
	return Source{url: u, Name: name, hub: true}, checkScheme(u)
}

// checkName rejects names that are not file names, and names with characters that a terminal, a
// shell or another program could misinterpret.
func checkName(name string) error {
	switch {
	case name == "." || name == ".." || name == "/":
		return errors.New("it ends with a folder")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }):
		return fmt.Errorf("a control character or a backslash is in %q", name)
	}
	return nil
}

// checkScheme allows https, and http to the local machine.
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

// Target returns the path to write: out itself or, if out is a folder, the name of the source
// in it.
func Target(src Source, out string) (string, error) {
	info, err := os.Stat(out)
	switch {
	case err == nil && info.IsDir():
		return filepath.Join(out, src.Name), nil
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

// CheckModel checks that a file is a complete GGUF model.
func CheckModel(path string) error {
	g, err := vocab.OpenGGUF(path)
	if err != nil {
		return fmt.Errorf("not a complete model file: %w", err)
	}
	return g.CheckTensors()
}
