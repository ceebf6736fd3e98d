//go:build unix

package files

import "syscall"

// openFlags keep a pipe or a terminal from blocking or from becoming the
// process's own, should one take a file's place while it is being opened.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
