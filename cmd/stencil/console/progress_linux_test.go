package console

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens a pseudo-terminal. read closes the user's end and returns what was
// written to it.
func terminal(t *testing.T) (user *os.File, read func() string) {
	t.Helper()
	keeper, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { keeper.Close() })
	if err := unix.IoctlSetPointerInt(int(keeper.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(keeper.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	user, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	text := make(chan string)
	go func() {
		var b bytes.Buffer
		b.ReadFrom(keeper) // returns an error when the other end is closed
		text <- b.String()
	}()
	return user, func() string {
		user.Close()
		return <-text
	}
}

// TestProgress checks that a bar appears on a terminal after a delay, moves, and is
// removed at the end, and that nothing is written before the delay or to a file.
func TestProgress(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	slow := func(out *os.File) {
		synctest.Test(t, func(*testing.T) {
			p := NewProgress(out, "reading", 1000, false)
			for n := int64(0); n <= 1000; n += 250 {
				p.Set(n)
				time.Sleep(progressAfter / 2)
			}
			p.Close()
		})
	}
	slow(file)
	if info, err := file.Stat(); err != nil || info.Size() != 0 {
		t.Errorf("%d bytes in a file, %v", info.Size(), err)
	}

	user, read := terminal(t)
	slow(user)
	out := read()
	if !strings.Contains(out, "reading") || !strings.Contains(out, "50%") || !strings.Contains(out, "75%") {
		t.Errorf("on a terminal: %q", out)
	}
	if i := strings.LastIndex(out, "\r"); i < 0 || strings.TrimSpace(strings.TrimSuffix(out[i:], "\x1b[K")) != "" {
		t.Errorf("left on the terminal: %q", out)
	}

	user, read = terminal(t)
	p := NewProgress(user, "quick", 10, true)
	p.Set(5)
	p.Set(10)
	p.Close()
	if out := read(); out != "" {
		t.Errorf("something quick: %q", out)
	}
}
