package files

import (
	"bytes"
	"fmt"
	"math"
	"unicode/utf8"
)

// readFile is the tool read_file.
func (w *work) readFile(a *args) (string, error) {
	name := a.text["path"]
	at, err := w.resolve(name)
	if err != nil {
		return "", err
	}
	f, err := w.open(at, name, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	notText := fmt.Errorf("%s is not a text file; go on without it", quote(name))
	l := w.lines(f)
	if l.binary() {
		return "", notText
	}
	p := passage{first: max(a.number["first_line"], 1), last: math.MaxInt, skip: a.number["skip_bytes"]}
	if n := a.number["lines"]; n > 0 {
		p.last = p.first + n - 1
	}
	p.read(l, w.opt.ResultBytes)
	if l.err != nil {
		return "", explain(name, l.err)
	}
	if bytes.IndexByte(p.text, 0) >= 0 {
		return "", notText
	}
	return p.result(name, l)
}

// A passage is the requested lines of a file, as far as they fit.
type passage struct {
	first, last int
	skip        int // bytes to skip in the first line

	text  []byte // with a line feed after each line
	shown int    // lines
	// What was omitted: if cut is not 0, the first line from byte cut on; if full is
	// set, everything after the lines in text.
	cut  int
	full bool
	size int // of the first line
}

// read reads the passage, then the rest of the file to count its lines.
func (p *passage) read(l *lines, room int) {
	for l.number < p.first-1 && l.next(0, 0) {
	}
	// Read slightly more than fits, to find the end of a character.
	if l.number != p.first-1 || !l.next(p.skip, room+utf8.UTFMax) {
		return
	}
	p.shown, p.size = 1, l.size
	// The skipped bytes may end within a character.
	line := l.line
	for k := 0; p.skip > 0 && k < utf8.UTFMax-1 && len(line) > 0 && !utf8.RuneStart(line[0]); k++ {
		line = line[1:]
	}
	if len(line) > room {
		// Only the first line is ever cut; otherwise the result could be empty.
		p.cut, p.full = p.skip+len(l.line)-len(line)+room, true
		line = head(line, room)
		p.cut -= room - len(line)
	}
	p.text = append(append(p.text, line...), '\n')
	for l.next(0, max(room-len(p.text), 0)) {
		p.full = p.full || l.size >= room-len(p.text)
		if l.number <= p.last && !p.full {
			p.text = append(append(p.text, l.line...), '\n')
			p.shown++
		}
	}
}

// result returns the result of read_file.
func (p *passage) result(name string, l *lines) (string, error) {
	stop, total := l.w.stop, fmt.Sprint(l.number)
	if stop != "" {
		total = "more than " + total
	}
	switch {
	case p.shown == 0 && stop != "":
		return "", fmt.Errorf("line %d of %s was not reached: %s after line %d; search the file with grep_files", p.first, quote(name), stop, l.number)
	case l.number == 0:
		return "[the file is empty]", nil
	case p.shown == 0:
		return "", fmt.Errorf("%s has no line %d; its last line is %d", quote(name), p.first, l.number)
	case p.skip >= max(p.size, 1):
		return "", fmt.Errorf("line %d of %s has only %d bytes; read on with first_line %d", p.first, quote(name), p.size, p.first+1)
	}
	var r result
	r.text.WriteString(legible(p.text))
	last := p.first + p.shown - 1
	switch {
	case p.cut > 0:
		r.remark("line %d of %s is cut after %d of its %d bytes; read on with first_line %d and skip_bytes %d", p.first, total, p.cut, p.size, p.first, p.cut)
	case last < l.number && last < p.last:
		r.remark("lines %d to %d of %s; there was no room for more; read on with first_line %d", p.first, last, total, last+1)
	case p.first > 1 || last < l.number || stop != "":
		r.remark("lines %d to %d of %s", p.first, last, total)
	}
	if !utf8.Valid(p.text) {
		r.remark("bytes that are not UTF-8 are shown as question marks")
	}
	return r.String(), nil
}
