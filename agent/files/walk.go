package files

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// An entry is a name that a search visits.
type entry struct {
	at, shown string // its path, and the path to show, which differs below a link
	mode      fs.FileMode
}

// label returns the entry's path as results show it.
func (e *entry) label() string {
	if e.mode.IsDir() {
		return show(e.shown) + "/"
	}
	return show(e.shown)
}

// walk visits the contents of a folder and all folders below it, sorted by path, a
// folder before its contents, until visit returns false. It does not enter folders
// more than depth levels below. It returns false if it ended early; unless visit
// ended it, w.stop is the reason. Links to folders are visited but not entered.
func (w *work) walk(at, shown string, depth int, visit func(*entry) bool) bool {
	entries, err := w.entriesOf(at, shown)
	if err != nil {
		w.unreadable++
	}
	for _, e := range entries {
		if !w.goOn() || !visit(&e) {
			return false
		}
		if !e.mode.IsDir() {
			continue
		}
		if depth == 0 {
			w.deep = true
		} else if !w.walk(e.at, e.shown, depth-1, visit) {
			return false
		}
	}
	return w.stop == ""
}

// entriesOf returns the contents of a folder, sorted as paths: the name of a folder
// sorts with a slash at its end.
func (w *work) entriesOf(at, shown string) ([]entry, error) {
	f, err := w.open(at, shown, fs.ModeDir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []entry
	for w.goOn() {
		// Read in pieces: a folder may have more entries than fit into memory.
		some, err := f.ReadDir(512)
		for _, d := range some {
			if hidden(d.Name()) && !w.opt.Hidden {
				w.hidden = true
				continue
			}
			if w.entries--; w.entries < 0 {
				w.stop = "there are too many files"
				break
			}
			out = append(out, entry{path.Join(at, d.Name()), path.Join(shown, d.Name()), d.Type()})
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				if len(out) == 0 {
					return nil, explain(shown, err)
				}
				w.unreadable++
			}
			break
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(sortKey(&a), sortKey(&b)) })
	return out, nil
}

func sortKey(e *entry) string {
	if e.mode.IsDir() {
		return e.shown + "/"
	}
	return e.shown
}
