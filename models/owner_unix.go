//go:build unix

package models

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file belongs to this process's user.
func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
