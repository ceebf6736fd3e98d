// Command skips runs go test -json, prints the usual output of go test, and then
// lists the skipped tests with reasons, by package. The Makefile calls it:
//
//	go run ./internal/skips go test -json ./...
//
// A skipped test looks like a passed one, so that a machine without the test data
// would pass after running only a part of the tests. If CI=true, skips are therefore
// failures, except for the reasons in excused.
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

// excused are prefixes of the reasons that are allowed if CI=true.
var excused = []string{
	"there is no lib/",                    // GPU back ends, built by make cuda or make vulkan
	"no python3 with torch",               // a library of 200 MB, for one test of the trainer
	"the real model Gemma",                // its terms of use have to be accepted
	"the real model MiniLM",               // converted rather than downloaded
	"CUDA is where it is",                 // machines with a toolkit where a test needs its absence
	"no pseudo-terminals",                 // containers without /dev/ptmx
	"no symbolic links here",              // file systems without symbolic links
	"no network namespaces here",          // containers that may not create them
	"the Python libraries are",            // 2.6 GB of frameworks; has its own make target
	"the site is made and",                // needs a generator from npm; has its own make target
	"the example of Claude Flow",          // likewise
	"the examples of Python",              // frameworks too; has its own make target
	"the OpenAPI file is",                 // uses a request generator; has its own make target
	"node has another version of Unicode", // its tables can't be compared then
	"the fields of the newest",            // needs their clients; has its own make target
	"llama.cpp's source is read",          // 37 MB, used by make llama-server-tests
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
		io.Copy(io.Discard, out) // otherwise the command could block on its output
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

// An event is a line of go test -json (see go doc test2json).
type event struct {
	Action, Package, Test, Output string
}

// A report counts skipped tests by package and reason.
type report struct {
	skipped map[string]map[string]int
}

// read processes the events, and writes to w what a reader needs: the lines about
// whole packages and the output of failed tests. Lines that are not events are
// copied verbatim.
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

// follow processes one event. said holds the output of tests that are still running.
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
	case e.Action == "fail": // a process that crashed leaves tests without an end
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

// reason returns the reason of a skipped test: the first line of its output that is
// not printed by the test framework, without the source position.
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

// print writes the report and returns the number of skips that are not excused. They
// are marked if ci is set.
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
