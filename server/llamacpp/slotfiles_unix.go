//go:build unix

package llamacpp

import "syscall"

// slotFlags keep a named pipe from blocking, if one replaces a file while it is being opened.
const slotFlags = syscall.O_NONBLOCK
