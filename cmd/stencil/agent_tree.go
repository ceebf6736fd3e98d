package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/term"

	"github.com/stencil-json/stencil/agent"
	"github.com/stencil-json/stencil/cmd/stencil/console"
)

// A tree shows the frames of a run as they are reported. On a terminal it is redrawn
// after each event; otherwise one line is printed for each frame, with its first
// answer or when it ends without one. It is used by one goroutine.
type tree struct {
	out      io.Writer
	terminal bool
	size     func() (width, height int)
	now      func() time.Time

	frames map[int]*leaf
	drawn  int // lines that the last draw wrote to the terminal
}

// A leaf is a frame of the tree with its display state.
type leaf struct {
	agent.Frame
	began     time.Time // zero unless the frame is being asked
	synthesis bool      // it is being asked for a synthesis
	told      bool      // its line has been printed
}

func newTree(out io.Writer) *tree {
	t := &tree{out: out, terminal: console.IsTerminal(out), frames: map[int]*leaf{}, now: time.Now}
	t.size = func() (int, int) {
		if f, ok := out.(*os.File); ok {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 && height > 0 {
				return width, height
			}
		}
		return 100, 40
	}
	return t
}

// event updates the tree with an event.
func (t *tree) event(e agent.Event) {
	l := t.leaf(e.Frame)
	switch e.Type {
	case agent.EventStarted, agent.EventSynthesis:
		l.began, l.synthesis = t.now(), e.Type == agent.EventSynthesis
	case agent.EventAnswer, agent.EventFinished:
		l.began = time.Time{}
	}
	switch {
	case t.terminal:
		t.draw(false)
	case !l.told && (e.Type == agent.EventAnswer || e.Type == agent.EventFinished):
		l.told = true
		width, _ := t.size()
		t.write(t.line(l, strings.Repeat("  ", max(0, l.Depth-1)), width) + "\n")
	}
}

// leaf returns the leaf of a frame, updated to its current state. It is created if
// needed.
func (t *tree) leaf(f *agent.Frame) *leaf {
	l := t.frames[f.ID]
	if l == nil {
		l = new(leaf)
		t.frames[f.ID] = l
	}
	l.Frame = *f
	return l
}

// take updates the tree with the frames of a run that has ended or is paused: if the
// run was resumed, earlier events were not received.
func (t *tree) take(frames []agent.Frame) {
	for i := range frames {
		t.leaf(&frames[i]).began = time.Time{}
	}
}

// draw redraws the tree over the previous drawing. Unless whole, it is limited to
// the last lines that fit on the terminal.
func (t *tree) draw(whole bool) {
	if !t.terminal {
		return
	}
	width, height := t.size()
	lines := t.lines(width - 1)
	if room := max(2, height-2); !whole && len(lines) > room {
		above := len(lines) - room + 1
		lines = append([]string{fmt.Sprintf("… %d more", above)}, lines[above:]...)
	}
	var b strings.Builder
	if t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", t.drawn)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	t.drawn = len(lines)
	t.write(b.String())
}

// finish draws the whole tree for the last time; later output is written below it.
func (t *tree) finish() {
	t.draw(true)
	t.drawn = 0
}

func (t *tree) write(text string) { _, _ = io.WriteString(t.out, text) } // errors are ignored: only the answer matters

// lines returns all lines of the tree.
func (t *tree) lines(width int) (out []string) {
	children := map[int][]int{}
	for id, l := range t.frames {
		parent := l.Parent
		if t.frames[parent] == nil || parent >= id {
			parent = 0 // the root, or a frame whose parent was not reported
		}
		children[parent] = append(children[parent], id)
	}
	var walk func(id int, first, rest string)
	walk = func(id int, first, rest string) {
		l, list := t.frames[id], children[id]
		out = append(out, t.line(l, first, width))
		slices.Sort(list)
		for i, c := range list {
			if i == len(list)-1 && len(l.Skipped) == 0 {
				walk(c, rest+"└─ ", rest+"   ")
			} else {
				walk(c, rest+"├─ ", rest+"│  ")
			}
		}
		for i, s := range l.Skipped {
			branch := "├─ "
			if i == len(l.Skipped)-1 {
				branch = "└─ "
			}
			out = append(out, columns(rest+branch, s.Query, "left out: "+s.Reason, width))
		}
	}
	slices.Sort(children[0])
	for _, id := range children[0] {
		walk(id, "", "")
	}
	return out
}

// line returns the line of a frame.
func (t *tree) line(l *leaf, prefix string, width int) string {
	took := time.Duration(l.TimeMS * float64(time.Millisecond))
	word := string(l.Status)
	switch {
	case !l.began.IsZero():
		word, took = "asked", took+t.now().Sub(l.began)
		if l.synthesis {
			word = "summing up"
		}
	case l.Status == agent.StatusFailed && l.Bound != "":
		word = "no " + l.Bound
	case l.Bound != "":
		word += "*" // incomplete
	}
	confidence := ""
	if l.Status == agent.StatusDone {
		confidence = fmt.Sprintf("%.2f", l.Confidence)
	}
	return columns(prefix, l.Query, fmt.Sprintf("%-10s %4s %6d tok %6.1f s", word, confidence, l.CompletionTokens, took.Seconds()), width)
}

// columns joins a text and its figures into one line; the text is cut to the
// remaining width.
func columns(prefix, text, right string, width int) string {
	const gap, least = 2, 10
	room := width - uniseg.StringWidth(prefix) - uniseg.StringWidth(right) - gap
	if room < least { // a narrow terminal or a deep tree: prefer the text
		right = cutTo(right, max(0, width-uniseg.StringWidth(prefix)-gap-least))
		room = max(0, width-uniseg.StringWidth(prefix)-uniseg.StringWidth(right)-gap)
	}
	text = cutTo(console.Flat(text), room)
	pad := strings.Repeat(" ", max(0, room-uniseg.StringWidth(text)))
	return strings.TrimRight(cutTo(prefix+text+pad+strings.Repeat(" ", gap)+right, width), " ")
}

// cutTo shortens a text to at most width columns of a terminal, with an ellipsis if
// it was cut.
func cutTo(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	for state, used := -1, 0; text != ""; {
		var piece string
		var w int
		piece, text, w, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used += w; used > width-1 {
			break
		}
		b.WriteString(piece)
	}
	if width > 0 {
		b.WriteString("…")
	}
	return b.String()
}
