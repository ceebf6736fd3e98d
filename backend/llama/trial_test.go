//go:build llama && cgo

package llama

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stencil-json/stencil/backend"
	"github.com/stencil-json/stencil/internal/poll"
	"github.com/stencil-json/stencil/models"
)

// TestTrial tries a valid file and one that crashes the process, each only once.
func TestTrial(t *testing.T) {
	path := randomModel(t, models.RandomOptions{Arch: "granitehybrid"})
	trial := hostileTrial()
	try := func(ran int) error {
		t.Helper()
		*trial.ran = 0
		m, err := Load(context.Background(), path, LoadOptions{Trial: trial})
		if err == nil {
			m.Close()
		}
		if *trial.ran != ran {
			t.Errorf("%d processes, want %d", *trial.ran, ran)
		}
		return err
	}
	for _, ran := range []int{1, 0} {
		if err := try(ran); err != nil {
			t.Error(err)
		}
	}
	spoilInnerSize(t, path)
	for _, ran := range []int{1, 0} {
		err := try(ran)
		if !errors.Is(err, backend.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "signal") || !strings.Contains(err.Error(), "GGML_ASSERT") {
			t.Errorf("a file that llama.cpp ends the process over: %v", err)
		}
	}
	// A file that replaced another one is tried again, despite the same path.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := models.WriteRandom(path, models.RandomOptions{Arch: "lfm2"}); err != nil {
		t.Fatal(err)
	}
	if err := try(1); err != nil {
		t.Errorf("another file at the same path: %v", err)
	}
}

// TestEndedProcess lets llama.cpp end a process that loads a file without a trial,
// like the model of the command line: one line explains why.
func TestEndedProcess(t *testing.T) {
	if path := os.Getenv("STENCIL_TEST_ABORT"); path != "" {
		if _, err := Load(context.Background(), path, LoadOptions{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	path := randomModel(t, models.RandomOptions{Arch: "granitehybrid"})
	spoilInnerSize(t, path)
	cmd := exec.Command(os.Args[0], "-test.run=^TestEndedProcess$")
	cmd.Env = append(os.Environ(), "STENCIL_TEST_ABORT="+path)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, out)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGABRT {
		t.Errorf("%v, not the signal that ggml sends", err)
	}
	if !bytes.Contains(out, []byte("stencil: llama.cpp ends the process: ")) || !bytes.Contains(out, []byte("GGML_ASSERT")) || bytes.Contains(out, []byte("goroutine ")) {
		t.Errorf("%s", out)
	}
}

// spoilInnerSize gives a granitehybrid model a size with which llama.cpp ends the
// process.
func spoilInnerSize(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const key = "granitehybrid.ssm.inner_size"
	data[bytes.Index(data, []byte(key))+len(key)+4] = 7
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestTrialProcess replaces the process that tries the file.
func TestTrialProcess(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	path := randomModel(t, models.RandomOptions{})
	load := func(ctx context.Context, script string) error {
		m, err := Load(ctx, path, LoadOptions{Trial: &Trial{Command: []string{sh, "-c", script}, CPU: 20 * time.Second}})
		if err == nil {
			m.Close()
		}
		return err
	}
	for _, c := range []struct {
		script, text string
		is           error
	}{
		{`read x; echo '{}'`, "", nil},
		{`read x; echo "$x" | grep -q '"Path":"` + path + `"' && echo '{}'`, "", nil},
		{`read x; echo '{"Error": "llama: it says so", "Kind": "memory"}'`, "llama: it says so", backend.ErrMemory},
		{`read x; echo nothing`, "says nothing about it", nil},
		{`echo one >&2; echo two >&2; exit 3`, "can't be tried out: exit status 3: two", nil},
		{`kill -SEGV $$`, `signal "segmentation fault"`, backend.ErrDamaged},
		{`echo "terminate called after throwing an instance of 'std::out_of_range'" >&2; echo "  what():  vector" >&2; kill -ABRT $$`,
			`std::out_of_range': vector`, backend.ErrDamaged},
		{`echo /home/somebody/ggml.c:12: GGML_ASSERT >&2; kill -ABRT $$`, `tried out: ggml.c:12: GGML_ASSERT`, backend.ErrDamaged},
		{`kill -KILL $$`, "can't be tried out", nil},
	} {
		err := load(context.Background(), c.script)
		switch {
		case (err == nil) != (c.text == ""), err != nil && !strings.Contains(err.Error(), c.text), c.is != nil && !errors.Is(err, c.is):
			t.Errorf("%s: %v, want %q", c.script, err, c.text)
		case err != nil && c.is == nil && errors.Is(err, backend.ErrDamaged):
			t.Errorf("%s: %v: that is not the file's fault", c.script, err)
		}
	}
	// An adapter may have caused the crash, so it is named too.
	adapter := filepath.Join(t.TempDir(), "adapter.gguf")
	writeAdapter(t, adapter, "llama", 64)
	_, err = Load(context.Background(), path, LoadOptions{LoRA: []LoRA{{Path: adapter}}, Trial: &Trial{Command: []string{sh, "-c", `kill -SEGV $$`}, CPU: 20 * time.Second}})
	if !errors.Is(err, backend.ErrDamaged) || !strings.Contains(err.Error(), adapter) || !strings.Contains(err.Error(), path) {
		t.Errorf("ended over an adapter: %v", err)
	}
	// A process that hangs is ended with the context, and the result of one that
	// changed the file is discarded.
	ctx, cancel := context.WithCancel(context.Background())
	marker := filepath.Join(t.TempDir(), "marker")
	go func() {
		poll.Until(func() bool {
			_, err := os.Stat(marker)
			return err == nil
		})
		cancel()
	}()
	if err := load(ctx, `touch `+marker+`; exec sleep 600`); !errors.Is(err, backend.ErrAborted) {
		t.Errorf("cancelled: %v", err)
	}
	if err := load(context.Background(), `read x; printf x >> `+path+`; echo '{}'`); err == nil || !strings.Contains(err.Error(), "was changed") {
		t.Errorf("a file that changes: %v", err)
	}
}

// TestTrialEnds checks that the process exits once its input is closed, even within
// C code.
func TestTrialEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, TrialCommand)
	cmd.Stdin = strings.NewReader("")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 2 || !bytes.Contains(out, []byte("for the program itself")) {
		t.Errorf("without a request: %v, %s", err, out)
	}
}

func TestTrialEnvironment(t *testing.T) {
	got := trialEnvironment([]string{"PATH=/bin", "STENCIL_API_KEY=secret", "GOTRACEBACK=all", "HOME=/x"})
	if !slices.Contains(got, "PATH=/bin") || !slices.Contains(got, "HOME=/x") || slices.ContainsFunc(got, func(e string) bool { return strings.Contains(e, "secret") || e == "GOTRACEBACK=all" }) {
		t.Errorf("%q", got)
	}
}
