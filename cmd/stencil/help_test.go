package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls f for the root command and all subcommands.
func eachCommand(f func(*cobra.Command)) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		f(cmd)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
}

// dangling matches help that can't be understood without the flag defined before it:
// its first word has no referent, or it contains one of the pronouns.
var dangling = regexp.MustCompile(`(?i)^(it|its|they|their|them|that|this|those|these|such|of|for|how|what|there|at|as|again|also)\b|\b(it|they|them|there|theirs)\b`)

// maxHelp is the maximum number of characters in the help of a flag, without the
// default.
const maxHelp = 100

// TestFlagHelp checks that the help of each flag is understandable alone, and that
// each flag is listed under a heading.
func TestFlagHelp(t *testing.T) {
	used := map[string]bool{}
	eachCommand(func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			where := cmd.CommandPath() + " --" + f.Name
			if heading := headingOf(f); !slices.Contains(flagGroups, heading) {
				t.Errorf("%s stands under the heading %q", where, heading)
			} else {
				used[heading] = true
			}
			if s := dangling.FindString(f.Usage); s != "" {
				t.Errorf("%s: %q refers to something outside of the help: %s", where, s, f.Usage)
			}
			if n := utf8.RuneCountInString(f.Usage); n > maxHelp {
				t.Errorf("%s: %d characters: %s", where, n, f.Usage)
			}
		})
	})
	for _, heading := range flagGroups {
		if !used[heading] {
			t.Errorf("no flag stands under the heading %q", heading)
		}
	}
}

// TestShownDefaults checks that the help of each flag shows one default at most, and no empty one.
func TestShownDefaults(t *testing.T) {
	eachCommand(func(cmd *cobra.Command) {
		var b strings.Builder
		writeFlags(&b, withVariables(cmd.LocalFlags()))
		for line := range strings.Lines(b.String()) {
			if strings.Count(line, "(default") > 1 || strings.Contains(line, "(default )") {
				t.Errorf("%s: %s", cmd.CommandPath(), line)
			}
		}
	})
}

// TestDangling checks that the pattern finds the help texts that it was written for.
func TestDangling(t *testing.T) {
	for text, want := range map[string]bool{
		"taken from it for each time it was used":       true,
		"how often; a request's retry_max overrides it": true,
		"key for it":                                        true,
		"bytes that they may occupy together":               true,
		"time that they wait":                               true,
		"of cases that don't say":                           true,
		"what it is: openai, vllm":                          true,
		"the model's name there":                            true,
		"maximum number of tokens to generate":              false,
		"key that requests must carry; may be repeated":     false,
		"maximum time to wait for the first byte of a body": false,
	} {
		if got := dangling.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestHelpGroups checks that the program lists each command once, under the heading
// of its group, and that serve lists its flags under headings.
func TestHelpGroups(t *testing.T) {
	out, _, err := run(t, "help")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, want := range []string{
		"Run a model:\n", "  serve ", "Manage model files:\n", "  pull ", "Work with schemas and grammars:\n", "  grammar ",
		"Measure:\n", "  bench ", "Other:\n", "  completion ", "  help ", "  version ",
	} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or out of order:\n%s", want, out)
		}
		at += i
	}
	for _, cmd := range newRootCommand().Commands() {
		if n := strings.Count(out, "\n  "+cmd.Name()+" "); !cmd.Hidden && n != 1 || cmd.Hidden && n != 0 {
			t.Errorf("%s is listed %d times", cmd.Name(), n)
		}
	}

	if out, _, err = run(t, "serve", "--help"); err != nil {
		t.Fatal(err)
	}
	at = 0
	for _, want := range []string{
		"Usage:\n  stencil serve [MODEL] [flags]\n", "Examples:\n", "\nModel:\n", "--model", "\nContext and memory:\n", "--context", "\nHTTP:\n", "--host",
		"\nUpstream:\n", "--upstream ", "\nAgents:\n", "--agent-folder", "\nLogging:\n", "--log-level", "\nOther:\n", "--help",
	} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or out of order:\n%s", want, out)
		}
		at += i
	}

	// A flag without a group is listed too.
	var b strings.Builder
	flags := new(pflag.FlagSet)
	flags.Bool("odd", false, "an odd one")
	writeFlags(&b, flags)
	if want := "\nOther:\n      --odd   an odd one\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
