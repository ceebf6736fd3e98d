package overhead

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/backend/llama"
	"github.com/stencil-json/stencil/bench/interval"
	"github.com/stencil-json/stencil/decoder/sampling"
)

// A Setting describes the machine, program and model of a measurement.
type Setting struct {
	Date     time.Time `json:"date"`
	CPU      string    `json:"cpu"`
	Cores    int       `json:"cores"`
	Kernels  string    `json:"kernels"`  // instruction sets that llama.cpp uses
	Sampling string    `json:"sampling"` // code path of the sampler
	Go       string    `json:"go"`
	Commit   string    `json:"commit"` // "" if unknown; ends in "+" if files were modified
	Command  string    `json:"command"`

	Model        string `json:"model"`
	ModelBytes   uint64 `json:"model_bytes"`
	Parameters   uint64 `json:"parameters"`
	Quantization string `json:"quantization"`
	Tokens       int    `json:"vocabulary"`
	Threads      int    `json:"threads"` // of llama.cpp
}

// NewSetting describes this machine, this program and a model.
func NewSetting(m backend.Model, threads int, command string) Setting {
	info := m.Info()
	s := Setting{
		Date: time.Now().UTC().Truncate(time.Second), CPU: strings.TrimSpace(cpuid.CPU.BrandName), Cores: runtime.NumCPU(),
		Kernels: llama.CPUFeatures(), Sampling: sampling.Path(), Go: runtime.Version(), Command: command,
		Model: info.Name, ModelBytes: info.Bytes, Parameters: info.Parameters, Quantization: info.Quantization,
		Tokens: m.Vocab().Len(), Threads: threads,
	}
	if build, ok := debug.ReadBuildInfo(); ok {
		for _, x := range build.Settings {
			switch {
			case x.Key == "vcs.revision":
				s.Commit = x.Value[:min(12, len(x.Value))] + s.Commit
			case x.Key == "vcs.modified" && x.Value == "true":
				s.Commit += "+"
			}
		}
	}
	return s
}

// WriteTable writes the setting and the results as text.
func WriteTable(w io.Writer, s Setting, results []*Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "model:   %s, %.0fM weights, %s, %d tokens\n", s.Model, float64(s.Parameters)/1e6, s.Quantization, s.Tokens)
	fmt.Fprintf(&b, "machine: %s, %d cores; llama.cpp with %d threads (%s); sampling with %s\n", s.CPU, s.Cores, s.Threads, s.Kernels, s.Sampling)
	fmt.Fprintf(&b, "program: commit %s, %s, %s\n", s.Commit, s.Go, s.Date.Format("2006-01-02 15:04"))
	fmt.Fprintf(&b, "command: %s\n\n", s.Command)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "schema\tbytes\tseqs\ttemp\tmode\ttok/s\tµs/token\toverhead\t95%\tforced\tms/document")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%d\t%d\t%g\t%s\t%.1f\t%.1f\t%s\t%s\t%.0f%%\t%.1f\n", r.Case, r.SchemaBytes, r.Parallel, r.Temperature, r.Mode,
			r.TokensPerSecond.Median, r.TimePerToken.Median, percent(r.Overhead.Median),
			between(r.Overhead), 100*r.Forced, r.TimePerDocument.Median)
	}
	t.Flush()
	b.WriteString("\nµs of each part for one token, in a round that was traced. Parts of several\nsequences can run side by side, and masks beside the model.\n\n")
	parts := map[string]bool{}
	for _, r := range results {
		for p := range r.Parts {
			parts[p] = true
		}
	}
	names := slices.Sorted(maps.Keys(parts))
	t = tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "schema\tseqs\ttemp\tmode\t"+strings.Join(names, "\t")+"\t")
	for _, r := range results {
		fmt.Fprintf(t, "%s\t%d\t%g\t%s\t", r.Case, r.Parallel, r.Temperature, r.Mode)
		for _, p := range names {
			fmt.Fprintf(t, "%.2f\t", r.Parts[p])
		}
		fmt.Fprintln(t)
	}
	t.Flush()
	_, err := io.WriteString(w, b.String())
	return err
}

func between(e Estimate) string {
	if math.IsNaN(e.Median) {
		return ""
	}
	if e.Rounds < interval.Fewest {
		return fmt.Sprintf("too few rounds (%d)", e.Rounds)
	}
	return percent(e.Low) + " … " + percent(e.High)
}

func percent(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return fmt.Sprintf("%+.1f%%", 100*x)
}

// WriteBenchstat writes every round as a line in Go's benchmark format, the input of
// benchstat.
func WriteBenchstat(w io.Writer, s Setting, results []*Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: stencil/bench/overhead\ncpu: %s\nmodel: %s\ncommit: %s\n", runtime.GOOS, runtime.GOARCH, s.CPU, s.Model, s.Commit)
	for _, r := range results {
		for _, x := range r.samples {
			fmt.Fprintf(&b, "BenchmarkOverhead/%s/seqs=%d/temp=%g/mode=%s-%d\t%d\t%.0f ns/token\n",
				r.Case, r.Parallel, r.Temperature, r.Mode, runtime.GOMAXPROCS(0), r.Tokens/max(1, r.Rounds), 1000*x)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes the setting and the results.
func WriteJSON(w io.Writer, s Setting, results []*Result) error {
	finite := slices.Clone(results)
	for i, r := range results {
		if math.IsNaN(r.Overhead.Median) { // there is no ModeFree to compare with
			without := *r
			without.Overhead = Estimate{}
			finite[i] = &without
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Setting Setting   `json:"setting"`
		Results []*Result `json:"results"`
	}{s, finite})
}
