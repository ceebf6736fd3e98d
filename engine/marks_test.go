package engine

import (
	"log/slog"
	"testing"

	"github.com/stencil-json/stencil/backend/scripted"
)

// Marks are wanted only where they are useful.
func TestWantsMarks(t *testing.T) {
	for name, test := range map[string]struct {
		opt  scripted.Options
		cfg  Config
		want bool
	}{
		"attention":              {scripted.Options{}, Config{}, false},
		"attention, disk":        {scripted.Options{}, Config{PromptCache: openStore(t, t.TempDir())}, true},
		"recurrent":              {scripted.Options{Recurrent: true}, Config{}, true},
		"recurrent, none wanted": {scripted.Options{Recurrent: true}, Config{CheckpointBytes: -1}, false},
	} {
		test.cfg.Log = slog.New(slog.DiscardHandler)
		e, err := New(scripted.New(testVocab(t), scripted.Random(1), test.opt), test.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.WantsMarks(spacing); got != test.want {
			t.Errorf("%s: marks are wanted: %t", name, got)
		}
		if e.WantsMarks(spacing - 1) {
			t.Errorf("%s: marks are wanted in a short prompt", name)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
