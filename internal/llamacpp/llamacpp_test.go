package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// npmWith installs a stand-in for npm that "fetches" an archive with these entries,
// and returns the hash of the archive.
func npmWith(t *testing.T, entries map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for npm is a shell script")
	}
	dir := t.TempDir()
	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	w := tar.NewWriter(z)
	for name, text := range entries {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	z.Close()
	archive := filepath.Join(dir, "archive")
	if err := os.WriteFile(archive, data.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nfor a; do [ \"$last\" = --pack-destination ] && to=$a; last=$a; done\ncp '" + archive + "' \"$to/p.tgz\"\n"
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	sum, err := integrity(archive)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func pinned(name, sum string) *tree {
	return &tree{lock: lock{LlamaCPP: "1.2.3", Packages: "4.5.6", SHA512: map[string]string{name: sum}}}
}

func TestUnpack(t *testing.T) {
	sum := npmWith(t, map[string]string{"package/bins/x/liba.so": "code", "package/LICENSE": "free"})
	dir := t.TempDir()
	if err := pinned("pkg", sum).unpack("pkg", dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"bins/x/liba.so": "code", "LICENSE": "free"} {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

// TestUnpackRefuses checks that archives that differ from the pinned ones, or with
// paths that lead out of the folder, are not unpacked.
func TestUnpackRefuses(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries map[string]string
		sum     string // "": the hash of the archive
		pkg     string
		want    string
	}{
		{"another archive", map[string]string{"package/a": "x"}, "sha512-AAAA", "pkg", "not what was pinned"},
		{"an unpinned package", map[string]string{"package/a": "x"}, "", "other", "is not in"},
		{"a way out", map[string]string{"package/../../evil": "x"}, "", "pkg", "leads out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sum := npmWith(t, test.entries)
			if test.sum != "" {
				sum = test.sum
			}
			dir := filepath.Join(t.TempDir(), "in")
			err := pinned("pkg", sum).unpack(test.pkg, dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
			if list, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*", "*")); len(list) > 0 {
				t.Errorf("it left %v", list)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "evil")); err == nil {
				t.Error("it wrote outside of its folder")
			}
		})
	}
}

// TestOnce checks that a folder is either complete or missing.
func TestOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := once(dir, func(tmp string) error {
		if err := write(filepath.Join(tmp, "half"), strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		return os.ErrPermission
	}); err != os.ErrPermission {
		t.Errorf("error %v", err)
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*")); len(list) > 0 {
		t.Errorf("a failure left %v", list)
	}
	for range 2 {
		made := 0
		if err := once(dir, func(tmp string) error { made++; return write(filepath.Join(tmp, "f"), strings.NewReader("x")) }); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, "f")); err != nil {
			t.Error(err)
		}
	}
}

// TestTarball checks that the same files give the same archive, and that programs
// remain executable.
func TestTarball(t *testing.T) {
	dir := t.TempDir()
	if err := write(filepath.Join(dir, "bin", "p"), strings.NewReader("#!/bin/sh\necho hello\n")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "bin", "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	var sums []string
	for _, name := range []string{"1.tar.gz", "2.tar.gz"} {
		if err := tarball(filepath.Join(out, name), dir, "top"); err != nil {
			t.Fatal(err)
		}
		sum, err := integrity(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	if sums[0] != sums[1] {
		t.Error("two archives of the same files differ")
	}
	cmd := exec.Command("tar", "-xzf", "1.tar.gz")
	cmd.Dir = out
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if said, err := exec.Command(filepath.Join(out, "top", "bin", "p")).Output(); err != nil || string(said) != "hello\n" {
		t.Errorf("%q, %v", said, err)
	}
}

// TestLock checks that everything that a build fetches is pinned, and that the lock
// contains no URL.
func TestLock(t *testing.T) {
	tree, err := openTree()
	if err != nil {
		t.Fatal(err)
	}
	for name, sum := range tree.lock.SHA512 {
		if !strings.HasPrefix(sum, "sha512-") || len(sum) != len("sha512-")+88 {
			t.Errorf("%s: %q is no SHA-512", name, sum)
		}
	}
	for _, name := range []string{sourcePackage, "@node-llama-cpp/linux-x64", "@node-llama-cpp/linux-arm64"} {
		if tree.lock.SHA512[name] == "" {
			t.Errorf("%s is not pinned", name)
		}
	}
	text, err := os.ReadFile(tree.lockPath())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "://") {
		t.Error("the lock has an address")
	}
}

// standIn puts a shell script in place of a program.
func standIn(t *testing.T, name, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// TestReport checks that a failure is explained, whether a program's words were read or shown, and
// that the status of a command of the user's is passed on.
func TestReport(t *testing.T) {
	standIn(t, "npm", "echo no network >&2; exit 7")
	standIn(t, "pkg-config", "echo no such package >&2; exit 1")
	_, system := new(tree).system()
	for _, c := range []struct {
		err  error
		code int
		want string
	}{
		{pinned("pkg", "sha512-x").unpack("pkg", t.TempDir()), 1, "no network"},
		{system, 1, "no such package"},
		{git("no-such-command"), 1, "no-such-command"},
		{build{}.run([]string{"sh", "-c", "exit 3"}), 3, ""},
		{build{}.run([]string{"no-such-program"}), 1, "no-such-program"},
	} {
		var said strings.Builder
		if code := report(&said, c.err); code != c.code || !strings.Contains(said.String(), c.want) || c.want == "" && said.Len() > 0 {
			t.Errorf("%v: status %d and %q", c.err, code, said.String())
		}
	}
}

// TestSystemTooOld checks that an installed llama.cpp of an older release is refused by name, before
// the compiler complains.
func TestSystemTooOld(t *testing.T) {
	standIn(t, "pkg-config", `case "$1" in
--modversion) echo 0.4.2 ;;
--atleast-version=*) exit 1 ;;
--variable=libdir) echo /opt/lib ;;
esac
`)
	_, err := (&tree{root: t.TempDir()}).system()
	if err == nil || !strings.Contains(err.Error(), "0.4.2") || !strings.Contains(err.Error(), oldestSystem) {
		t.Errorf("got %v", err)
	}
}

// TestLicences checks that an archive has a licence for everything that LICENSES.md lists.
func TestLicences(t *testing.T) {
	tr, err := openTree()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := tr.otherLicences(dir); err != nil {
		t.Fatal(err)
	}
	if err := tr.moduleLicences(build{tags: "llama"}, dir); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(tr.root, "LICENSES.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"LICENSE": true} // of Unicode and Go
	for line := range strings.Lines(string(list)) {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ = strings.Cut(name, "`")
			listed[strings.ReplaceAll(name, "/", "_")] = true
			if found, _ := filepath.Glob(filepath.Join(dir, strings.ReplaceAll(name, "/", "_")+".*")); len(found) == 0 {
				t.Errorf("%s is listed and has no licence", name)
			}
		}
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range found {
		name := filepath.Base(file)
		for _, mark := range []string{".LICEN", ".COPYING", ".NOTICE", ".Unicode", ".go"} {
			if at := strings.LastIndex(name, mark); at > 0 {
				name = name[:at]
				break
			}
		}
		if !listed[name] {
			t.Errorf("%s is not in LICENSES.md", filepath.Base(file))
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "LICENSE.Unicode")); err != nil || !strings.HasPrefix(string(text), "UNICODE LICENSE V3") {
		t.Errorf("%.40q %v", text, err)
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"", "a b", "it's $HOME `x` \\ \"y\""} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q is read back as %q, %v", s, out, err)
		}
	}
}
