package bench

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stencil-json/stencil/internal/poll"
)

// runPool runs work on the cases of the harness's test data.
func runPool(ctx context.Context, p *pool[string], work func(c *Case, abandoned *atomic.Bool) string) (results []string, err error) {
	p.newWork = func() func(*Case, *atomic.Bool) string { return work }
	p.failed = func(c *Case, status Status, message string) string {
		return c.ID + ": " + string(status) + ": " + message
	}
	err = p.run(ctx, &Corpus{Paths: []string{"testdata/harness"}}, func(r string) error {
		results = append(results, r)
		return nil
	})
	return results, err
}

func TestPoolCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan bool, 100)
	go func() {
		<-begun
		cancel()
	}()
	_, err := runPool(ctx, &pool[string]{}, func(_ *Case, abandoned *atomic.Bool) string {
		begun <- true
		poll.Until(abandoned.Load)
		return "ended"
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestPoolMemory has a case that does not end when it is abandoned: the run must
// end, and name it.
func TestPoolMemory(t *testing.T) {
	if residentBytes() == 0 {
		t.Skip("the memory of the process is not known here")
	}
	quit := make(chan struct{})
	defer close(quit)
	results, err := runPool(t.Context(), &pool[string]{memory: 1}, func(*Case, *atomic.Bool) string {
		<-quit
		return "ended"
	})
	if err == nil || !strings.Contains(err.Error(), "given up and still running: accepts-invalid") {
		t.Errorf("got %v", err)
	}
	if len(results) != 1 || !strings.Contains(results[0], "accepts-invalid: crash: memory limit") {
		t.Errorf("results %q", results)
	}
}
