package llama

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// memory is that of the machine or of the container in which the process runs.
type memory struct {
	available int64 // bytes that can be allocated without swapping
	total     int64
}

// SystemMemory returns the bytes of memory that can be allocated without
// swapping, and the total; ok is false if they are unknown.
func SystemMemory() (available, total int64, ok bool) {
	m, ok := systemMemory()
	return m.available, m.total, ok
}

// systemMemory returns the machine's memory, limited by the control group; ok
// is false if it is unknown (on anything but Linux: elsewhere an allocation
// that is too large fails, and llama.cpp reports it).
func systemMemory() (m memory, ok bool) {
	if runtime.GOOS != "linux" {
		return memory{}, false
	}
	m = meminfo("/proc/meminfo")
	if m.total == 0 {
		return memory{}, false
	}
	if group, ok := cgroupPath("/proc/self/cgroup"); ok {
		m = m.within("/sys/fs/cgroup", group)
	}
	return m, true
}

// meminfo reads the two relevant lines of Linux' /proc/meminfo.
func meminfo(path string) (m memory) {
	f, err := os.Open(path)
	if err != nil {
		return memory{}
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		field := strings.Fields(s.Text())
		if len(field) < 2 {
			continue
		}
		kib, err := strconv.ParseInt(field[1], 10, 64)
		if err != nil {
			continue
		}
		switch field[0] {
		case "MemTotal:":
			m.total = kib << 10
		case "MemAvailable:":
			m.available = kib << 10
		}
	}
	return m
}

// cgroupPath returns the path of the process in the version 2 hierarchy of
// control groups.
func cgroupPath(path string) (string, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	for line := range strings.Lines(string(text)) {
		if group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return group, true
		}
	}
	return "", false
}

// within limits m by a control group and its ancestors.
func (m memory) within(root, group string) memory {
	for dir := filepath.Join(root, group); ; dir = filepath.Dir(dir) {
		if limit, ok := readInt(filepath.Join(dir, "memory.max")); ok {
			m.total = min(m.total, limit)
			if used, ok := readInt(filepath.Join(dir, "memory.current")); ok {
				// Cached file pages count as used but can be reclaimed.
				used -= fileCache(filepath.Join(dir, "memory.stat"))
				m.available = min(m.available, max(limit-used, 0))
			}
		}
		if len(dir) <= len(root) {
			return m
		}
	}
}

// readInt reads a file with a single number; "max" is not one.
func readInt(path string) (int64, bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// fileCache returns the bytes of cached files in a memory.stat.
func fileCache(path string) (n int64) {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "inactive_file" || key == "active_file" {
			v, _ := strconv.ParseInt(value, 10, 64)
			n += v
		}
	}
	return n
}
