package repair

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/stencil-json/stencil/schema/jsondoc"
)

// decodeString decodes a JSON string.
func decodeString(text string) (string, bool) {
	var s string
	err := json.Unmarshal([]byte(text), &s)
	return s, err == nil
}

// repeated reports whether an object in a document has a duplicate key, a sign that
// two objects were read as one. The document is valid JSON, so walk cannot fail.
func repeated(document []byte) bool {
	twice := false
	_ = walk(document, func(v visit) { twice = twice || v.again })
	return twice
}

// A visit is a value of a document.
type visit struct {
	pointer    string
	start, end int
	again      bool // the key is a duplicate in its object
}

// A level is an open container of a document.
type level struct {
	visit
	keys  map[string]bool // of an object
	key   string
	index int
	after bool // a key has been read
}

// walk calls f for every value of a document, containers after their contents.
func walk(document []byte, f func(visit)) error {
	return walkKeys(document, f, func(string, string, int, int) {})
}

// walkKeys is walk with another function for every key, before its value.
func walkKeys(document []byte, f func(visit), onKey func(object, key string, start, end int)) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	var open []level
	// place returns the location of the value that begins now.
	place := func() (pointer string, again bool) {
		if len(open) == 0 {
			return "", false
		}
		top := &open[len(open)-1]
		if top.keys == nil {
			top.index++
			return top.pointer + "/" + strconv.Itoa(top.index-1), false
		}
		again = top.keys[top.key]
		top.keys[top.key], top.after = true, false
		return top.pointer + "/" + jsondoc.EscapePointer(top.key), again
	}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		end := int(d.InputOffset())
		switch delim, _ := token.(json.Delim); delim {
		case '{', '[':
			p, again := place()
			l := level{visit: visit{pointer: p, start: end - 1, again: again}}
			if delim == '{' {
				l.keys = map[string]bool{}
			}
			open = append(open, l)
			continue
		case '}', ']':
			top := open[len(open)-1]
			open = open[:len(open)-1]
			top.end = end
			f(top.visit)
			continue
		}
		if n := len(open); n > 0 && open[n-1].keys != nil && !open[n-1].after {
			open[n-1].key, open[n-1].after = token.(string), true
			onKey(open[n-1].pointer, open[n-1].key, scalarStart(document, end), end)
			continue
		}
		p, again := place()
		f(visit{p, scalarStart(document, end), end, again})
	}
}

// scalarStart returns the start of the scalar that ends before end.
func scalarStart(document []byte, end int) int {
	i := end - 1
	if document[i] != '"' {
		for i > 0 && strings.IndexByte(" \t\r\n,:[{", document[i-1]) < 0 {
			i--
		}
		return i
	}
	for i--; ; i-- {
		if document[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes > 0 && document[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}
