package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestNoWayOut checks that nothing outside of the folder can be read, listed, found
// or distinguished from what does not exist, by any path that leads there.
func TestNoWayOut(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.txt":        "inside\n",
		"sub/b.txt":    "inside too\n",
		".env":         canary + "\n",
		".git/config":  canary + "\n",
		"up":           "->..",
		"abs":          "->TOP/out/" + canary + ".txt",
		"rel":          "->../out/" + canary + ".txt",
		"out":          "->../out",
		"sub/far":      "->../../out",
		"twice":        "->rel",
		"thrice":       "->sub/../twice",
		"around":       "->../in/a.txt", // back inside, by a path through the outside
		"self":         "->self",
		"ping":         "->pong",
		"pong":         "->ping",
		"circle/back":  "->../circle",
		"nowhere":      "->missing",
		"secret":       "->.env",
		"vcs":          "->.git",
		"good":         "->sub/b.txt",
		"goodsub":      "->sub",
		"good2":        "->goodsub/../goodsub/b.txt",
		"abs-inside":   "->TOP/in/a.txt",
		"proc":         "->/proc/self/environ",
		"dev":          "->/dev/zero",
		"slash":        "->/",
		"dots/.../odd": canary,
	})
	b := open(t, dir, Options{})
	for _, c := range []struct{ path, read, list string }{
		{"..", "...leads out", "...leads out"},
		{"../out/" + canary + ".txt", "...leads out", "...leads out"},
		{"sub/../../out/" + canary + ".txt", "...leads out", "...leads out"},
		{"a.txt/../../out/" + canary + ".txt", "...leads out", "...leads out"},
		{"./././../in/a.txt", "...leads out", "...leads out"},
		{dir + "/a.txt", "...is an absolute path", "...is an absolute path"},
		{"/", "...is an absolute path", "...is an absolute path"},
		{"//etc/passwd", "...is an absolute path", "...is an absolute path"},
		{"/dev/zero", "...is an absolute path", "...is an absolute path"},
		{"up", "...leads out", "...leads out"},
		{"up/out/" + canary + ".txt", "...leads out", "...leads out"},
		{"abs", "...leads out", "...leads out"},
		{"rel", "...leads out", "...leads out"},
		{"out", "...leads out", "...leads out"},
		{"out/" + canary + ".txt", "...leads out", "...leads out"},
		{"out/nothing-there", "...leads out", "...leads out"},
		{"sub/far/" + canary + ".txt", "...leads out", "...leads out"},
		{"goodsub/far/" + canary + ".txt", "...leads out", "...leads out"},
		{"twice", "...leads out", "...leads out"},
		{"thrice", "...leads out", "...leads out"},
		{"around", "...leads out", "...leads out"},
		{"abs-inside", "...leads out", "...leads out"},
		{"proc", "...leads out", "...leads out"},
		{"dev", "...leads out", "...leads out"},
		{"slash/etc/passwd", "...leads out", "...leads out"},
		{"self", "...round in circles", "...round in circles"},
		{"ping", "...round in circles", "...round in circles"},
		{"circle" + strings.Repeat("/back", 60), "...round in circles", "...round in circles"},
		{"circle" + strings.Repeat("/back", 9), "...is a folder; list_dir", "back (link to a folder)"},
		{"nowhere", "...there is no", "...there is no"},
		{".env", "...is hidden", "...is hidden"},
		{"./.env", "...is hidden", "...is hidden"},
		{".git/config", "...is hidden", "...is hidden"},
		{".nothing", "...is hidden", "...is hidden"},
		{"dots/.../odd", "...is hidden", "...is hidden"},
		{"secret", "...is hidden", "...is hidden"},
		{"vcs/config", "...is hidden", "...is hidden"},
		{"vcs", "...is hidden", "...is hidden"},
		{"a\x00b", "...zero byte", "...zero byte"},
		{strings.Repeat("a/", 3000), "...too long", "...too long"},
		{strings.Repeat("./", 600) + "a.txt", "...too many parts", "...too many parts"},
		{"a.txt/x", "...part of the path is a file", "...part of the path is a file"},
		// Paths that stay inside work.
		{"a.txt", "inside", "...is a file, not a folder; read_file"},
		{"./sub//../a.txt", "inside", "...is a file"},
		{"good", "inside too", "...is a file"},
		{"good2", "inside too", "...is a file"},
		{"goodsub/b.txt", "inside too", "...is a file"},
		{"goodsub", "...is a folder", "b.txt (11 bytes)\nfar (link that can't be followed)"},
		{"goodsub/..", "...is a folder", "...a.txt (7 bytes)\n"},
	} {
		for _, try := range []struct{ tool, want string }{{"read_file", c.read}, {"list_dir", c.list}} {
			got := call(b, try.tool, "path", c.path)
			check(t, try.tool+" "+fmt.Sprintf("%.60q", c.path), got, try.want)
			hold(t, dir, try.tool+" "+c.path, strings.ReplaceAll(got, fmt.Sprintf("%q", c.path), ""))
		}
	}
	for _, pattern := range []string{
		"**", "*", "*/*", "**/*.txt", "up/**", "up/*/*", "out/*", "*/" + canary + "*", "../**", "sub/../../out/*", "{..,sub}/**", "{out,up}/**",
		"slash/etc/*", "/etc/*", dir + "/../out/*", ".git/*", "**/.*", ".*", "vcs/*", "sub/far/*", "**/far/**", "[.][.]/*", `\.\./*`, "?./out/*", "circle/back/back/*",
	} {
		hold(t, dir, "glob_files "+pattern, call(b, "glob_files", "pattern", pattern))
		hold(t, dir, "grep_files "+pattern, call(b, "grep_files", "pattern", "7f3a|content|root:", "glob", pattern))
	}
	check(t, "glob_files", call(b, "glob_files", "pattern", "goodsub/*"), "goodsub/b.txt\ngoodsub/far")
	check(t, "grep_files", call(b, "grep_files", "pattern", "inside"), "a.txt:1: inside\nsub/b.txt:1: inside too\n[hidden names, which begin with a dot, are left out]")
	check(t, "grep_files", call(b, "grep_files", "pattern", "inside", "glob", "goodsub/*"), "goodsub/b.txt:1: inside too")
	hold(t, dir, "list_dir", call(b, "list_dir"))
}

// hold fails the test if a result reveals something from outside.
func hold(t testing.TB, dir, what, got string) {
	t.Helper()
	for _, secret := range []string{canary, "root:", filepath.Dir(dir)} {
		if strings.Contains(got, secret) && !strings.Contains(what, secret) {
			t.Errorf("%s tells %q:\n%s", what, secret, got)
		}
	}
	if strings.Contains(got, canary+" content") {
		t.Errorf("%s reads what lies outside:\n%s", what, got)
	}
}

func TestHiddenWhereWanted(t *testing.T) {
	b := open(t, tree(t, map[string]string{".env": "A=1\n", ".github/ci.yml": "on: push\n", "a": "A=2\n", "link": "->.env"}), Options{Hidden: true})
	check(t, "read", call(b, "read_file", "path", ".env"), "A=1")
	check(t, "read", call(b, "read_file", "path", "link"), "A=1")
	check(t, "glob", call(b, "glob_files", "pattern", "**"), ".env\n.github/\n.github/ci.yml\na\nlink")
	check(t, "grep", call(b, "grep_files", "pattern", "A="), ".env:1: A=1\na:1: A=2")
	check(t, "list", call(b, "list_dir"), ".env (4 bytes)\n.github/\na (4 bytes)\nlink (link to a file)")
}

// TestExchanged reads while files and folders are repeatedly replaced by links that
// lead outside.
func TestExchanged(t *testing.T) {
	dir := tree(t, map[string]string{"sub/" + "f.txt": "inside\n"})
	b := open(t, dir, Options{})
	out := filepath.Join(filepath.Dir(dir), "out")
	write(t, filepath.Join(out, "f.txt"), canary+" content\n")
	sub, spare := filepath.Join(dir, "sub"), filepath.Join(dir, "spare")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(out, link); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for range 3000 {
			os.Rename(sub, spare)
			os.Rename(link, sub)
			os.Rename(sub, link)
			os.Rename(spare, sub)
		}
	})
	inside, calls := 0, 0
	for going := true; going; {
		select {
		case <-done:
			going = false
		default:
		}
		for _, got := range []string{
			call(b, "read_file", "path", "sub/f.txt"),
			call(b, "grep_files", "pattern", "."),
			call(b, "glob_files", "pattern", "sub/*"),
			call(b, "list_dir", "path", "sub"),
		} {
			hold(t, dir, "a call", got)
			calls++
			if strings.Contains(got, "inside") {
				inside++
			}
		}
	}
	wg.Wait()
	if inside == 0 {
		t.Errorf("%d calls, and none came by the file", calls)
	}
}

// TestConcurrent uses one Box from several goroutines, for the race detector.
func TestConcurrent(t *testing.T) {
	b := open(t, tree(t, map[string]string{"a.txt": "inside\n", "sub/b.txt": "more\n"}), Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := call(b, "read_file", "path", "a.txt"); got != "inside" {
					t.Errorf("read: %s", got)
				}
				if got := call(b, "grep_files", "pattern", "mor."); got != "sub/b.txt:1: more" {
					t.Errorf("grep: %s", got)
				}
				if got := call(b, "glob_files", "pattern", "**"); got != "a.txt\nsub/\nsub/b.txt" {
					t.Errorf("glob: %s", got)
				}
				if got := call(b, "list_dir"); got != "a.txt (7 bytes)\nsub/" {
					t.Errorf("list: %s", got)
				}
			}
		})
	}
	wg.Wait()
}

func TestClosedAndGone(t *testing.T) {
	dir := tree(t, map[string]string{"a.txt": "inside\n"})
	b := open(t, dir, Options{})
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	check(t, "moved", call(b, "read_file", "path", "a.txt"), "inside")
	if err := os.RemoveAll(dir + "-moved"); err != nil {
		t.Fatal(err)
	}
	check(t, "gone: read", call(b, "read_file", "path", "a.txt"), "...there is no \"a.txt\"")
	check(t, "gone: glob", call(b, "glob_files", "pattern", "**"), "...nothing matches")
	check(t, "gone: grep", call(b, "grep_files", "pattern", "x"), "...there is no text file")
	check(t, "gone: list", call(b, "list_dir"), "...there is no")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"read_file", "list_dir"} {
		check(t, "closed: "+tool, call(b, tool, "path", "a.txt"), "error: the folder has been closed; files can't be read any more")
	}
	check(t, "closed: glob", call(b, "glob_files", "pattern", "a*"), "error: the folder has been closed...")
	check(t, "closed: grep", call(b, "grep_files", "pattern", "a"), "error: the folder has been closed...")
}

func TestOpen(t *testing.T) {
	dir := tree(t, map[string]string{"file": "x", "link": "->sub", "sub/a": "1\n"})
	for _, c := range []struct{ name, want string }{
		{"file", "not a folder"}, {"missing", "no such file"},
	} {
		if _, err := Open(filepath.Join(dir, c.name), Options{}); err == nil || !strings.HasPrefix(err.Error(), "files: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// The folder itself may be a link.
	b := open(t, filepath.Join(dir, "link"), Options{})
	check(t, "read", call(b, "read_file", "path", "a"), "1")
}

func TestCancelled(t *testing.T) {
	b := open(t, tree(t, map[string]string{"a.txt": "inside\n"}), Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for tool, arguments := range map[string]string{
		"read_file": `{"path":"a.txt"}`, "glob_files": `{"pattern":"**"}`, "grep_files": `{"pattern":"a"}`, "list_dir": `{}`,
	} {
		check(t, tool, b.Call(ctx, tool, []byte(arguments)), "...time is up")
	}
}
