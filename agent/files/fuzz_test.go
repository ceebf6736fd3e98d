package files

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzCall calls tools with arbitrary arguments, in a folder with links inside and
// outside of it. No result may contain anything from outside, or anything hidden.
func FuzzCall(f *testing.F) {
	for _, path := range []string{
		"a.txt", "sub/b.txt", ".", "..", "up/out/x", "out", "out/x", "abs", "sub/far/x", "in/sub/a.txt", ".env", "secret", "loop", "../out/x", "sub/../../out/x", "/etc/passwd", "late/x",
	} {
		f.Add("read_file", "path", path, "", "", 1, 0)
		f.Add("list_dir", "path", path, "", "", 0, 0)
		f.Add("glob_files", "pattern", path+"/**", "", "", 0, 0)
		f.Add("grep_files", "pattern", ".", "glob", path, 0, 0)
	}
	f.Add("grep_files", "pattern", "(?i)CANARY|[^ ]{3,}$", "glob", "{**/,../}*{a,b}*", 0, 0)
	f.Add("read_file", "", "", "", "", 0, 7)
	f.Add("read_file", "path", "a.txt", "", "", 2, 3)
	f.Add("", "", `{"path":"a.txt","lines":1e9}`, "", "", 0, 0)
	dir := tree(f, map[string]string{
		"a.txt": "first line\nsecond line, é\n\xff\n", "sub/b.txt": "more\n", "bin": "\x00\x01", "sub/deep/deeper/c": strings.Repeat("wide ", 500), "bad\xff": "odd\n",
		".env": canary + " content\n", ".git/" + canary: canary + " content\n",
		"up": "->..", "out": "->../out", "abs": "->TOP/out/" + canary + ".txt", "sub/far": "->../../out", "in": "->sub", "sub/a.txt": "->../a.txt", "secret": "->.env", "vcs": "->.git",
		"loop": "->loop", "sub/deep/back": "->../../sub", "late": "->sub/deep/../far",
	})
	b := open(f, dir, Options{ResultBytes: 512, Time: 5 * time.Second})
	f.Fuzz(func(t *testing.T, tool, name, value, name2, value2 string, first, skip int) {
		a := map[string]any{}
		if name != "" {
			a[name] = value
		}
		if name2 != "" {
			a[name2] = value2
		}
		if first != 0 {
			a["first_line"] = first
		}
		if skip != 0 {
			a["skip_bytes"] = skip
		}
		arguments, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if tool == "" {
			arguments = json.RawMessage(value)
		}
		for _, tool := range []string{tool, "read_file", "glob_files", "grep_files", "list_dir"} {
			got := b.Call(context.Background(), tool, arguments)
			if !utf8.ValidString(got) {
				t.Errorf("%s %s: not UTF-8: %q", tool, arguments, got)
			}
			if len(got) > 4096 {
				t.Errorf("%s %s: %d bytes", tool, arguments, len(got))
			}
			// A result may repeat the name only if the arguments contain it.
			if strings.Contains(got, canary+" content") || strings.Contains(got, canary) && !strings.Contains(value+value2+name+name2+tool, "canary") {
				t.Errorf("%s %s: %s", tool, arguments, got)
			}
		}
	})
}
