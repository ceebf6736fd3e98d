package files

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Limits on regular expressions. A line is searched in one call, which takes time
// proportional to its length times the size of the program: with these limits, half
// a second at worst.
const (
	maxExpression = 1024     // bytes
	maxProgram    = 1000     // instructions
	maxLine       = 32 << 10 // bytes of a line that are searched
)

// compile compiles a regular expression.
func compile(expression string, ignoreCase bool) (*regexp.Regexp, error) {
	if len(expression) > maxExpression {
		return nil, fmt.Errorf("the expression is longer than %d bytes; give a shorter one", maxExpression)
	}
	if ignoreCase {
		expression = "(?i)" + expression
	}
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, invalid(err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("the expression is too large; make its counts of repetitions smaller")
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, invalid(err)
	}
	return re, nil
}

// invalid explains what is wrong with an expression and how to correct it.
func invalid(err error) error {
	var e *syntax.Error
	if !errors.As(err, &e) {
		return errors.New("the expression can't be used; give a simpler one")
	}
	switch e.Code {
	case syntax.ErrInvalidRepeatSize, syntax.ErrLarge, syntax.ErrNestingDepth:
		return fmt.Errorf("the expression is too large at %s; make its counts of repetitions smaller", quote(e.Expr))
	}
	return fmt.Errorf("the expression is not valid at %s: %s; RE2 syntax is expected, which has no look-around and no back-references, with \\ before a character that stands for itself",
		quote(e.Expr), e.Code)
}

// A grep is the state of one grep_files call.
type grep struct {
	*work
	re *regexp.Regexp
	r  *result

	found   int  // lines
	files   int  // text files searched to the end
	binary  int  // files that are not text
	long    bool // only the start of some lines was searched
	crowded bool // a line was omitted for lack of room
}

// grepFiles is the tool grep_files.
func (w *work) grepFiles(a *args) (string, error) {
	re, err := compile(a.text["pattern"], a.truth["ignore_case"])
	if err != nil {
		return "", err
	}
	pattern := a.text["glob"]
	switch {
	case pattern == "":
		pattern = "**"
	case !strings.Contains(pattern, "/"):
		pattern = "**/" + pattern
	}
	g, err := parseGlob(pattern, w.opt.Depth)
	if err != nil {
		return "", err
	}
	s := &grep{work: w, re: re, r: &result{left: w.opt.ResultBytes}}
	// Links are skipped: their targets are either visited themselves, or outside the
	// folder.
	err = w.search(g, func(e *entry) bool { return !e.mode.IsRegular() || s.file(e) })
	if err != nil {
		return "", err
	}
	s.finish(a.text["glob"])
	return s.r.String(), nil
}

// file searches a file; it returns false to end the search.
func (s *grep) file(e *entry) bool {
	f, err := s.open(e.at, e.shown, 0)
	if err != nil {
		s.unreadable++
		return true
	}
	defer f.Close()
	l := s.lines(f)
	if l.binary() {
		s.binary++
		return true
	}
	for l.next(0, maxLine) {
		s.long = s.long || l.size > maxLine
		line := bytes.TrimSuffix(l.line, []byte("\r"))
		at := s.re.FindIndex(line)
		if at == nil {
			continue
		}
		if s.found == s.opt.Results || !s.r.line(fmt.Sprintf("%s:%d: %s", show(e.shown), l.number, around(line, at, s.opt.LineBytes))) {
			s.crowded = true
			return false
		}
		s.found++
	}
	if l.err != nil {
		s.unreadable++
	}
	s.files++
	return s.stop == ""
}

// around returns a line for a result: all of it, or the part around the match.
func around(line []byte, at []int, most int) string {
	if len(line) <= most {
		return legible(line)
	}
	// A third of the room is for the text before the match.
	from := max(0, min(at[0]-most/3, len(line)-most))
	from = len(head(line, from))
	some := head(line[from:], most)
	text := legible(some)
	if from > 0 {
		text = "…" + text
	}
	if from+len(some) < len(line) {
		text += "…"
	}
	return text
}

// finish adds remarks on what the result omits.
func (s *grep) finish(glob string) {
	switch {
	case s.crowded:
		s.r.remark("only the first %d lines are shown; there are more; narrow the search with glob or with a stricter expression", s.found)
	case s.found == 0 && s.files == 0 && s.stop == "":
		where := "in the folder"
		if glob != "" {
			where = "that fits the glob " + quote(path.Clean(glob))
		}
		s.r.remark("there is no text file %s", where)
	case s.found == 0:
		s.r.remark("no line matches; text files searched: %d", s.files)
	}
	if s.binary > 0 && s.found == 0 {
		s.r.remark("files that are not text were left out: %d", s.binary)
	}
	if s.long {
		s.r.remark("lines longer than %d bytes were searched only so far", maxLine)
	}
	s.remarks(s.r)
}
