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

// A lock pins the packages that are fetched.
type lock struct {
	LlamaCPP string            `json:"llama.cpp"` // the release in the packages
	Packages string            `json:"version"`   // version of the packages
	SHA512   map[string]string `json:"integrity"` // of the archives, in npm's format: "sha512-" and base64
}

// sourcePackage contains llama.cpp's sources, including its headers.
const sourcePackage = "node-llama-cpp"

// platforms maps each platform, as GOOS/GOARCH, to its package.
var platforms = map[string]string{
	"linux/amd64":  "linux-x64",
	"linux/arm64":  "linux-arm64",
	"linux/arm":    "linux-armv7l",
	"darwin/arm64": "mac-arm64-metal",
	"darwin/amd64": "mac-x64",
}

// gpuPackages maps platform and kind to the packages of the GPU back end. The second
// one of CUDA is for older GPUs.
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

// writeLock pins another version of the packages. It trusts the hashes of the
// registry; the change should be reviewed.
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

// platformPackage returns the package for this machine, or an error with the reason
// why there is none.
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

// unpack fetches a package, verifies it against the lock and unpacks it into dir.
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
	// Not in the folder of the module, which could contain settings for npm.
	cmd := exec.Command("npm", "pack", "--loglevel=error", "--ignore-scripts", "--pack-destination", tmp, name+"@"+t.lock.Packages)
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

// integrity returns the hash of a file in npm's format.
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
