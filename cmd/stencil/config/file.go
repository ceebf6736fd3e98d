package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// A setting is one value of the file.
type setting struct {
	values []string
	list   bool
	at     place
}

// A place is a position in the file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string { return fmt.Sprintf("%s:%d", p.file, p.line) }

func (p place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %w", p.file, p.line, p.column, fmt.Errorf(format, args...))
}

// file sets the flags that neither the command line nor a variable has set.
func (s *Settings) file(cmd *cobra.Command, path string, src []byte, given map[string]bool) error {
	r := reader{file: path, target: cmd, settings: map[string]setting{}}
	if err := r.read(cmd.Root(), src); err != nil {
		return err
	}
	var failed error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		v, ok := r.settings[f.Name]
		if !ok || s.sources[f.Name] != "" || failed != nil || rivals(cmd, f, given) {
			return
		}
		if why := Guards(f); why != "" && s.Found && !closes(f, v.values) {
			s.LeftOut = append(s.LeftOut, LeftOut{Flag: f.Name, Source: v.at.String(), Reason: why})
			return
		}
		failed = set(cmd, f, v)
		s.sources[f.Name] = v.at.String()
	})
	return failed
}

func set(cmd *cobra.Command, f *pflag.Flag, v setting) error {
	if slice, ok := f.Value.(pflag.SliceValue); ok {
		// Set the elements verbatim: their commas do not separate values.
		if err := slice.Replace(v.values); err != nil {
			return v.at.errorf("%s: %w", f.Name, err)
		}
		f.Changed = true
		return nil
	}
	if v.list && len(v.values) != 1 && !repeatable(f) {
		return v.at.errorf("%s takes one value, not a list", f.Name)
	}
	for _, text := range v.values {
		if err := cmd.Flags().Set(f.Name, text); err != nil {
			return v.at.errorf("%s: %q: %w", f.Name, text, cause(err))
		}
	}
	return nil
}

// repeatable reports whether a flag of a custom type may be given more than once.
func repeatable(f *pflag.Flag) bool {
	switch f.Value.Type() {
	case "string", "bool", "int", "int64", "uint64", "float32", "float64", "duration":
		return false
	}
	return true
}

// A reader reads the settings of one command from a file.
type reader struct {
	file     string
	target   *cobra.Command
	settings map[string]setting
}

func (r *reader) at(n *yaml.Node) place { return place{r.file, n.Line, n.Column} }

func (r *reader) read(root *cobra.Command, src []byte) error {
	d := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil // empty
	case err != nil:
		return fmt.Errorf("%s: %w", r.file, err)
	}
	var more yaml.Node
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: there must be one document", r.file)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil
	}
	return r.section(root, top)
}

// section reads the settings of a command and its subcommands. Subsections are read last, so that settings
// nearer to the target override the others.
func (r *reader) section(cmd *cobra.Command, n *yaml.Node) error {
	n = resolved(n)
	if n.Kind != yaml.MappingNode {
		return r.at(n).errorf("%s must be a mapping of names and values", cmd.Name())
	}
	seen := map[string]bool{}
	var sections [][2]*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], resolved(n.Content[i+1])
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" {
			return r.at(key).errorf("a name is expected here")
		}
		if seen[key.Value] {
			return r.at(key).errorf("%s is given twice", key.Value)
		}
		seen[key.Value] = true
		if value.Kind == yaml.MappingNode {
			sections = append(sections, [2]*yaml.Node{key, value})
			continue
		}
		if below(cmd, key.Value) != nil && key.Value != Flag {
			if value.Kind == yaml.ScalarNode && value.Tag == "!!null" { // all that it had is commented out
				continue
			}
			return r.at(value).errorf("%s is a command; names and values of its flags stand below it", key.Value)
		}
		if err := r.value(cmd, key, value); err != nil {
			return err
		}
	}
	for _, s := range sections {
		sub := below(cmd, s[0].Value)
		if sub == nil {
			return r.unknown(cmd, s[0])
		}
		if err := r.section(sub, s[1]); err != nil {
			return err
		}
	}
	return nil
}

// value reads the value of a flag.
func (r *reader) value(cmd *cobra.Command, key, n *yaml.Node) error {
	if !slices.Contains(flagNames(cmd), key.Value) || key.Value == Flag {
		return r.unknown(cmd, key)
	}
	v := setting{at: r.at(n), list: n.Kind == yaml.SequenceNode}
	items := []*yaml.Node{n}
	if v.list {
		items = n.Content
	}
	for _, item := range items {
		if item = resolved(item); item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return r.at(item).errorf("%s must be a value or a list of values", key.Value)
		}
		v.values = append(v.values, item.Value)
	}
	if within(cmd, r.target) {
		r.settings[key.Value] = v
	}
	return nil
}

// unknown returns the error for a name that is neither a flag nor a command.
func (r *reader) unknown(cmd *cobra.Command, key *yaml.Node) error {
	var own []string
	if within(cmd, r.target) {
		own = flagNames(r.target)
	}
	names := slices.DeleteFunc(flagNames(cmd), func(name string) bool { return name == Flag })
	for _, sub := range cmd.Commands() {
		names = append(names, sub.Name())
	}
	return r.at(key).errorf("%w", unknown("the name", key.Value, own, names))
}

func below(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
}

// within reports whether above is cmd or one of its parents.
func within(above, cmd *cobra.Command) bool {
	for ; cmd != nil; cmd = cmd.Parent() {
		if cmd == above {
			return true
		}
	}
	return false
}

func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
