//go:build llama && cgo

package llama

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/stencil-json/stencil/backend"
)

// A trialRequest is the input of the process, one line on its standard input. The
// input stays open: the process exits when it is closed.
type trialRequest struct {
	Path    string
	LoRA    []LoRA
	Over    []Override
	Rope    Rope
	Context backend.ContextParams
	Embeds  bool
	Force   bool   // skip the memory check
	Compute bool   // also decode
	Library string // folder to search for llama.cpp
	CPU     time.Duration
}

// A trialResult is the process's answer, the last line of its standard output.
type trialResult struct {
	Error string
	Kind  string // key in trialKinds
}

// trialKinds are the errors whose identity is kept between the processes.
var trialKinds = map[string]error{
	"not a model": backend.ErrNotModel, "truncated": backend.ErrTruncated, "damaged": backend.ErrDamaged,
	"architecture": backend.ErrArchitecture, "memory": backend.ErrMemory, "not built": backend.ErrNotBuilt,
}

func resultOf(err error) trialResult {
	if err == nil {
		return trialResult{}
	}
	r := trialResult{Error: err.Error()}
	for kind, is := range trialKinds {
		if errors.Is(err, is) {
			r.Kind = kind
		}
	}
	return r
}

// trialError is an error from another process.
type trialError struct {
	text string
	kind error
}

func (e *trialError) Error() string { return e.text }
func (e *trialError) Unwrap() error { return e.kind }

const (
	trialCPU     = time.Minute
	trialRate    = 50 << 20 // bytes of weights processed per second, on a slow machine
	trialClock   = 10       // the wall time limit, as a multiple of the CPU time: other programs compute too
	keptVerdicts = 1000
)

// trials caches the results of trials and runs one at a time: a trial takes memory
// and cores from requests being served.
var trials = struct {
	turn chan struct{}

	mu       sync.Mutex
	verdicts map[string]error // nil: no error
}{turn: make(chan struct{}, 1), verdicts: map[string]error{}}

// A trial loads a model file in a separate process.
type trial struct{ *file }

// try tries the model file unless the result is cached. stamp identifies the files
// as they were read.
func (f *trial) try(ctx context.Context, opt LoadOptions, stamp string) error {
	rope, err := json.Marshal(opt.Rope)
	if err != nil {
		return err
	}
	key := fmt.Sprintf("%s %+v %v %v %v %+v %s", stamp, opt.LoRA, opt.Trial.Context, opt.Trial.Embeds, opt.Trial.Command, opt.Override, rope)
	if known, verdict := verdictOn(key); known {
		return verdict
	}
	select {
	case trials.turn <- struct{}{}:
		defer func() { <-trials.turn }()
	case <-ctx.Done():
		return fmt.Errorf("llama: %s: %w: %w", f.path, backend.ErrAborted, context.Cause(ctx))
	}
	if known, verdict := verdictOn(key); known { // another trial may have finished meanwhile
		return verdict
	}
	lasting, err := f.run(ctx, opt)
	if changed := f.unchanged(opt, stamp); changed != nil {
		return changed
	}
	trials.mu.Lock()
	defer trials.mu.Unlock()
	if lasting {
		if len(trials.verdicts) >= keptVerdicts {
			clear(trials.verdicts)
		}
		trials.verdicts[key] = err
	}
	return err
}

// verdictOn returns the cached result.
func verdictOn(key string) (known bool, verdict error) {
	trials.mu.Lock()
	defer trials.mu.Unlock()
	verdict, known = trials.verdicts[key]
	return known, verdict
}

// unchanged returns an error if the files have changed.
func (f *file) unchanged(opt LoadOptions, stamp string) error {
	now, err := f.stamp(opt.LoRA)
	if err == nil && now != stamp {
		err = fmt.Errorf("llama: %s: the file or an adapter was changed while it was being loaded", f.path)
	}
	return err
}

// stamp identifies the contents of the model's files, starting with the first one,
// and of adapters.
func (f *file) stamp(adapters []LoRA) (string, error) {
	paths, err := otherParts(f.path, f.header)
	if err != nil {
		return "", err
	}
	paths = append([]string{f.path}, paths...)
	for _, l := range adapters {
		paths = append(paths, l.Path)
	}
	all := ""
	for _, p := range paths {
		stamp, err := stampOf(p)
		if err != nil {
			return "", err
		}
		all += stamp
	}
	return all, nil
}

// openStamped opens a model file. Before a trial, it also returns the stamp of the
// files from before they were read.
func openStamped(path string, opt LoadOptions) (*file, string, error) {
	if opt.Trial == nil {
		f, err := openFile(path, opt.Override...)
		return f, "", err
	}
	first, missing := stampOf(path)
	f, err := openFile(path, opt.Override...)
	if err != nil {
		return nil, "", err
	}
	stamp, err := f.stamp(opt.LoRA)
	if err == nil && (missing != nil || !strings.HasPrefix(stamp, first)) {
		err = fmt.Errorf("llama: %s: the file was changed while it was being loaded", path)
	}
	return f, stamp, err
}

// stampOf identifies the contents of a file by its metadata: path, size,
// modification time and inode.
func stampOf(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("llama: %w", err)
	}
	return fmt.Sprintf("%q %d %d %s\n", path, st.Size(), st.ModTime().UnixNano(), inode(st)), nil
}

// run runs the process. It reports whether the result can be cached: a lack of
// memory, for example, may pass.
func (f *trial) run(ctx context.Context, opt LoadOptions) (lasting bool, err error) {
	cpu := opt.Trial.CPU
	if cpu == 0 {
		cpu = trialCPU + time.Duration(f.weights/trialRate)*time.Second*time.Duration(runtime.NumCPU())
	}
	request, err := json.Marshal(trialRequest{
		Path: f.path, LoRA: opt.LoRA, Over: opt.Override, Rope: opt.Rope, Context: opt.Trial.Context, Embeds: opt.Trial.Embeds,
		Force: opt.NoMemoryCheck || opt.GPULayers != 0, Compute: opt.GPULayers == 0 || f.fits(), Library: firstFolder(), CPU: cpu,
	})
	if err != nil {
		return false, fmt.Errorf("llama: trial: %w", err)
	}
	command := opt.Trial.Command
	if command == nil {
		self, err := os.Executable()
		if err != nil {
			return false, fmt.Errorf("llama: trial: %w", err)
		}
		command = []string{self, TrialCommand}
	}
	timed, cancel := context.WithTimeout(ctx, trialClock*cpu)
	defer cancel()
	cmd := exec.CommandContext(timed, command[0], command[1:]...)
	cmd.Env = trialEnvironment(os.Environ())
	stdout, stderr := &tail{most: 64 << 10}, &tail{most: 8 << 10}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if opt.Trial.ran != nil {
		*opt.Trial.ran++
	}
	cmd.WaitDelay = 10 * time.Second
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return false, fmt.Errorf("llama: %s can't be tried out: %w", f.path, err)
	}
	// The process may exit before it has read everything; its exit status is more
	// informative.
	_, _ = stdin.Write(append(request, '\n'))
	err = cmd.Wait()

	switch {
	case ctx.Err() != nil:
		return false, fmt.Errorf("llama: %s: %w: %w", f.path, backend.ErrAborted, context.Cause(ctx))
	case timed.Err() != nil:
		return false, fmt.Errorf("llama: %s: it took longer than %v to try it out", f.path, trialClock*cpu)
	case err != nil:
		return f.ended(err, opt.LoRA, lastWords(stderr.data))
	}
	var result trialResult
	if err := json.Unmarshal(lastLine(stdout.data), &result); err != nil {
		return false, fmt.Errorf("llama: %s can't be tried out: %q says nothing about it", f.path, command)
	}
	if result.Error == "" {
		return true, nil
	}
	return false, &trialError{result.Error, trialKinds[result.Kind]}
}

// fits reports whether the weights fit into memory, or whether that is unknown.
func (f *trial) fits() bool {
	m, ok := systemMemory()
	return !ok || f.weights <= m.available
}

// faults are the signals of a crash or an exceeded limit.
var faults = []syscall.Signal{syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGTRAP, signalCPU}

// ended returns the error for a process that exited without a result. It reports
// whether the file is to blame.
func (f *trial) ended(err error, adapters []LoRA, words string) (lasting bool, _ error) {
	name := f.path
	for _, a := range adapters { // any of the files may be to blame
		name += " with " + a.Path
	}
	if words != "" {
		words = ": " + words
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() && slices.Contains(faults, status.Signal()) {
			how := fmt.Sprintf("ended with signal %q", status.Signal())
			if status.Signal() == signalCPU {
				how = "came to no end"
			}
			return true, fmt.Errorf("llama: %s: %w: llama.cpp %s when the file was tried out%s", name, backend.ErrDamaged, how, words)
		}
	}
	return false, fmt.Errorf("llama: %s can't be tried out: %w%s", f.path, err, words)
}

// trialEnvironment returns the environment without stencil's variables, which may
// contain keys.
func trialEnvironment(all []string) []string {
	out := []string{"GGML_NO_BACKTRACE=1", "GOTRACEBACK=none"}
	for _, e := range all {
		if !strings.HasPrefix(e, "STENCIL_") && !strings.HasPrefix(e, "GOTRACEBACK=") {
			out = append(out, e)
		}
	}
	return out
}

// lastLine returns the last line that is not empty.
func lastLine(b []byte) []byte {
	b = bytes.TrimSpace(b)
	return b[bytes.LastIndexByte(b, '\n')+1:]
}

// lastWords returns the last message of a process: the last line and, from C++,
// the exception before it.
func lastWords(log []byte) string {
	lines := strings.Split(strings.TrimSpace(string(log)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if i := len(lines) - 2; i >= 0 && strings.HasPrefix(last, "what():") {
		last = strings.TrimSpace(lines[i]) + ": " + strings.TrimSpace(strings.TrimPrefix(last, "what():"))
	}
	// ggml logs paths of the machine on which it was built.
	if place, rest, ok := strings.Cut(last, ": "); ok && strings.HasPrefix(place, "/") {
		last = path.Base(place) + ": " + rest
	}
	return clean(last)
}

// tail keeps the last bytes written to it.
type tail struct {
	most int
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.most; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

// RunTrial is the main function of a trial's process: it reads a request from in,
// loads and computes, and writes the result to out. It returns the exit status: 0
// regardless of the file, unless the trial itself can't run. llama.cpp's last
// message goes to standard error.
func RunTrial(in io.Reader, out io.Writer) int {
	var request trialRequest
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&request); err != nil {
		fmt.Fprintln(os.Stderr, "llama: trial: this is for the program itself to run:", err)
		return 2
	}
	go func() {
		// The parent has exited or cancelled the trial.
		_, _ = io.Copy(io.Discard, in)
		os.Exit(3)
	}()
	result, err := json.Marshal(resultOf(runTrial(request)))
	if err != nil {
		fmt.Fprintln(os.Stderr, "llama: trial:", err)
		return 2
	}
	if _, err := fmt.Fprintf(out, "%s\n", result); err != nil {
		return 2
	}
	return 0
}
