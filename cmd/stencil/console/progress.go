package console

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A Progress is a progress bar that appears on a terminal once its task has taken a
// moment. All methods accept a nil Progress, which is used without a terminal. It is
// used by one goroutine.
type Progress struct {
	bar   *progressbar.ProgressBar
	out   io.Writer
	title string
	total int64
	bytes bool
	start time.Time
	begun int64 // steps at the first Set, for a task that resumes an earlier attempt
}

// progressAfter is the time before a bar appears.
const progressAfter = 300 * time.Millisecond

// NewProgress returns a bar of total steps, or nil if out is not a terminal. bytes
// means that steps are bytes; a negative total is unknown.
func NewProgress(out io.Writer, title string, total int64, bytes bool) *Progress {
	if !IsTerminal(out) {
		return nil
	}
	return &Progress{out: out, title: title, total: total, bytes: bytes, start: time.Now(), begun: -1}
}

// Set moves the bar to n steps.
func (p *Progress) Set(n int64) {
	if p == nil {
		return
	}
	if p.begun < 0 {
		p.begun = n
	}
	if p.bar == nil {
		if time.Since(p.start) < progressAfter {
			return
		}
		p.bar = progressbar.NewOptions64(p.total,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(p.title),
			progressbar.OptionShowBytes(p.bytes),
			progressbar.OptionUseIECUnits(true),
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(65*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetPredictTime(p.total > 0),
		)
		p.bar.StartWithoutRender()
		_ = p.bar.Set64(p.begun) // the rate is computed from here
	}
	_ = p.bar.Set64(n)
}

// Resize sets a total that has become known.
func (p *Progress) Resize(total int64) {
	if p == nil {
		return
	}
	p.total = total
	if p.bar != nil {
		p.bar.ChangeMax64(total)
	}
}

// Close removes the bar.
func (p *Progress) Close() {
	if p != nil && p.bar != nil {
		_ = p.bar.Finish()
	}
}
