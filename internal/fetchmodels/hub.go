package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/stencil-json/stencil/internal/realmodels"
)

// hub fetches models from the model hub with stencil pull, which resumes interrupted
// downloads. It is the last source: stencil must be built first, and many machines
// that run tests can't reach the hub.
type hub struct {
	log      io.Writer
	patience time.Duration // maximum time until the first byte

	stencil string // the program, "" until it is built
	down    bool   // nothing was received
}

var errHubDown = errors.New("nothing comes from it")

func (h *hub) get(ctx context.Context, m realmodels.Model, folder string) error {
	if m.Hub == "" {
		return errNotHere
	}
	if h.down {
		return errHubDown
	}
	if h.stencil == "" {
		if err := h.build(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	to := filepath.Join(folder, m.File)
	before := size(to + ".part")
	cmd := exec.CommandContext(ctx, h.stencil, "pull", m.Hub, "--sha256", m.SHA256, "--out", to)
	cmd.Stdout, cmd.Stderr = io.Discard, h.log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	// stencil pull keeps retrying servers that fail temporarily. Tests that wait for
	// their models need an earlier failure.
	go watch(ctx, cancel, time.After(h.patience), to, before)
	err := cmd.Wait()
	if errors.Is(context.Cause(ctx), errHubDown) {
		h.down = true
		return fmt.Errorf("%w within %v", errHubDown, h.patience)
	}
	if err != nil {
		return fmt.Errorf("stencil pull: %w: what it says is above", err)
	}
	return nil
}

// watch stops a download that has received nothing when the limit is reached.
func watch(ctx context.Context, stop context.CancelCauseFunc, limit <-chan time.Time, to string, before int64) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-limit:
			stop(errHubDown)
			return
		case <-tick.C:
			if size(to+".part") > before || size(to) > 0 {
				return
			}
		}
	}
}

// size returns the size of a file, 0 if it does not exist.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// build builds stencil without llama.cpp, like go build ./..., whose results are
// often cached already.
func (h *hub) build(ctx context.Context) error {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	dir, err := os.MkdirTemp("", "fetchmodels-*")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "stencil")
	cmd := exec.CommandContext(ctx, "go", "build", "-tags=", "-o", program, "./cmd/stencil")
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Stderr = h.log
	if err := cmd.Run(); err != nil {
		return errors.Join(fmt.Errorf("go build ./cmd/stencil: %w", err), os.RemoveAll(dir))
	}
	h.stencil = program
	return nil
}

func (h *hub) close() error {
	if h.stencil == "" {
		return nil
	}
	return os.RemoveAll(filepath.Dir(h.stencil))
}
