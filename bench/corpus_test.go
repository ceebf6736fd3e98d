package bench

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ulikunitz/xz"
)

func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return full
	}
	folder := filepath.Dir(write("folder/b.json", `{"schema": { "z": 1, "a": 2 }, "tests": [{"data": {"y":1,"x":2.50}, "valid": true}]}`))
	write("folder/a.json", `{"type": "string"}`)
	write("folder/c.json", `[{"schema": true, "tests": []}, {"schema": false, "tests": [{"data": 1, "valid": false}]}]`)
	write("folder/readme.md", `no json`)
	plain := write("plain", `{"properties": {"schema": {}, "tests": {}}}`)

	var packed bytes.Buffer
	xzw, err := xz.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	tw := tar.NewWriter(xzw)
	for _, name := range []string{"set/q.json", "set/LICENSE", "set/p.json"} {
		text := `{"schema": {"title": "` + name + `"}, "tests": []}`
		if err := errors.Join(tw.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))})); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(tw.Close(), xzw.Close()); err != nil {
		t.Fatal(err)
	}
	archive := write("set.tar.xz", packed.String())

	read := func(c Corpus) (ids []string, cases []Case) {
		t.Helper()
		cases, err := c.All()
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range cases {
			ids = append(ids, x.ID)
		}
		return ids, cases
	}
	share := 0.0
	paths := []string{folder, plain, archive}
	ids, cases := read(Corpus{Paths: paths, Progress: func(s float64) { share = s }})
	if want := []string{"a", "b", "c#1", "c#2", "plain", "q", "p"}; !slices.Equal(ids, want) {
		t.Fatalf("ids %v, want %v", ids, want)
	}
	if share < 0.9 || share > 1 {
		t.Errorf("progress ended at %v", share)
	}
	if got := string(cases[1].Schema); got != `{ "z": 1, "a": 2 }` {
		t.Errorf("schema %s", got)
	}
	if in := cases[1].Tests[0]; string(in.Text) != `{"y": 1, "x": 2.50}` || string(in.Compact()) != `{"y":1,"x":2.50}` || !in.Valid {
		t.Errorf("instance %s, %s", in.Text, in.Compact())
	}
	if got := string(cases[4].Schema); got != `{"properties": {"schema": {}, "tests": {}}}` {
		t.Errorf("a plain schema was read as %s", got)
	}
	if ids, _ := read(Corpus{Paths: paths, Every: 3}); !slices.Equal(ids, []string{"a", "c#2", "p"}) {
		t.Errorf("every third: %v", ids)
	}
	if ids, _ := read(Corpus{Paths: paths, Every: 2, Limit: 2}); !slices.Equal(ids, []string{"a", "c#1"}) {
		t.Errorf("limit: %v", ids)
	}
	for _, bad := range [][]string{{dir + "/absent"}, {write("bad.json", `{"a":}`)}, {write("list.json", `[1]`)}, {t.TempDir()}} {
		if _, err := (&Corpus{Paths: bad}).All(); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}
