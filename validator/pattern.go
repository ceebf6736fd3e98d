package validator

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// A Pattern is a regular expression in the syntax of ECMA-262. It is safe for
// concurrent use.
type Pattern struct {
	linear *regexp.Regexp // nil: the pattern needs backtracking
	size   int            // of linear: how many instructions it has, all of which may be tried at each character
	source string
	slow   sync.Pool // of *regexp2.Regexp, each used by one match at a time, with its own time limit
}

// Lengths of patterns, in bytes: the libraries need up to a kilobyte for each.
const (
	MaxPattern  = 1 << 16        // of one
	maxPatterns = 4 * MaxPattern // of all in a schema
)

var errLongPattern = &undecided{fmt.Sprintf("a pattern is longer than %d bytes", MaxPattern)}

// NewPattern compiles a pattern. The error matches ErrUndecided if it is too long.
func NewPattern(source string) (*Pattern, error) {
	if len(source) > MaxPattern {
		return nil, errLongPattern
	}
	p := &Pattern{source: source}
	if translated, ok := translate(source); ok {
		if re, err := regexp.Compile(translated); err == nil {
			p.linear, p.size = re, instructions(translated)
			return p, nil
		}
	}
	first, err := p.backtracking()
	if err != nil {
		return nil, fmt.Errorf("validator: pattern %s: %w", quote(source), err)
	}
	p.slow.Put(first)
	return p, nil
}

// instructions returns the size of the program of an expression that compiles.
func instructions(translated string) int {
	parsed, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return len(translated) // can't happen
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return len(translated) // can't happen
	}
	return len(program.Inst)
}

func (p *Pattern) backtracking() (*regexp2.Regexp, error) {
	return regexp2.Compile(spellProperties(shortCategories.Replace(p.source)), regexp2.ECMAScript|regexp2.Unicode)
}

// Linear reports whether matching takes time linear in the text.
func (p *Pattern) Linear() bool { return p.linear != nil }

// Match reports whether the pattern matches anywhere in s. The error matches
// ErrUndecided if that takes too long, or is the cause of the context's end.
func (p *Pattern) Match(ctx context.Context, s string) (matches bool, err error) {
	r := &run{ctx: ctx}
	err = r.attempt(func() error {
		matches = p.match(r, s)
		return nil
	})
	return matches, err
}

// slice is how long a backtracking match runs before its context is checked. The
// match then starts over with twice the time, so that at most three quarters of the
// time are wasted.
const slice = 50 * time.Millisecond

func (p *Pattern) match(r *run, s string) bool {
	r.step(1 + len(s)/64)
	if p.linear != nil {
		return p.matchLinear(r, s)
	}
	re, _ := p.slow.Get().(*regexp2.Regexp)
	if re == nil {
		var err error
		if re, err = p.backtracking(); err != nil {
			r.giveUp(err) // can't happen: NewPattern compiled it
		}
	}
	defer p.slow.Put(re)
	for limit := slice; ; limit *= 2 {
		limit = min(limit, time.Duration(r.times)*patternTime-r.patterns)
		if limit <= 0 {
			r.giveUp(&undecided{fmt.Sprintf("the pattern %s took too long to match", quote(p.source))})
		}
		re.MatchTimeout = limit
		start := time.Now()
		ok, err := re.MatchString(s)
		r.patterns += time.Since(start)
		if err == nil {
			return ok
		}
		r.poll()
	}
}

// Work of a linear match is counted as the product of the pattern's size and the text's.
const (
	workPerStep = 1 << 12 // takes up to 60 µs
	uncheckedAt = 1 << 22 // a match with more work looks at the bounds on the way
)

func (p *Pattern) matchLinear(r *run, s string) (matches bool) {
	work := p.size * len(s)
	if work < workPerStep {
		return p.linear.MatchString(s)
	}
	in := &bounded{run: r, pattern: p, rest: s, since: time.Now()}
	if work > uncheckedAt {
		matches = p.linear.MatchReader(in)
	} else {
		r.step(work / workPerStep)
		in.since = time.Now()
		matches = p.linear.MatchString(s)
	}
	in.count()
	return matches
}

// A bounded is a text that a pattern is matched against: reading it ends with the run's bounds. It gives up through the
// matching code, which holds nothing that would have to be released.
type bounded struct {
	run     *run
	pattern *Pattern
	rest    string
	work    int // since the last step
	since   time.Time
}

// ReadRune implements io.RuneReader.
func (b *bounded) ReadRune() (rune, int, error) {
	if b.work += b.pattern.size; b.work >= workPerStep {
		b.count()
		// A poll for each step: the time of the work varies a lot.
		b.run.step(b.work / workPerStep)
		b.run.poll()
		b.work, b.since = b.work%workPerStep, time.Now()
	}
	if b.rest == "" {
		return 0, 0, io.EOF
	}
	c, n := utf8.DecodeRuneInString(b.rest)
	b.rest = b.rest[n:]
	return c, n, nil
}

// count adds the time since the last call to that of linear matches.
func (b *bounded) count() {
	b.run.linear += time.Since(b.since)
	if b.run.linear > time.Duration(b.run.times)*linearTime {
		b.run.giveUp(&undecided{fmt.Sprintf("the pattern %s took too long to match", quote(b.pattern.source))})
	}
}

// shortCategories replaces the long names of general categories, which ECMA-262
// allows, by the short ones that the pattern libraries know.
var shortCategories = strings.NewReplacer(
	"{Letter}", "{L}", "{Lowercase_Letter}", "{Ll}", "{Uppercase_Letter}", "{Lu}", "{Titlecase_Letter}", "{Lt}", "{Modifier_Letter}", "{Lm}",
	"{Other_Letter}", "{Lo}", "{Mark}", "{M}", "{Nonspacing_Mark}", "{Mn}", "{Spacing_Mark}", "{Mc}", "{Enclosing_Mark}", "{Me}",
	"{Number}", "{N}", "{Decimal_Number}", "{Nd}", "{Letter_Number}", "{Nl}", "{Other_Number}", "{No}",
	"{Punctuation}", "{P}", "{Connector_Punctuation}", "{Pc}", "{Dash_Punctuation}", "{Pd}", "{Open_Punctuation}", "{Ps}",
	"{Close_Punctuation}", "{Pe}", "{Initial_Punctuation}", "{Pi}", "{Final_Punctuation}", "{Pf}", "{Other_Punctuation}", "{Po}",
	"{Symbol}", "{S}", "{Math_Symbol}", "{Sm}", "{Currency_Symbol}", "{Sc}", "{Modifier_Symbol}", "{Sk}", "{Other_Symbol}", "{So}",
	"{Separator}", "{Z}", "{Space_Separator}", "{Zs}", "{Line_Separator}", "{Zl}", "{Paragraph_Separator}", "{Zp}",
	"{Control}", "{Cc}", "{Format}", "{Cf}",
)
