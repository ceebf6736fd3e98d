package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/stencil-json/stencil/cmd/stencil/console"
	"github.com/stencil-json/stencil/eval"
	"github.com/stencil-json/stencil/eval/arms"
	"github.com/stencil-json/stencil/eval/sets"
)

// armFlags are the flags of eval that compare servers or request options.
type armFlags struct {
	arms  []string
	base  string
	sets  []string
	data  []string
	limit int
}

func (f *armFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.arms, "arm", nil, "arm to compare, `NAME=URL[,{…}]`; the object holds further request fields; may be repeated")
	flags.StringVar(&f.base, "base", "", "name of the arm to compare the others with (default: the first)")
	flags.StringSliceVar(&f.sets, "sets", nil, "data sets to run instead of CASES.jsonl, named as in 'stencil eval sets'")
	flags.StringSliceVar(&f.data, "data", nil, "folders to search for data sets, before ~/.cache/stencil/eval")
	flags.IntVar(&f.limit, "limit", 0, "number of cases per set, evenly spaced; 0: all")
	group(flags, "Comparison of servers")
}

// folders returns the folders to search for data sets.
func (f *armFlags) folders() (sets.Folders, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(f.data), filepath.Join(cache, "stencil", "eval")), nil
}

func newEvalSetsCommand() *cobra.Command {
	f := new(armFlags)
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "sets",
		Short: "List the data sets, their files and sources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			folders, err := f.folders()
			if err != nil {
				return err
			}
			list := sets.States(folders)
			if asJSON {
				return printJSON(cmd.OutOrStdout(), struct {
					Folders []string     `json:"folders"`
					Sets    []sets.State `json:"sets"`
				}{folders, list})
			}
			return printSets(cmd.OutOrStdout(), folders, list)
		},
	}
	cmd.Flags().StringSliceVar(&f.data, "data", nil, "folders to search for data sets, before ~/.cache/stencil/eval")
	group(cmd.Flags(), "Cases")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	group(cmd.Flags(), "Output")
	return cmd
}

func printSets(w io.Writer, folders sets.Folders, list []sets.State) error {
	for _, s := range list {
		state := s.Error
		if s.Cases != nil {
			state = fmt.Sprintf("%d cases", *s.Cases)
		}
		fmt.Fprintf(w, "%s: %s\n  %s\n", s.Name, s.About, state)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, file := range s.Files {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", file.Name, file.State, file.Source)
			if file.SHA256 != "" {
				fmt.Fprintf(t, "  \t\tSHA-256 %s\n", file.SHA256)
			}
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "Files are looked for in %s.\n", strings.Join(folders, " and "))
	return err
}

// cases reads the sets, or the file if path is not empty.
func (f *armFlags) cases(path string) (out []sets.Case, names []string, err error) {
	if path != "" {
		list, err := readCases(path)
		if err != nil {
			return nil, nil, err
		}
		all, err := sets.Own(list)
		if err != nil {
			return nil, nil, err
		}
		by := map[string][]sets.Case{}
		for _, c := range all {
			if by[c.Set] == nil {
				names = append(names, c.Set)
			}
			by[c.Set] = append(by[c.Set], c)
		}
		for _, name := range names {
			out = append(out, sets.Spread(by[name], f.limit)...)
		}
		return out, names, nil
	}
	folders, err := f.folders()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range f.sets {
		s, err := sets.Named(name)
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("--sets: %s is given twice", name)
		}
		list, err := s.Cases(folders)
		if err != nil {
			return nil, nil, err
		}
		out, names = append(out, sets.Spread(list, f.limit)...), append(names, name)
	}
	return out, names, nil
}

// parse parses the arms and the name of the base.
func (f *armFlags) parse() (list []arms.Arm, base string, err error) {
	for _, text := range f.arms {
		a, err := arms.Parse(text)
		if err != nil {
			return nil, "", err
		}
		if slices.ContainsFunc(list, func(b arms.Arm) bool { return a.Name == b.Name }) {
			return nil, "", fmt.Errorf("--arm: two arms are named %s", a.Name)
		}
		list = append(list, a)
	}
	if f.base == "" {
		return list, list[0].Name, nil
	}
	if !slices.ContainsFunc(list, func(a arms.Arm) bool { return a.Name == f.base }) {
		return nil, "", fmt.Errorf("--base: no arm is named %s", f.base)
	}
	return list, f.base, nil
}

// unused are the flags of eval that have no effect with --arm: each arm has its own
// URL and request fields.
var unused = []string{"model", "upstream", "server", "server-model", "modes", "temperature", "retries", "max-tokens"}

// compare runs the arms and prints the report.
func (f *evalFlags) compare(ctx context.Context, flags *pflag.FlagSet, args []string, stdout, stderr io.Writer) (err error) {
	for _, name := range unused {
		if flags.Changed(name) {
			return fmt.Errorf("--%s cannot be combined with --arm: each arm has its own URL and request fields", name)
		}
	}
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	if (path == "") == (len(f.arms.sets) == 0) {
		return errors.New("--arm needs either CASES.jsonl or --sets")
	}
	if f.arms.limit < 0 {
		return fmt.Errorf("--limit: %d is negative", f.arms.limit)
	}
	list, base, err := f.arms.parse()
	if err != nil {
		return err
	}
	cases, names, err := f.arms.cases(path)
	if err != nil {
		return err
	}
	cfg := arms.Config{Arms: list, Key: f.config.Key, Parallel: f.config.Parallel}
	if f.out != "" {
		file, done, err := resumeWith(f.out, arms.ReadResults)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		cfg.Write, cfg.Done = file, done
	}
	bar := console.NewProgress(stderr, "eval", int64(len(cases)*len(list)), false)
	cfg.Progress = func(done int) { bar.Set(int64(done)) }
	results, runErr := arms.Run(ctx, cfg, cases)
	bar.Close()
	if runErr != nil && len(results) == 0 {
		return runErr
	}
	return errors.Join(f.report(arms.Summarize(results, names, list, base, f.config.Seed), stdout), runErr)
}

// reporter is a report of either kind.
type reporter interface {
	Table(io.Writer) error
	HTML(io.Writer) error
}

var _, _ reporter = (*eval.Report)(nil), (*arms.Report)(nil)
