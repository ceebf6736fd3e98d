// Command skips runs go test -json, prints what go test would have printed, and
// then which tests were skipped and why, by package. The Makefile calls it:
//
//	go run ./internal/skips go test -json ./...
//
// A skipped test looks like one that has passed, so a machine that lacks the
// test data would be green after a part of the tests. Where CI=true a skip is
// therefore a failure, but for the reasons in excused.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
)

// excused are the beginnings of the reasons that can hold where CI=true.
var excused = []string{
	"there is no lib/",           // back ends for GPUs: what make cuda or make vulkan makes
	"no python3 with torch",      // one tensor library in 200 MB, for one test of the trainer
	"the real model Gemma",       // terms of use that have to be agreed to
	"the real model MiniLM",      // converted, not fetched as it is
	"CUDA is where it is",        // a toolkit where the test of its absence looks for it
	"no pseudo-terminals",        // containers without /dev/ptmx
	"no symbolic links here",     // file systems without them
	"no network namespaces here", // containers that may make none
	"the Python libraries are",   // 2.6 GB of frameworks, with a target of their own
	"the site is made and",       // by a generator out of npm, with a target of its own
	"the example of Claude Flow", // the same
	"the examples of Python",     // frameworks again, with a target of their own
	"the OpenAPI file is",        // by a client that makes requests up, with a target of its own
	"llama.cpp's source is read", // 37 MB, by make llama-server-tests
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: skips go test -json ...")
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	}
	var r report
	read := r.read(out, os.Stdout)
	if read != nil {
		fmt.Fprintln(os.Stderr, "skips:", read)
		io.Copy(io.Discard, out) // or the command would wait for a reader
	}
	err = cmd.Wait()
	unexcused := r.print(os.Stdout, os.Getenv("CI") == "true")
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(max(1, exit.ExitCode()))
	case err != nil:
		fmt.Fprintln(os.Stderr, "skips:", err)
		os.Exit(1)
	case read != nil || unexcused > 0:
		os.Exit(1)
	}
}

// An event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// A report counts skipped tests: by package and reason.
type report struct {
	skipped map[string]map[string]int
}

// read follows the events, and writes to w what matters to a reader: the lines
// about whole packages and the output of tests that failed. A line that is no
// event is passed on.
func (r *report) read(events io.Reader, w io.Writer) error {
	r.skipped = map[string]map[string]int{}
	said := map[string]map[string]string{} // by package and test
	in := bufio.NewReader(events)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				w.Write(line)
			} else {
				r.follow(e, said, w)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// follow is [report.read] for one event. said holds the output of tests that
// have not ended.
func (r *report) follow(e event, said map[string]map[string]string, w io.Writer) {
	tests := said[e.Package]
	if tests == nil {
		tests = map[string]string{}
		said[e.Package] = tests
	}
	switch {
	case e.Action == "build-output":
		io.WriteString(w, e.Output)
	case e.Action == "output" && e.Test != "":
		tests[e.Test] += e.Output
	case e.Action == "output" && e.Output != "PASS\n":
		io.WriteString(w, e.Output)
	case e.Action == "fail" && e.Test != "":
		io.WriteString(w, tests[e.Test])
		delete(tests, e.Test)
	case e.Action == "fail": // a process that died leaves tests without an end
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			io.WriteString(w, tests[name])
		}
		delete(said, e.Package)
	case e.Action == "skip" && e.Test != "":
		if r.skipped[e.Package] == nil {
			r.skipped[e.Package] = map[string]int{}
		}
		r.skipped[e.Package][reason(tests[e.Test])]++
		delete(tests, e.Test)
	case e.Action == "pass":
		delete(tests, e.Test)
	}
}

var place = regexp.MustCompile(`^\s*\S+\.go:\d+: `)

// reason returns what a skipped test has said: the first line of its output
// that is not the test framework's, without the place.
func reason(output string) string {
	for line := range strings.Lines(output) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "=== ") || strings.HasPrefix(trimmed, "--- ") {
			continue
		}
		return strings.TrimSpace(place.ReplaceAllString(line, ""))
	}
	return "no reason given"
}

// print writes the report and returns how many skips there were that nothing
// excuses. Where ci is set they are marked.
func (r *report) print(w io.Writer, ci bool) (unexcused int) {
	total := 0
	for _, reasons := range r.skipped {
		for _, n := range reasons {
			total += n
		}
	}
	fmt.Fprintf(w, "skipped tests: %d\n", total)
	for _, name := range slices.Sorted(maps.Keys(r.skipped)) {
		fmt.Fprintf(w, "  %s\n", name)
		for _, why := range slices.Sorted(maps.Keys(r.skipped[name])) {
			n, mark := r.skipped[name][why], ""
			if ci && !slices.ContainsFunc(excused, func(s string) bool { return strings.HasPrefix(why, s) }) {
				unexcused += n
				mark = " (must not be skipped where CI=true)"
			}
			fmt.Fprintf(w, "    %4d  %s%s\n", n, why, mark)
		}
	}
	return unexcused
}
