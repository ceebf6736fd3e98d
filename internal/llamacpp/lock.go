package main

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// A lock pins what is fetched.
type lock struct {
	LlamaCPP string            `json:"llama.cpp"` // the release that the packages carry
	Packages string            `json:"version"`   // of the packages
	SHA512   map[string]string `json:"integrity"` // of their archives, as npm writes it: "sha512-" and base64
}

// sourcePackage carries llama.cpp's sources, headers among them.
const sourcePackage = "node-llama-cpp"

// platforms gives the package of each platform, as GOOS/GOARCH.
var platforms = map[string]string{
	"linux/amd64":  "linux-x64",
	"linux/arm64":  "linux-arm64",
	"linux/arm":    "linux-armv7l",
	"darwin/arm64": "mac-arm64-metal",
	"darwin/amd64": "mac-x64",
}

// gpuPackages gives the packages of the GPU back ends, by platform and kind.
// The second one of CUDA has the code for older GPUs.
var gpuPackages = map[string][]string{
	"linux/amd64 cuda":   {"linux-x64-cuda", "linux-x64-cuda-ext"},
	"linux/amd64 vulkan": {"linux-x64-vulkan"},
}

func (t *tree) lockPath() string { return filepath.Join(t.root, "internal", "llamacpp", "lock.json") }

func (t *tree) readLock() error {
	text, err := os.ReadFile(t.lockPath())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &t.lock); err != nil {
		return fmt.Errorf("%s: %w", t.lockPath(), err)
	}
	if t.lock.LlamaCPP == "" || t.lock.Packages == "" {
		return fmt.Errorf("%s: it names no version", t.lockPath())
	}
	return nil
}

// writeLock pins another version of the packages. What the registry says is
// taken as it is; the change is for a person to look at.
func (t *tree) writeLock(version string) error {
	l := lock{Packages: version, SHA512: map[string]string{}}
	var names []string
	for _, p := range platforms {
		names = append(names, p)
	}
	for _, list := range gpuPackages {
		names = append(names, list...)
	}
	for i, p := range names {
		names[i] = "@node-llama-cpp/" + p
	}
	for _, name := range append(names, sourcePackage) {
		out, err := exec.Command("npm", "view", name+"@"+version, "dist.integrity").Output()
		if err != nil || len(strings.TrimSpace(string(out))) == 0 {
			say("%s %s is not in the registry: left out", name, version)
			continue
		}
		l.SHA512[name] = strings.TrimSpace(string(out))
	}
	if l.SHA512[sourcePackage] == "" {
		return fmt.Errorf("%s %s is not in the registry", sourcePackage, version)
	}
	t.lock = l
	dir, err := os.MkdirTemp("", "llamacpp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := t.unpack(sourcePackage, dir); err != nil {
		return err
	}
	var info struct {
		Release string `json:"release"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "llama", "binariesGithubRelease.json"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &info); err != nil || info.Release == "" {
		return errors.New("the package does not say which llama.cpp it carries")
	}
	l.LlamaCPP = strings.TrimPrefix(info.Release, "v")
	text, err = json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(t.lockPath(), append(text, '\n'), 0o644)
}

// platformPackage returns the package for this machine, and why there is none.
func (t *tree) platformPackage() (string, error) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	name := platforms[here]
	if name == "" || t.lock.SHA512["@node-llama-cpp/"+name] == "" {
		return "", fmt.Errorf("there is no prebuilt llama.cpp %s for %s; use LLAMA=system (a package of your system, such as Homebrew's llama.cpp) or LLAMA=source", t.lock.LlamaCPP, here)
	}
	if musl, _ := filepath.Glob("/lib/ld-musl-*"); len(musl) > 0 {
		return "", errors.New("the prebuilt llama.cpp needs glibc, and this system has musl; use LLAMA=source")
	}
	return "@node-llama-cpp/" + name, nil
}

// unpack fetches a package, checks it against the lock and unpacks it into dir.
func (t *tree) unpack(name, dir string) error {
	want := t.lock.SHA512[name]
	if want == "" {
		return fmt.Errorf("%s is not in %s", name, t.lockPath())
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return errors.New("npm is missing, which fetches it; install Node.js, or use LLAMA=source or LLAMA=system")
	}
	tmp, err := os.MkdirTemp("", "llamacpp-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	say("fetching %s %s", name, t.lock.Packages)
	// Not within the module, whose folder might have settings for npm.
	cmd := exec.Command("npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", tmp, name+"@"+t.lock.Packages)
	cmd.Dir = tmp
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm cannot fetch %s %s: %w\n%s", name, t.lock.Packages, err, strings.TrimSpace(said.String()))
	}
	found, _ := filepath.Glob(filepath.Join(tmp, "*.tgz"))
	if len(found) != 1 {
		return fmt.Errorf("npm left %d archives of %s", len(found), name)
	}
	got, err := integrity(found[0])
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s %s is not what was pinned: its archive has %s, %s says %s", name, t.lock.Packages, got, filepath.Base(t.lockPath()), want)
	}
	return untar(found[0], dir)
}

// integrity returns the hash of a file as npm writes it.
func integrity(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha512.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return "sha512-" + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
