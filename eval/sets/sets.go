package sets

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A File is a source file of a set.
type File struct {
	Name   string // relative to a data folder, with slashes
	SHA256 string // in hexadecimal; "": any file in the right format is acceptable
	Source string // its origin: repository and path
}

// A Set builds cases from files.
type Set struct {
	Name  string
	About string
	Files []File // none: the set is part of the program

	build func(set *Set, texts [][]byte) ([]Case, error)
}

// All returns all sets.
func All() []*Set {
	return slices.Concat([]*Set{receipts, requests, receiptsUnnamed, requestsUnnamed}, shaped(), []*Set{restaurants, news, sums, bfcl("simple", "simple_python", 400), bfcl("multiple", "multiple", 200), bfcl("parallel", "parallel", 200),
		bfcl("parallel-multiple", "parallel_multiple", 200), bfcl("irrelevance", "irrelevance", 240), bfcl("live-simple", "live_simple", 258), bfcl("live-multiple", "live_multiple", 1053),
		bfcl("live-irrelevance", "live_irrelevance", 885), jsonMode, libraries})
}

// Named returns the set with a name.
func Named(name string) (*Set, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("sets: there is no set %q; there are %s", name, strings.Join(names, ", "))
}

// Folders are searched for files in order.
type Folders []string

// ErrMissing means that a file is in none of the folders.
var ErrMissing = errors.New("is missing")

// Read returns the content of a file. The error gives the origin of a missing file,
// or means that the file is a different version.
func (f Folders) Read(file File) ([]byte, error) {
	for _, dir := range f {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("sets: %w", err)
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(text)); file.SHA256 != "" && sum != file.SHA256 {
			return nil, fmt.Errorf("sets: %s has SHA-256 %s, not %s: it is another version of %s", path, sum, file.SHA256, file.Source)
		}
		return text, nil
	}
	return nil, fmt.Errorf("sets: %s %w in %s; it is %s", file.Name, ErrMissing, strings.Join(f, " and "), file.Source)
}

// Cases reads the files of the set and builds its cases. Errors name the file, and
// the line if possible.
func (s *Set) Cases(folders Folders) ([]Case, error) {
	texts := make([][]byte, len(s.Files))
	for i, file := range s.Files {
		text, err := folders.Read(file)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return s.of(texts)
}

// of builds the cases of the texts of the set's files.
func (s *Set) of(texts [][]byte) ([]Case, error) {
	cases, err := s.build(s, texts)
	if err != nil {
		return nil, fmt.Errorf("sets: %s: %w", s.Name, err)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("sets: %s: the files have no cases", s.Name)
	}
	seen := map[string]bool{}
	for i := range cases {
		c := &cases[i]
		c.Set = s.Name
		if c.ID == "" || seen[c.ID] {
			return nil, fmt.Errorf("sets: %s: case %d: the id %q is empty or not the first", s.Name, i+1, c.ID)
		}
		seen[c.ID] = true
		if len(c.Tools) > 0 {
			c.fits, err = callsOf(c.Tools)
		} else {
			c.fits, err = documentOf(c.Schema)
		}
		if err != nil {
			return nil, fmt.Errorf("sets: %s: %s: %w", s.Name, c.ID, err)
		}
	}
	return cases, nil
}

// Spread returns n evenly spaced cases; all of them if n is 0 or larger than their
// number.
func Spread(cases []Case, n int) []Case {
	if n <= 0 || n >= len(cases) {
		return cases
	}
	out := make([]Case, n)
	for i := range out {
		out[i] = cases[i*len(cases)/n]
	}
	return out
}

// eachLine decodes JSON lines one by one and keeps numbers as written.
func eachLine[T any](text []byte, visit func(T) error) error {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var v T
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		err := d.Decode(&v)
		if err == nil && d.More() {
			err = errors.New("more than one value")
		}
		if err == nil {
			err = visit(v)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// conversation returns a system and a user message.
func conversation(system, user string) []Message {
	return []Message{{"system", system}, {"user", user}}
}

// A property is a property of a schema whose order is kept.
type property struct {
	name, schema string
}

// object returns the schema of an object with exactly the given properties.
func object(properties []property) json.RawMessage {
	var b, names bytes.Buffer
	for i, p := range properties {
		if i > 0 {
			b.WriteString(",")
			names.WriteString(",")
		}
		name, _ := json.Marshal(p.name) // a string can always be marshalled
		fmt.Fprintf(&b, "%s:%s", name, p.schema)
		names.Write(name)
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, &b, &names))
}
