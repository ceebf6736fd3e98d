package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestReadFile(t *testing.T) {
	many := ""
	for i := range 100 {
		many += fmt.Sprintf("line %03d\n", i+1) // 9 bytes
	}
	wide := strings.Repeat("é", 500) // 1000 bytes
	b := open(t, tree(t, map[string]string{
		"many": many, "wide": "first\n" + wide + "\nlast", "exact": strings.Repeat("x", 255) + "\n", "empty": "", "feed": "\n", "blank": "\n\n\n",
		"unended": "a\nb", "crlf": "a\r\nb\r\n", "latin": "caf\xe9 and more, mostly plain text\n", "bin": "ab\x00cd\n", "late": strings.Repeat("text\n", 3000) + "\x00\n",
		"noise": "\xff\xfe\x80\x81\n", "png": "\x89PNG\r\n\x1a\n\x00\x00", "marks": strings.Repeat("\xff", 20) + strings.Repeat("abcdefgh\n", 100), "bom": "\ufeffa\n",
	}), Options{ResultBytes: 256})
	lines := func(from, to int) string { return strings.TrimSuffix(many[9*(from-1):9*to], "\n") }
	for _, c := range []struct {
		name                string
		first, count, bytes int
		want                string
	}{
		{"many", 0, 0, 0, lines(1, 28) + "\n[lines 1 to 28 of 100; there was no room for more; read on with first_line 29]"},
		{"many", 29, 0, 0, lines(29, 56) + "\n[lines 29 to 56 of 100; there was no room for more; read on with first_line 57]"},
		{"many", 85, 0, 0, lines(85, 100) + "\n[lines 85 to 100 of 100]"},
		{"many", 10, 3, 0, lines(10, 12) + "\n[lines 10 to 12 of 100]"},
		{"many", 10, 90, 0, lines(10, 37) + "\n[lines 10 to 37 of 100; there was no room for more; read on with first_line 38]"},
		{"many", 0, 28, 0, lines(1, 28) + "\n[lines 1 to 28 of 100]"},
		{"many", 100, 7, 0, "line 100\n[lines 100 to 100 of 100]"},
		{"many", 100, 7, 5, "100\n[lines 100 to 100 of 100]"},
		{"many", 100, 7, 8, "error: line 100 of \"many\" has only 8 bytes; read on with first_line 101"},
		{"many", 101, 0, 0, `error: "many" has no line 101; its last line is 100`},
		{"many", maxInteger, maxInteger, maxInteger, `error: "many" has no line 1000000000; its last line is 100`},
		{"exact", 0, 0, 0, strings.Repeat("x", 255)},
		{"wide", 0, 0, 0, "first\n[lines 1 to 1 of 3; there was no room for more; read on with first_line 2]"},
		{"wide", 2, 0, 0, wide[:256] + "\n[line 2 of 3 is cut after 256 of its 1000 bytes; read on with first_line 2 and skip_bytes 256]"},
		{"wide", 2, 1, 0, wide[:256] + "\n[line 2 of 3 is cut after 256 of its 1000 bytes; read on with first_line 2 and skip_bytes 256]"},
		{"wide", 2, 0, 255, wide[256:512] + "\n[line 2 of 3 is cut after 512 of its 1000 bytes; read on with first_line 2 and skip_bytes 512]"},
		{"wide", 2, 0, 256, wide[256:512] + "\n[line 2 of 3 is cut after 512 of its 1000 bytes; read on with first_line 2 and skip_bytes 512]"},
		{"wide", 2, 0, 900, wide[900:] + "\nlast\n[lines 2 to 3 of 3]"},
		{"empty", 0, 0, 0, "[the file is empty]"},
		{"feed", 0, 0, 0, ""},
		{"blank", 2, 1, 0, "\n[lines 2 to 2 of 3]"},
		{"unended", 0, 0, 0, "a\nb"},
		{"crlf", 0, 0, 0, "a\r\nb\r"},
		{"bom", 0, 0, 0, "\ufeffa"},
		{"latin", 0, 0, 0, "caf? and more, mostly plain text\n[bytes that are not UTF-8 are shown as question marks]"},
		{"marks", 0, 1, 0, "?abcdefgh\n[lines 1 to 1 of 100]\n[bytes that are not UTF-8 are shown as question marks]"},
		{"bin", 0, 0, 0, `error: "bin" is not a text file; go on without it`},
		{"png", 0, 0, 0, `error: "png" is not a text file; go on without it`},
		{"noise", 0, 0, 0, `error: "noise" is not a text file; go on without it`},
		{"late", 3001, 0, 0, `error: "late" is not a text file; go on without it`},
		{"none", 0, 0, 0, `error: there is no "none" in the folder; list_dir shows what a folder holds, and glob_files finds names in all folders`},
	} {
		a := []any{"path", c.name}
		if c.first > 0 {
			a = append(a, "first_line", c.first)
		}
		if c.count > 0 {
			a = append(a, "lines", c.count)
		}
		if c.bytes > 0 {
			a = append(a, "skip_bytes", c.bytes)
		}
		check(t, fmt.Sprint(a), call(b, "read_file", a...), c.want)
	}
}

// TestReadOn follows the hints in results until it has read all of a file.
func TestReadOn(t *testing.T) {
	content := "short\n" + strings.Repeat("日本語 und mehr ", 100) + "\n\n" + strings.Repeat("x", 300) + "\n" + strings.Repeat("line\n", 60)
	b := open(t, tree(t, map[string]string{"f": content}), Options{ResultBytes: 256})
	var all strings.Builder
	line, skip := 1, 0
	for range 100 {
		got := call(b, "read_file", "path", "f", "first_line", line, "skip_bytes", skip)
		at := strings.LastIndex(got, "\n[")
		text, remark := got[:at], got[at+1:]
		if len(text) > 256 || !utf8.ValidString(text) {
			t.Fatalf("%q", text)
		}
		all.WriteString(text)
		if cut := strings.Index(remark, "first_line "); cut >= 0 {
			skip = 0
			if n, _ := fmt.Sscanf(remark[cut:], "first_line %d and skip_bytes %d", &line, &skip); n == 1 {
				all.WriteByte('\n')
			}
			continue
		}
		all.WriteByte('\n')
		break
	}
	if all.String() != content {
		t.Errorf("got %d bytes, want %d:\n%s", all.Len(), len(content), all.String())
	}
}

func TestHugeFile(t *testing.T) {
	dir := tree(t, nil)
	name := filepath.Join(dir, "huge")
	write(t, name, strings.Repeat("some text\n", 1000))
	if err := os.Truncate(name, 1<<32); err != nil { // a sparse file
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "wide"), strings.Repeat("word ", 1<<20)) // a line of 5 MiB
	b := open(t, dir, Options{})
	check(t, "huge", call(b, "read_file", "path", "huge", "lines", 2), "some text\nsome text\n[lines 1 to 2 of more than 1000]")
	check(t, "huge", call(b, "read_file", "path", "huge", "first_line", 2000),
		`error: line 2000 of "huge" was not reached: there is too much to read after line 1000; search the file with grep_files`)
	check(t, "wide", call(b, "read_file", "path", "wide", "skip_bytes", 5<<20-5), "word ")
	check(t, "wide", call(b, "read_file", "path", "wide"), "...[line 1 of 1 is cut after 16384 of its 5242880 bytes; read on with first_line 1 and skip_bytes 16384]")
	check(t, "grep", call(b, "grep_files", "pattern", "nothing"),
		"[no line matches; text files searched: 1]\n[not everything was looked at: there is too much to read; narrow the search to a folder or to fewer files]")
	check(t, "grep", call(b, "grep_files", "pattern", "word", "glob", "wide"), "wide:1: word word...")
	check(t, "grep", call(b, "grep_files", "pattern", "word $", "glob", "wide"), "...lines longer than 32768 bytes were searched only so far")
}

func TestGlobFiles(t *testing.T) {
	b := open(t, tree(t, map[string]string{
		"a.go": "", "b.txt": "", "src/a.go": "", "src/x/c.go": "", "src.go": "", "src-2/d.go": "", "[odd].txt": "", "{b}": "", "é.go": "", "src/x/y/z/e.go": "",
	}), Options{})
	for _, c := range []struct{ pattern, want string }{
		{"*.go", "a.go\nsrc.go\né.go"},
		{"./*.go", "a.go\nsrc.go\né.go"},
		{"**/*.go", "a.go\nsrc-2/d.go\nsrc.go\nsrc/a.go\nsrc/x/c.go\nsrc/x/y/z/e.go\né.go"},
		{"src/**", "src/a.go\nsrc/x/\nsrc/x/c.go\nsrc/x/y/\nsrc/x/y/z/\nsrc/x/y/z/e.go"},
		{"src/*", "src/a.go\nsrc/x/"},
		{"src/", "src/"},
		{"src/x/c.go", "src/x/c.go"},
		{"{a,b}.{go,txt}", "a.go\nb.txt"},
		{"{src,src-2}/{a,x/{c,d},d}.go", "src-2/d.go\nsrc/a.go\nsrc/x/c.go"},
		{"{src/,}a.go", "a.go\nsrc/a.go"},
		{`\[odd\].txt`, "[odd].txt"},
		{"[[]odd].txt", "[odd].txt"},
		{`\{b\}`, "{b}"},
		{"[{]b[}]", "{b}"},
		{"?.go", "a.go\né.go"},
		{"[^a].go", "é.go"},
		{"src/**/e.go", "src/x/y/z/e.go"},
		{"*/*/c.go", "src/x/c.go"},
		{"*.py", "[nothing matches; the pattern is for whole paths, and **/ stands for any number of folders]"},
		{"nothing/*.py", `error: there is no "nothing" in the folder; list_dir shows what a folder holds, and glob_files finds names in all folders`},
		{"a.go/*", `error: "a.go" is a file, not a folder; read_file reads it`},
		{"../*", `error: the pattern "../*" leads upwards; give one that stays within the folder, without ".."`},
		{"a/../*", "error: the pattern..."},
		{"/*", `error: the pattern "/*" is for absolute paths; give one for paths within the folder, without a slash at the beginning`},
		{"{a", `error: "{a" is not a pattern: a bracket or brace is not closed, or a backslash stands at the end; write \[ or \{ for the characters themselves`},
		{"a}", "error: \"a}\" is not a pattern..."},
		{"[a", "error: \"[a\" is not a pattern..."},
		{`a\`, "error: \"a\\\\\" is not a pattern..."},
		{"./", "error: \"./\" is not a pattern..."},
		{strings.Repeat("{a,b}", 7), "...has too many alternatives; use several calls"},
		{strings.Repeat("{a,b}", 6), "[nothing matches..."},
		{strings.Repeat("a", 1025), "error: the pattern is longer than 1024 bytes; give a shorter one"},
	} {
		check(t, c.pattern, call(b, "glob_files", "pattern", c.pattern), c.want)
	}
}

func TestGrepFiles(t *testing.T) {
	long := strings.Repeat("é", 300) + "needle" + strings.Repeat("ü", 300)
	b := open(t, tree(t, map[string]string{
		"a.go": "package a\n\n// Needle\r\nfunc A() {}\n", "sub/b.go": "needle\nno\nneedle", "sub/c.txt": "a needle\n" + long + "\n", "bin": "needle\x00", "latin": "\xe9 n\xe9edle\n",
		"sub/link": "->b.go", "dir": "->sub",
	}), Options{LineBytes: 40})
	for _, c := range []struct {
		pattern, glob string
		fold          bool
		want          string
	}{
		{"needle", "", false, "sub/b.go:1: needle\nsub/b.go:3: needle\nsub/c.txt:1: a needle\nsub/c.txt:2: …éééééééneedleüüüüüüüüüü…"},
		{"needle", "*.go", false, "sub/b.go:1: needle\nsub/b.go:3: needle"},
		{"needle", "sub/*.go", true, "sub/b.go:1: needle\nsub/b.go:3: needle"},
		{"NEEDLE$", "**/*.go", true, "a.go:3: // Needle\nsub/b.go:1: needle\nsub/b.go:3: needle"},
		{"needle", "dir/b*", false, "dir/b.go:1: needle\ndir/b.go:3: needle"},
		{`^func \w+\(`, "", false, "a.go:4: func A() {}"},
		{"n.+dle", "latin", false, "latin:1: ? n?edle"},
		{"^$", "a.go", false, "a.go:2: "},
		{"haystack", "", false, "[no line matches; text files searched: 4]\n[files that are not text were left out: 1]"},
		{"x", "*.py", false, `[there is no text file that fits the glob "*.py"]`},
		{"x", "{", false, `error: "**/{" is not a pattern...`},
		{"x", "../*", false, `error: the pattern "../*" leads upwards...`},
		{"(", "", false, `error: the expression is not valid at "(": missing closing ); RE2 syntax is expected, which has no look-around and no back-references, with \ before a character that stands for itself`},
		{"a)|(b", "", true, "error: the expression is not valid at ..."},
		{"(?=a)", "", false, "error: the expression is not valid at \"(?=\"..."},
		{`(a)\1`, "", false, `error: the expression is not valid at "\\1"...`},
		{"a{2000}", "", false, `error: the expression is too large at "{2000}"; make its counts of repetitions smaller`},
		{"a{1000}b{1000}", "", false, "error: the expression is too large; make its counts of repetitions smaller"},
		{strings.Repeat("a", 1025), "", false, "error: the expression is longer than 1024 bytes; give a shorter one"},
	} {
		a := []any{"pattern", c.pattern, "ignore_case", c.fold}
		if c.glob != "" {
			a = append(a, "glob", c.glob)
		}
		check(t, c.pattern+" "+c.glob, call(b, "grep_files", a...), c.want)
	}
}

func TestLimits(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d/f%02d.txt", i)] = "needle\n"
	}
	files[strings.Repeat("deep/", 20)+"f"] = "needle\n"
	dir := tree(t, files)
	count := open(t, dir, Options{Results: 3})
	check(t, "glob", call(count, "glob_files", "pattern", "**/*.txt"), "d/f00.txt\nd/f01.txt\nd/f02.txt\n[only the first 3 are shown; there are more; make the pattern narrower to see them]")
	check(t, "glob", call(count, "glob_files", "pattern", "d/f0[0-2]*"), "d/f00.txt\nd/f01.txt\nd/f02.txt")
	check(t, "list", call(count, "list_dir", "path", "d"),
		"f00.txt (7 bytes)\nf01.txt (7 bytes)\nf02.txt (7 bytes)\n[only the first 3 of 30 are shown; glob_files with a pattern such as \"d/a*\" finds others]")
	check(t, "grep", call(count, "grep_files", "pattern", "needle"),
		"d/f00.txt:1: needle\nd/f01.txt:1: needle\nd/f02.txt:1: needle\n[only the first 3 lines are shown; there are more; narrow the search with glob or with a stricter expression]")

	size := open(t, dir, Options{ResultBytes: 256})
	for _, got := range []string{call(size, "glob_files", "pattern", "d/*"), call(size, "list_dir", "path", "d"), call(size, "grep_files", "pattern", "n", "glob", "d/*")} {
		text, _, cut := strings.Cut(got, "\n[only the first ")
		if !cut || len(text) > 256 || len(text) < 200 {
			t.Errorf("%d bytes: %s", len(text), got)
		}
	}

	names := open(t, dir, Options{Entries: 20})
	check(t, "glob", call(names, "glob_files", "pattern", "d/f1*"),
		"...[not everything was looked at: there are too many files; narrow the search to a folder or to fewer files]")
	check(t, "list", call(names, "list_dir", "path", "d"), "...[not everything was looked at: there are too many files")

	bytes := open(t, dir, Options{ReadBytes: 20})
	check(t, "grep", call(bytes, "grep_files", "pattern", "needle"),
		"d/f00.txt:1: needle\nd/f01.txt:1: needle\nd/f02.txt:1: needle\n[not everything was looked at: there is too much to read; narrow the search to a folder or to fewer files]")

	depth := open(t, dir, Options{Depth: 5})
	check(t, "glob", call(depth, "glob_files", "pattern", "**/f"),
		"[nothing matches; the pattern is for whole paths, and **/ stands for any number of folders]\n[folders more than 5 levels down were left out; start the pattern with such a folder's path to look into it]")
	check(t, "glob", call(depth, "glob_files", "pattern", strings.Repeat("deep/", 16)+"**/f"), strings.Repeat("deep/", 20)+"f")
	check(t, "glob", call(depth, "glob_files", "pattern", "*/f01*"), "d/f01.txt")

	short := open(t, dir, Options{Time: time.Nanosecond})
	check(t, "grep", call(short, "grep_files", "pattern", "needle"), "...[not everything was looked at: time is up")
}

// TestDeepTree checks that searches stop at the maximum depth.
func TestDeepTree(t *testing.T) {
	dir := tree(t, map[string]string{strings.Repeat("d/", 300) + "f": "needle\n"})
	b := open(t, dir, Options{})
	check(t, "grep", call(b, "grep_files", "pattern", "needle"), "...[folders more than 64 levels down were left out")
	check(t, "read", call(b, "read_file", "path", strings.Repeat("d/", 300)+"f"), "needle")
}
