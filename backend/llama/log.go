//go:build llama && cgo

package llama

// #include "shim.h"
import "C"

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// aborting counts the decodes being stopped: errors that llama.cpp reports
// meanwhile are expected.
var aborting atomic.Int32

// logger receives the lines; nil means slog.Default().
var logger atomic.Pointer[slog.Logger]

// SetLogger sends the log lines of llama.cpp to l, for the whole process, since
// llama.cpp has a single log. It is verbose: its info lines are logged at debug
// level and its warnings at info level. nil means slog.Default().
func SetLogger(l *slog.Logger) { logger.Store(l) }

// lines joins the fragments that llama.cpp logs into whole lines.
var lines struct {
	sync.Mutex
	text    strings.Builder
	level   C.int32_t
	collect map[*[]string]bool // lists that also receive error lines
}

//export stencilLog
func stencilLog(level C.int32_t, text *C.char) {
	lines.Lock()
	defer lines.Unlock()
	if level != C.GGML_LOG_LEVEL_CONT {
		if lines.text.Len() > 0 {
			flush()
		}
		lines.level = level
	}
	rest := C.GoString(text)
	for {
		line, more, ended := strings.Cut(rest, "\n")
		lines.text.WriteString(line)
		if !ended {
			return
		}
		flush()
		rest = more
	}
}

// flush logs the complete line. lines must be locked.
func flush() {
	line := strings.TrimSpace(lines.text.String())
	lines.text.Reset()
	if strings.Trim(line, ".") == "" { // progress dots
		return
	}
	level := slog.LevelDebug
	switch lines.level {
	case C.GGML_LOG_LEVEL_DEBUG:
		level = slog.LevelDebug - 4
	case C.GGML_LOG_LEVEL_WARN:
		level = slog.LevelInfo // it warns of ordinary things, such as a context below the trained length
	case C.GGML_LOG_LEVEL_ERROR:
		level = slog.LevelError
		for said := range lines.collect {
			*said = append(*said, line)
			level = slog.LevelDebug // it is part of the returned error
		}
	}
	if level > slog.LevelDebug && (aborting.Load() > 0 || isHandled(line)) {
		level = slog.LevelDebug
	}
	l := logger.Load()
	if l == nil {
		l = slog.Default()
	}
	l.Log(context.Background(), level, line, "from", "llama.cpp")
}

// handled are parts of lines about failures that Decode returns as
// backend.ErrNoSlot, which its callers handle: they make room and try again.
var handled = []string{"failed to find a memory slot", "failed to prepare attention", "failed to prepare recurrent"}

func isHandled(line string) bool {
	return slices.ContainsFunc(handled, func(part string) bool { return strings.Contains(line, part) })
}

// collectErrors runs f and returns the error lines that llama.cpp logged
// meanwhile, for the text of an error only: lines of another operation that fails
// at the same time may be among them.
func collectErrors(f func()) []string {
	said := new([]string)
	lines.Lock()
	if lines.collect == nil {
		lines.collect = map[*[]string]bool{}
	}
	lines.collect[said] = true
	lines.Unlock()
	f()
	lines.Lock()
	defer lines.Unlock()
	delete(lines.collect, said)
	return *said
}
