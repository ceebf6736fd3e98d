// Command llamacpp provides llama.cpp for the build. The Makefile calls it; by hand:
//
//	go run ./internal/llamacpp env                     # the build's environment, for a shell
//	go run ./internal/llamacpp run go test ./...       # a command in that environment
//	go run ./internal/llamacpp gpu cuda lib            # a GPU back end, into the folder lib
//	go run ./internal/llamacpp dist stencil-1.0.tar.gz # an archive for distribution
//	go run ./internal/llamacpp lock 3.22.1             # pin another version
//
// The flag -llama selects the llama.cpp to use. prebuilt (the default) fetches the libraries
// in the npm packages @node-llama-cpp/*. source compiles the same version from the sources
// in the package node-llama-cpp or, without npm or cmake, the older version in the Go module
// github.com/ollama/ollama. module always compiles the latter. system uses the installation
// that pkg-config finds.
//
// Fetched files are pinned in lock.json by version and SHA-512, and are stored below
// .llama.cpp in the module's folder, which git ignores.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	kind := flag.String("llama", "prebuilt", "which llama.cpp: prebuilt, source, module or system")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: llamacpp [-llama KIND] env | run COMMAND… | gpu cuda|vulkan FOLDER | dist FILE | lock VERSION")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := do(*kind, flag.Args()); err != nil {
		os.Exit(report(os.Stderr, err))
	}
}

// report prints an error, unless a command has done so, and returns the exit status.
func report(w io.Writer, err error) int {
	var failed commandError
	if errors.As(err, &failed) {
		return failed.ExitCode()
	}
	fmt.Fprintln(w, "llama.cpp:", err)
	return 1
}

func do(kind string, args []string) error {
	if len(args) == 0 {
		flag.Usage()
		os.Exit(2)
	}
	t, err := openTree()
	if err != nil {
		return err
	}
	command, args := args[0], args[1:]
	switch {
	case command == "env" && len(args) == 0:
		b, err := t.build(kind)
		if err != nil {
			return err
		}
		for _, pair := range b.environment() {
			fmt.Printf("export %s=%s\n", pair.name, quote(pair.value))
		}
		return nil
	case command == "run" && len(args) > 0:
		b, err := t.build(kind)
		if err != nil {
			return err
		}
		return b.run(args)
	case command == "gpu" && len(args) == 2:
		return t.gpu(kind, args[0], args[1])
	case command == "dist" && len(args) == 1:
		return t.dist(kind, args[0])
	case command == "lock" && len(args) == 1:
		return t.writeLock(args[0])
	}
	flag.Usage()
	os.Exit(2)
	return nil
}

// A build contains the settings for compiling Go code against a llama.cpp.
type build struct {
	tags     string
	cppflags string
	cflags   string
	lib      string // folder of its libraries; "" if it is compiled in
	licences []string
	version  string
}

type pair struct{ name, value string }

// environment returns the environment variables for the go command.
func (b build) environment() []pair {
	return []pair{
		{"CGO_ENABLED", "1"},
		{"CGO_CPPFLAGS", b.cppflags},
		{"CGO_CFLAGS", b.cflags},
		{"CGO_CXXFLAGS", b.cflags},
		{"GOFLAGS", join(os.Getenv("GOFLAGS"), "-tags="+b.tags)},
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// quote quotes s for a shell.
func quote(s string) string {
	out := "'"
	for _, r := range s {
		if r == '\'' {
			out += `'\''`
			continue
		}
		out += string(r)
	}
	return out + "'"
}

// A commandError is the failure of a command that has printed the reason itself.
type commandError struct{ *exec.ExitError }

// run runs a command in the build's environment. Signals are left to the command.
func (b build) run(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	for _, p := range b.environment() {
		cmd.Env = append(cmd.Env, p.name+"="+p.value)
	}
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return commandError{exit}
	}
	return err
}

// A tree is the module's folder and its lock.
type tree struct {
	root string // the folder of go.mod
	lock lock
}

// openTree searches for the module from the current folder upwards.
func openTree() (*tree, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, errors.New("there is no go.mod here or above")
		}
		dir = parent
	}
	t := &tree{root: dir}
	return t, t.readLock()
}

// at returns a path in the folder for fetched and built files.
func (t *tree) at(elem ...string) string {
	return filepath.Join(append([]string{t.root, ".llama.cpp", t.lock.LlamaCPP}, elem...)...)
}

// say prints progress for the user.
func say(format string, args ...any) { fmt.Fprintf(os.Stderr, "llama.cpp: "+format+"\n", args...) }
