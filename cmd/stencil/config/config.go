// Package config sets the flags of a command that the command line does not set: from environment variables, then from a
// YAML file whose keys are names of flags.
//
//	port: 8081                 # for every command that has the flag
//	api-key: [one, two]        # a list for a flag that may be repeated
//	serve:                     # for one command; overrides the values above
//	  model: a.gguf
//
// Unknown names are errors, which suggest the nearest known name.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/server/wire"
)

// FileName is the name of the file that is used if --config does not name one: it is searched for in the working folder,
// then in the folder stencil of the user's configuration folder.
const FileName = "stencil.yaml"

// Off is the value of --config that disables the file.
const Off = "off"

// Flag is the name of the flag that names the file.
const Flag = "config"

// Sources of a flag's value other than a file or a variable.
const (
	Default     = "default"
	CommandLine = "command line"
)

// Settings report where the values of a command's flags come from.
type Settings struct {
	File    string // "": no file was read
	Found   bool   // it is that of the working folder, and the user has neither named nor trusted it
	LeftOut []LeftOut
	sources map[string]string
}

// Source returns the source of a flag's value: Default, CommandLine, the name of a variable, or a file and line.
func (s *Settings) Source(flag string) string {
	if from, ok := s.sources[flag]; ok {
		return from
	}
	return Default
}

// Variable returns the environment variable that sets a flag.
func Variable(flag string) string {
	return prefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

const prefix = "STENCIL_"

// foreign matches variables that have our prefix but set no flag: those of tests and builds, and those that Kubernetes sets
// for a service called stencil. Completions in fish and PowerShell set ACTIVE_HELP.
var foreign = regexp.MustCompile(`^STENCIL_(ACTIVE_HELP|STORM|NEIGHBOURS|TEST_\w+|LOAD|LOAD_MODEL|BUDGETS|AGENT_RUNS|HOSTILE|HOSTILE_SEED|PYDANTIC|SERVICE_\w+|PORT_[0-9]\w*)$`)

// Apply sets the flags of a command whose command line has been parsed.
func Apply(cmd *cobra.Command, environ []string) (*Settings, error) {
	s := &Settings{sources: map[string]string{}}
	given := map[string]bool{} // on the command line
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			given[f.Name] = true
			s.sources[f.Name] = CommandLine
		}
	})
	if cmd.Name() == "serve" {
		var err error
		if environ, err = llamaVariables(environ); err != nil {
			return nil, err
		}
	}
	if err := s.variables(cmd, environ, given); err != nil {
		return nil, err
	}
	named := ""
	if f := cmd.Flag(Flag); f != nil {
		named = f.Value.String()
	}
	path, src, err := find(named)
	if err != nil || path == "" {
		return s, err
	}
	s.File, s.Found = path, named == "" && path == FileName && !own(path) && !trusted(path, src)
	if err := s.file(cmd, path, src, given); err != nil {
		return nil, err
	}
	return s, s.tie(cmd)
}

// rivals reports whether a flag that was given on the command line excludes this one.
func rivals(cmd *cobra.Command, f *pflag.Flag, given map[string]bool) bool {
	for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] {
		for name := range strings.FieldsSeq(group) {
			if name != f.Name && given[name] {
				return true
			}
		}
	}
	return false
}

// settable reports whether a flag can be set by a variable or the file.
func settable(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// variables sets the flags that environment variables name.
func (s *Settings) variables(cmd *cobra.Command, environ []string, given map[string]bool) error {
	known := map[string]bool{}
	for _, name := range flagNames(cmd.Root()) {
		known[Variable(name)] = true
	}
	values := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		values[name] = value
		if !known[name] && !foreign.MatchString(name) {
			var own []string
			for _, flag := range flagNames(cmd) {
				own = append(own, Variable(flag))
			}
			return unknown("the environment variable", name, own, slices.Collect(maps.Keys(known)))
		}
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value, ok := values[Variable(f.Name)]
		if !ok || given[f.Name] || !settable(f) || failed != nil || rivals(cmd, f, given) {
			return
		}
		if err := cmd.Flags().Set(f.Name, value); err != nil {
			failed = fmt.Errorf("%s: %q: %w", Variable(f.Name), value, cause(err))
			if f.Name == "port" && strings.HasPrefix(value, "tcp://") {
				failed = fmt.Errorf("%w (Kubernetes sets this variable for a service named stencil; enableServiceLinks: false keeps it from doing so)", failed)
			}
			return
		}
		s.sources[f.Name] = Variable(f.Name)
	})
	return failed
}

// cause returns the error of a flag's value without the text that pflag adds around it.
func cause(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		return number.Err // without the name of a function
	}
	return err
}

// unknown returns the error for an unknown name. It suggests the nearest known name, from the first list that has one.
func unknown(what, name string, known ...[]string) error {
	for _, list := range known {
		slices.Sort(list)
		if near := wire.Nearest(name, list); near != "" {
			return fmt.Errorf("%s %s is not known; was %s meant?", what, name, near)
		}
	}
	return fmt.Errorf("%s %s is not known", what, name)
}

// flagNames returns the names of all flags of a command and its subcommands.
func flagNames(cmd *cobra.Command) []string {
	names := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.Flags(), c.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) {
				if settable(f) {
					names[f.Name] = true
				}
			})
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(cmd)
	return slices.Sorted(maps.Keys(names))
}

// maxFile is the maximum size of the file in bytes.
const maxFile = 1 << 20

// find reads the named file or, if none is named, the first file that exists in Places.
func find(named string) (path string, src []byte, err error) {
	switch named {
	case Off:
		return "", nil, nil
	case "":
	default:
		src, err := read(named)
		if err != nil {
			return "", nil, fmt.Errorf("--%s: %w", Flag, err)
		}
		return named, src, nil
	}
	for _, path := range Places() {
		src, err := read(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // ENOTDIR if there is no home folder
			continue
		}
		return path, src, err
	}
	return "", nil, nil
}

// Places returns the paths at which the file is searched for.
func Places() []string {
	places := []string{FileName}
	if folder, err := os.UserConfigDir(); err == nil {
		places = append(places, filepath.Join(folder, "stencil", FileName))
	}
	return places
}

func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %d bytes are more than %d", path, info.Size(), maxFile)
	}
	return os.ReadFile(path)
}
