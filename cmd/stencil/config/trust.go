package config

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A file in the working folder may be another's: of a repository that was cloned, of an archive that was unpacked. Unless it
// was named or trusted, it sets none of these flags.
const (
	runsCode = "runs code"
	sends    = "sends keys or prompts to others"
	opens    = "says who may use the server, or what it shows"
	writes   = "writes files"
)

var guarded = map[string]string{
	"lib": runsCode,

	"hub": sends, "token": sends, "hf-token": sends, "model-url": sends, "arm": sends, "server": sends, "server-key": sends,
	"upstream": sends, "upstream-key": sends, "upstream-model": sends,

	"host": opens, "api-key": opens, "api-key-file": opens, "allowed-host": opens, "allowed-origin": opens, "cors-origin": opens,
	"tls-cert": opens, "tls-key": opens, "agent-folder": opens, "folder": opens, "log-bodies": opens, "share-prompts": opens,

	"slot-save-path": writes, "prompt-cache": writes, "responses-store": writes, "feedback": writes, "out": writes, "json": writes,
	"html": writes, "benchstat": writes, "plot": writes, "trace": writes, "profile": writes,
}

// Guards returns why a flag isn't set by a file that nobody named or trusted; "" if it is.
func Guards(f *pflag.Flag) string {
	if why := guarded[f.Name]; why != writes || f.Value.Type() != "bool" { // --json is a file only where it takes a name
		return why
	}
	return ""
}

// closes reports whether values say what holds without them, or less.
func closes(f *pflag.Flag, values []string) bool {
	return len(values) == 1 && (values[0] == f.DefValue || "["+values[0]+"]" == f.DefValue || f.Name == "feedback" && values[0] == Off)
}

// A LeftOut is a setting that was not taken.
type LeftOut struct {
	Flag   string `json:"name"`
	Source string `json:"source"`
	Reason string `json:"reason"`
	key    bool   // by tie
}

// addresses are, by flags with keys, those that say to whom the key is sent.
var addresses = map[string][]string{"upstream-key": {"upstream"}, "token": {"hub"}, "hf-token": {"hub"}, "server-key": {"server", "arm"}}

// tie leaves out keys from the environment that would go to an address from a file: whoever writes the file does not have the key.
func (s *Settings) tie(cmd *cobra.Command) error {
	for _, key := range slices.Sorted(maps.Keys(addresses)) {
		f := cmd.Flags().Lookup(key)
		if f == nil || s.sources[key] != Variable(key) {
			continue
		}
		for _, address := range addresses[key] {
			from := s.sources[address]
			if cmd.Flags().Lookup(address) == nil || from == "" || from == CommandLine || from == Variable(address) {
				continue
			}
			if err := f.Value.Set(f.DefValue); err != nil {
				return err
			}
			f.Changed = false
			delete(s.sources, key)
			s.LeftOut = append(s.LeftOut, LeftOut{key, Variable(key), fmt.Sprintf("it would be sent to the %s of %s: set %s or --%s too, or %s in the file", address, from, Variable(address), address, key), true})
			break
		}
	}
	return nil
}

// Missing returns the setting of a flag that was left out of the file; nil if the flag is set anyway.
func (s *Settings) Missing(flag string) *LeftOut {
	i := slices.IndexFunc(s.LeftOut, func(o LeftOut) bool { return o.Flag == flag })
	if i < 0 || s.Source(flag) != Default {
		return nil
	}
	return &s.LeftOut[i]
}

// Explain adds to an error of a command which settings in it do not come from the command line, and from where they come.
func (s *Settings) Explain(cmd *cobra.Command, err error) error {
	if err == nil || s == nil {
		return err
	}
	text := err.Error()
	var from []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		source := s.Source(f.Name)
		if source == Default || source == CommandLine || strings.Contains(text, source) {
			return
		}
		said := contains(text, "--"+f.Name)
		values := []string{f.Value.String()}
		switch list, ok := f.Value.(pflag.SliceValue); {
		case ok:
			values = list.GetSlice()
		case f.Value.Type() != "string":
			values = nil // a number may be any other
		}
		for _, v := range values {
			said = said || len(v) > 2 && contains(text, v)
		}
		if said {
			from = append(from, "--"+f.Name+" is set by "+source)
		}
	})
	if len(from) == 0 {
		return err
	}
	return fmt.Errorf("%w (%s)", err, strings.Join(from, ", "))
}

// contains reports whether a text has a word that isn't part of a longer one.
func contains(text, word string) bool {
	part := func(c byte) bool {
		return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !part(text[i-1])) && (end == len(text) || !part(text[end])) {
			return true
		}
		from = i + 1
	}
}

// Notes say what the file in the working folder sets if nobody named or trusted it, and what was left out.
func (s *Settings) Notes(cmd *cobra.Command) (notes []string) {
	if s.Found {
		var set []string
		for name, from := range s.sources {
			if strings.HasPrefix(from, s.File+":") {
				set = append(set, name)
			}
		}
		slices.Sort(set)
		var not []string
		for _, o := range s.LeftOut {
			if !o.key {
				not = append(not, fmt.Sprintf("%s (line %s, which %s)", o.Flag, strings.TrimPrefix(o.Source, s.File+":"), o.Reason))
			}
		}
		if len(set) > 0 {
			notes = append(notes, fmt.Sprintf("%s in this folder sets %s", s.File, strings.Join(set, ", ")))
		}
		if len(not) > 0 {
			notes = append(notes, fmt.Sprintf("%s in this folder was not named, so these of its lines are left out: %s; `%s config trust` trusts it as it is, --%s %s names it",
				s.File, strings.Join(not, ", "), cmd.Root().Name(), Flag, s.File))
		}
	}
	for _, o := range s.LeftOut {
		if o.key {
			notes = append(notes, fmt.Sprintf("%s is left out: %s", o.Source, o.Reason))
		}
	}
	return notes
}

// trustPath returns the list of trusted files: lines as sha256sum writes them.
func trustPath() (string, error) {
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "stencil", "trusted"), nil
}

// trustLine returns the line of a file with this content.
func trustLine(path string, src []byte) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	if strings.ContainsAny(path, "\r\n") {
		return "", fmt.Errorf("%q: a path with line ends can't be trusted", path)
	}
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:]) + "  " + path, nil
}

// trusted reports whether the user has trusted the file as it is now.
func trusted(path string, src []byte) bool {
	list, err := trustPath()
	if err != nil {
		return false
	}
	line, err := trustLine(path, src)
	if err != nil {
		return false
	}
	text, err := os.ReadFile(list)
	if err != nil {
		return false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if lines.Text() == line {
			return true
		}
	}
	return false
}

// own reports whether a file is the one in the user's configuration folder.
func own(path string) bool {
	is, err := os.Stat(path)
	if err != nil {
		return false
	}
	for _, place := range Places()[1:] {
		if info, err := os.Stat(place); err == nil && os.SameFile(is, info) {
			return true
		}
	}
	return false
}

// Trust lets a file set all flags if it is found in the working folder, as long as it stays as it is. It returns the file's
// absolute path.
func Trust(path string) (string, error) {
	src, err := read(path)
	if err != nil {
		return "", err
	}
	line, err := trustLine(path, src)
	if err != nil {
		return "", err
	}
	_, absolute, _ := strings.Cut(line, "  ")
	list, err := trustPath()
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(list)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	out := []string{line}
	for old := range strings.Lines(string(text)) { // an older version of the file is trusted no longer
		if old = strings.TrimRight(old, "\n"); old != "" && !strings.HasSuffix(old, "  "+absolute) {
			out = append(out, old)
		}
	}
	if err := os.MkdirAll(filepath.Dir(list), 0o700); err != nil {
		return "", err
	}
	return absolute, os.WriteFile(list, []byte(strings.Join(out, "\n")+"\n"), 0o600)
}
