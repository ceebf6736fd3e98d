//go:build unix

package files

import "syscall"

// openFlags keep a pipe from blocking and a terminal from becoming the controlling
// terminal of the process, if one replaces a file while it is being opened.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY
