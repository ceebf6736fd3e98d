package bench

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/ulikunitz/xz"
)

// Case is a schema with test instances.
type Case struct {
	ID     string // file name without .json; "file#3" for the third group of a file
	Schema []byte // source text, verbatim
	Tests  []Instance
}

// Instance is a document and whether the schema accepts it.
type Instance struct {
	Text  []byte // as Python's json.dumps(data, ensure_ascii=False) writes it
	Valid bool
	// Skip marks a document that UTF-8 can't represent because it contains a lone
	// surrogate.
	Skip bool

	data *value
}

// Compact returns the instance without a space after commas and colons.
func (in *Instance) Compact() []byte { return appendJSON(nil, in.data, compactJSON) }

// Corpus is a sequence of cases read from files, folders and archives.
type Corpus struct {
	Paths []string
	Every int // take every n-th case; 0 and 1 take all
	Limit int // stop after this many cases; 0 is no limit
	// Progress, if set, is called after every case with the share of the input, in
	// bytes, that has been read.
	Progress func(share float64)
}

// errEnough ends the iteration over the corpus early.
var errEnough = errors.New("bench: limit reached")

// Each calls visit for every case in order: paths as given, folders and their files
// sorted by name, archives in their own order. It stops at the first error of visit.
func (c *Corpus) Each(visit func(Case) error) error {
	r := &corpusReader{corpus: c, visit: visit}
	for _, p := range c.Paths {
		if err := r.measure(p); err != nil {
			return err
		}
	}
	for _, p := range c.Paths {
		if err := r.path(p); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	if r.seen == 0 {
		return fmt.Errorf("bench: no .json file in %s", strings.Join(c.Paths, ", "))
	}
	return nil
}

// All returns every case.
func (c *Corpus) All() ([]Case, error) {
	var all []Case
	err := c.Each(func(x Case) error {
		all = append(all, x)
		return nil
	})
	return all, err
}

type corpusReader struct {
	corpus *Corpus
	visit  func(Case) error
	seen   int // cases read, before Every is applied
	taken  int
	total  int64 // bytes of all paths on disk
	read   int64
}

func isArchive(name string) bool { return strings.HasSuffix(name, ".tar.xz") }

// measure adds up the bytes that path will read.
func (r *corpusReader) measure(root string) error {
	return filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("bench: corpus: %w", err)
		}
		if info, err := d.Info(); err == nil && !d.IsDir() {
			r.total += info.Size()
		}
		return nil
	})
}

func (r *corpusReader) path(root string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("bench: corpus: %w", err)
		case d.IsDir():
			return nil
		case isArchive(name):
			return r.archive(name)
		case name != root && !strings.HasSuffix(name, ".json"):
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("bench: corpus: %w", err)
		}
		r.read += int64(len(src))
		return r.file(name, src)
	})
}

// archive reads the .json files of a .tar.xz.
func (r *corpusReader) archive(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("bench: corpus: %w", err)
	}
	defer f.Close()
	packed, err := xz.NewReader(bufio.NewReader(&countingReader{f, &r.read}))
	if err != nil {
		return fmt.Errorf("bench: corpus: %s: %w", name, err)
	}
	members := tar.NewReader(packed)
	for {
		h, err := members.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("bench: corpus: %s: %w", name, err)
		}
		if h.Typeflag != tar.TypeReg || !strings.HasSuffix(h.Name, ".json") {
			continue
		}
		src, err := io.ReadAll(members)
		if err != nil {
			return fmt.Errorf("bench: corpus: %s: %s: %w", name, h.Name, err)
		}
		if err := r.file(h.Name, src); err != nil {
			return err
		}
	}
}

type countingReader struct {
	r io.Reader
	n *int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// file reads the cases of one file of any of the three formats.
func (r *corpusReader) file(name string, src []byte) error {
	root, err := parseValue(src)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	id := strings.TrimSuffix(path.Base(filepath.ToSlash(name)), ".json")
	if root.kind == kindArray {
		for i, group := range root.items {
			if group.member("schema") == nil {
				return fmt.Errorf("bench: corpus: %s: item %d has no schema", name, i)
			}
			if err := r.take(fmt.Sprintf("%s#%d", id, i+1), src, group); err != nil {
				return err
			}
		}
		return nil
	}
	return r.take(id, src, root)
}

func (r *corpusReader) take(id string, src []byte, group *value) error {
	r.seen++
	if every := r.corpus.Every; every > 1 && (r.seen-1)%every != 0 {
		return nil
	}
	if r.corpus.Limit > 0 && r.taken == r.corpus.Limit {
		return errEnough
	}
	r.taken++
	err := r.visit(newCase(id, src, group))
	if r.corpus.Progress != nil && r.total > 0 {
		r.corpus.Progress(float64(r.read) / float64(r.total))
	}
	return err
}

// newCase reads a group {"schema", "tests"}; any other value is a schema itself.
func newCase(id string, src []byte, group *value) Case {
	schema, tests := group.member("schema"), group.member("tests")
	if schema == nil || tests == nil || tests.kind != kindArray {
		return Case{ID: id, Schema: src[group.start:group.end]}
	}
	c := Case{ID: id, Schema: src[schema.start:schema.end]}
	for _, t := range tests.items {
		data, valid := t.member("data"), t.member("valid")
		if data == nil || valid == nil {
			continue
		}
		text := appendJSON(nil, data, spacedJSON)
		c.Tests = append(c.Tests, Instance{
			Text:  text,
			Valid: valid.kind == kindTrue,
			Skip:  !utf8.Valid(text),
			data:  data,
		})
	}
	return c
}
