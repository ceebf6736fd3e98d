package download

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Repository is a repository on a hub, with a model in several quantizations.
type Repository struct {
	Hub   string // base URL
	Name  string // OWNER/REPO[@REVISION][:TAG]; the tag is the quantization, such as Q4_K_M
	File  string // instead of a tag: a file in the repository
	Token string
	Agent string // the name of the program
	Log   io.Writer

	Offline bool // use only files that exist locally
}

// usualTags are tried in this order if no tag is given.
var usualTags = []string{"Q4_K_M", "Q8_0"}

// maxListing is the maximum size of a hub's listing of one repository, in bytes.
const maxListing = 16 << 20

// hubPatience is the maximum time for a hub to list a repository.
const hubPatience = time.Minute

// split returns the parts of the name.
func (r *Repository) split() (owner, repo, revision, tag string, err error) {
	name, tag, _ := strings.Cut(r.Name, ":")
	owner, repo, ok := strings.Cut(name, "/")
	repo, revision, _ = strings.Cut(repo, "@")
	if !ok || !repositoryName.MatchString(owner) || !repositoryName.MatchString(repo) || revision != "" && !repositoryName.MatchString(revision) {
		return "", "", "", "", fmt.Errorf("pull: %q is not of the form OWNER/REPO[:TAG]", r.Name)
	}
	return owner, repo, cmp.Or(revision, "main"), tag, nil
}

// repositoryName matches valid names of owners, repositories and revisions, which also become names of folders.
var repositoryName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

// Fetch returns the path of the model file below a folder. Missing files are downloaded. If all files exist, the hub is
// not asked.
func (r *Repository) Fetch(ctx context.Context, folder string) (string, error) {
	owner, repo, revision, tag, err := r.split()
	if err != nil {
		return "", err
	}
	below := filepath.Join(folder, owner, repo)
	if revision != "main" {
		below += "@" + revision
	}
	// Without a tag, the hub is asked for a listing unless the file with the usual tag exists.
	if file, err := choose(here(below), r.File, cmp.Or(tag, usualTags[0])); err == nil && partsHere(below, file) {
		return filepath.Join(below, filepath.FromSlash(file)), nil
	}
	if r.Offline {
		return "", fmt.Errorf("pull: %s is not here, in %s, and downloads are off", r.Name, below)
	}
	listed, err := r.list(ctx, owner, repo, revision)
	if err != nil {
		return "", err
	}
	var names []string
	for name := range listed {
		names = append(names, name)
	}
	slices.Sort(names)
	file, err := choose(names, r.File, tag)
	if err != nil {
		return "", fmt.Errorf("pull: %s: %w", r.Name, err)
	}
	for _, part := range parts(file) {
		sum, ok := listed[part]
		if !ok {
			return "", fmt.Errorf("pull: %s has no file %s", r.Name, part)
		}
		source, err := Resolve("hf:"+owner+"/"+repo+"@"+revision+"/"+part, r.Hub)
		if err != nil {
			return "", err
		}
		target := filepath.Join(below, filepath.FromSlash(part))
		if _, err := os.Stat(target); err == nil {
			continue // it has its final name, so it is complete
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return "", err
		}
		d := &File{Source: source, Path: target, Sum: sum, Model: true, Token: r.Token, Agent: r.Agent, Log: r.Log}
		if _, err := d.Run(ctx); err != nil {
			return "", err
		}
	}
	return filepath.Join(below, filepath.FromSlash(file)), nil
}

// list asks the hub for the model files of a repository, with their SHA-256 if the hub reports it.
func (r *Repository) list(ctx context.Context, owner, repo, revision string) (map[string]string, error) {
	base, err := url.Parse(r.Hub)
	if err != nil {
		return nil, fmt.Errorf("pull: --hub: %w", err)
	}
	u := base.JoinPath("api", "models", owner, repo, "tree", revision)
	u.RawQuery = "recursive=true"
	if err := checkScheme(u); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", r.Agent)
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	client := &http.Client{CheckRedirect: (&File{Source: Source{}}).checkRedirect}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("pull: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("pull: %s: the hub answered %q: is it spelt so, and is a token needed, or the licence to be accepted first?", r.Name, resp.Status)
	default:
		return nil, fmt.Errorf("pull: %s: the hub answered %q", r.Name, resp.Status)
	}
	var files []struct {
		Type string `json:"type"`
		Path string `json:"path"`
		LFS  struct {
			Sum string `json:"oid"`
		} `json:"lfs"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxListing)).Decode(&files); err != nil {
		return nil, fmt.Errorf("pull: %s: the hub's list of files: %w", r.Name, err)
	}
	out := map[string]string{}
	for _, f := range files {
		if f.Type != "file" || !isModel(f.Path) {
			continue
		}
		sum := ""
		if isSHA256(f.LFS.Sum) {
			sum = f.LFS.Sum
		}
		out[f.Path] = sum
	}
	return out, nil
}

// isModel reports whether a path in a repository is a model file that can be stored here, rather than an accessory file.
func isModel(name string) bool {
	base := path.Base(name)
	if !strings.HasSuffix(base, ".gguf") || strings.HasPrefix(base, "mmproj") || strings.Contains(base, "imatrix") || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if checkName(part) != nil {
			return false
		}
	}
	return true
}

// here returns the model files below a folder, as paths with slashes.
func here(folder string) (out []string) {
	// Files that can't be read count as missing.
	_ = filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if name, err := filepath.Rel(folder, p); err == nil && isModel(filepath.ToSlash(name)) {
			out = append(out, filepath.ToSlash(name))
		}
		return nil
	})
	return out
}

func partsHere(folder, file string) bool {
	for _, part := range parts(file) {
		if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(part))); err != nil {
			return false
		}
	}
	return true
}

var partName = regexp.MustCompile(`-(\d{5})-of-(\d{5})\.gguf$`)

// parts returns all files of a model, given the first of them.
func parts(file string) []string {
	m := partName.FindStringSubmatch(file)
	if m == nil {
		return []string{file}
	}
	var out []string
	count, _ := strconv.Atoi(m[2])
	for i := range count {
		out = append(out, strings.TrimSuffix(file, m[0])+fmt.Sprintf("-%05d-of-%s.gguf", i+1, m[2]))
	}
	return out
}

// choose returns the requested file: the given one, else the first one whose name contains the tag or, without a tag, one
// of usualTags.
func choose(names []string, file, tag string) (string, error) {
	if file != "" {
		if !slices.Contains(names, file) {
			return "", fmt.Errorf("there is no file %s", file)
		}
		return file, nil
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		m := partName.FindStringSubmatch(name)
		return m != nil && m[1] != "00001"
	})
	if len(names) == 0 {
		return "", errors.New("there is no .gguf file")
	}
	tags := usualTags
	if tag != "" {
		tags = []string{tag}
	}
	for _, one := range tags {
		word := regexp.MustCompile(`(?i)(^|[-._/])` + regexp.QuoteMeta(one) + `([-.]|$)`)
		for _, name := range names {
			if word.MatchString(name) {
				return name, nil
			}
		}
	}
	if tag != "" {
		return "", fmt.Errorf("no file is named after %q: there are %s", tag, strings.Join(names, ", "))
	}
	return names[0], nil
}
