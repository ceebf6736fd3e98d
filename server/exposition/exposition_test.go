package exposition

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// A readOnce is a reading with one value.
type readOnce struct {
	Reading
	value float64
	label string
}

func (r readOnce) Collect(to chan<- prometheus.Metric) { r.Read(to, r.value, r.label) }

// TestExposition checks that the output can be parsed with
// any text in a label.
func TestExposition(t *testing.T) {
	r := NewRegistry()
	tries := NewCounts("tries_total", "Tries.", "model", "strategy", "cause")
	queued := NewReading("queued", "gauge", "What waits.", "model")
	seconds := NewHistogram("seconds", "Times.", 1e-6, 0.5)
	r.Add(tries, seconds, readOnce{queued, 3, "a"})
	hostile := "\x07\t\"\\\n\xff日"
	tries.Count(hostile, "s", "c")
	tries.Count(hostile, "s", "c")
	seconds.Observe(0.5)
	all, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if err := all.Write(w, nil); err != nil {
		t.Fatal(err)
	}
	text := w.Body.String()
	for _, want := range []string{
		"# HELP stencil_tries_total Tries.\n# TYPE stencil_tries_total counter\nstencil_tries_total{model=\"\x07\t\\\"\\\\\\n\uFFFD日\",strategy=\"s\",cause=\"c\"} 2\n",
		"# TYPE stencil_queued gauge\nstencil_queued{model=\"a\"} 3\n",
		"stencil_seconds_bucket{le=\"1e-06\"} 0\nstencil_seconds_bucket{le=\"0.5\"} 1\nstencil_seconds_bucket{le=\"+Inf\"} 1\nstencil_seconds_sum 0.5\nstencil_seconds_count 1\n",
		"go_goroutines ", "process_cpu_seconds_total ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil || families["stencil_tries_total"].GetMetric()[0].GetCounter().GetValue() != 2 {
		t.Errorf("%v, %v", families["stencil_tries_total"], err)
	}
}
