package files

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Limits on patterns of paths.
const (
	maxGlob         = 1024 // bytes
	maxAlternatives = 64   // patterns after alternatives are expanded: each is matched against every name
)

// A glob is a parsed pattern for paths.
type glob struct {
	base     string   // the folder that contains all matches
	patterns []string // for paths below base, without alternatives
	depth    int      // levels of folders below base that it can match
}

// parseGlob parses a pattern.
func parseGlob(pattern string, depth int) (*glob, error) {
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the pattern is longer than %d bytes; give a shorter one", maxGlob)
	}
	given := quote(pattern)
	for strings.HasPrefix(pattern, "./") {
		pattern = strings.TrimLeft(pattern[2:], "/")
	}
	if absolute(pattern) {
		return nil, fmt.Errorf("the pattern %s is for absolute paths; give one for paths within the folder, without a slash at the beginning", given)
	}
	if slices.Contains(parts(pattern), "..") {
		return nil, fmt.Errorf("the pattern %s leads upwards; give one that stays within the folder, without \"..\"", given)
	}
	if pattern == "" || !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%s is not a pattern: a bracket or brace is not closed, or a backslash stands at the end; write \\[ or \\{ for the characters themselves", given)
	}
	base, rest := doublestar.SplitPattern(strings.TrimRight(pattern, "/"))
	patterns, ok := alternatives(rest, maxAlternatives)
	if !ok {
		return nil, fmt.Errorf("the pattern %s has too many alternatives; use several calls", given)
	}
	g := &glob{base: base, patterns: patterns}
	for _, p := range patterns {
		g.depth = max(g.depth, strings.Count(p, "/"))
		if strings.Contains(p, "**") {
			g.depth = depth
		}
	}
	g.depth = min(g.depth, depth)
	return g, nil
}

// match reports whether a path below base matches.
func (g *glob) match(name string) bool {
	return slices.ContainsFunc(g.patterns, func(p string) bool { return doublestar.MatchUnvalidated(p, name) })
}

// alternatives expands {a,b} into a list of patterns without braces. ok is false if
// there are more than most. Matching alternatives directly could take exponential
// time when they are nested and between stars.
func alternatives(pattern string, most int) (out []string, ok bool) {
	todo := []string{pattern}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before, choices, after, found := firstChoice(p)
		if !found {
			out = append(out, p)
		}
		for _, c := range slices.Backward(choices) {
			todo = append(todo, before+c+after)
		}
		if len(out)+len(todo) > most {
			return nil, false
		}
	}
	return out, true
}

// firstChoice splits a valid pattern at its first brace.
func firstChoice(p string) (before string, choices []string, after string, found bool) {
	open, from, level := 0, 0, 0
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case c == '[':
			i = classEnd(p, i)
		case c == '{':
			if level == 0 {
				open, from = i, i+1
			}
			level++
		case c == ',' && level == 1:
			choices = append(choices, p[from:i])
			from = i + 1
		case c == '}' && level > 0:
			if level--; level == 0 {
				return p[:open], append(choices, p[from:i]), p[i+1:], true
			}
		}
	}
	return "", nil, "", false
}

// classEnd returns the index at which the character class that begins at i ends.
func classEnd(p string, i int) int {
	for i++; i < len(p) && p[i] != ']'; i++ {
		if p[i] == '\\' {
			i++
		}
	}
	return i
}

// search visits the entries that a pattern matches, until visit returns false.
func (w *work) search(g *glob, visit func(*entry) bool) error {
	at, err := w.resolve(g.base)
	if err != nil {
		return err
	}
	info, err := w.root.Lstat(at)
	if err != nil {
		return explain(g.base, err)
	}
	if err := expect(info, g.base, fs.ModeDir); err != nil {
		return err
	}
	// Paths are matched and shown as written in the pattern, even if its base goes
	// through a link.
	shown := path.Clean(g.base)
	below := 0
	if shown != "." {
		below = len(shown) + 1
	}
	w.walk(at, shown, g.depth, func(e *entry) bool { return !g.match(e.shown[below:]) || visit(e) })
	if g.depth < w.opt.Depth {
		w.deep = false // nothing deeper could match
	}
	return nil
}

// globFiles is the tool glob_files.
func (w *work) globFiles(a *args) (string, error) {
	g, err := parseGlob(a.text["pattern"], w.opt.Depth)
	if err != nil {
		return "", err
	}
	r := &result{left: w.opt.ResultBytes}
	n := 0
	err = w.search(g, func(e *entry) bool {
		if n == w.opt.Results || !r.line(e.label()) {
			r.remark("only the first %d are shown; there are more; make the pattern narrower to see them", n)
			return false
		}
		n++
		return true
	})
	if err != nil {
		return "", err
	}
	if n == 0 {
		r.remark("nothing matches; the pattern is for whole paths, and **/ stands for any number of folders")
	}
	w.remarks(r)
	return r.String(), nil
}

// listDir is the tool list_dir.
func (w *work) listDir(a *args) (string, error) {
	name := a.text["path"]
	if name == "" {
		name = "."
	}
	at, err := w.resolve(name)
	if err != nil {
		return "", err
	}
	entries, err := w.entriesOf(at, name)
	if err != nil {
		return "", err
	}
	r := &result{left: w.opt.ResultBytes}
	for i, e := range entries {
		if i == w.opt.Results || !r.line(w.describe(&e)) {
			r.remark("only the first %d of %d are shown; glob_files with a pattern such as %s finds others", i, len(entries), quote(path.Join(name, "a*")))
			break
		}
	}
	if len(entries) == 0 && w.stop == "" {
		r.remark("the folder is empty")
	}
	w.remarks(r)
	return r.String(), nil
}

// describe returns the line of list_dir for an entry.
func (w *work) describe(e *entry) string {
	name := show(path.Base(e.at))
	info, err := w.root.Lstat(e.at)
	if err != nil {
		return name + " (can't be read)"
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return name + "/"
	case mode.IsRegular():
		return fmt.Sprintf("%s (%d bytes)", name, info.Size())
	case mode&fs.ModeSymlink == 0:
		return fmt.Sprintf("%s (%s)", name, kind(mode.Type()))
	}
	// A link to something outside looks the same as one to something that does not
	// exist.
	target, err := w.resolve(e.at)
	if err == nil {
		info, err = w.root.Lstat(target)
	}
	if err != nil {
		return name + " (link that can't be followed)"
	}
	return fmt.Sprintf("%s (link to a %s)", name, kind(info.Mode().Type()))
}
