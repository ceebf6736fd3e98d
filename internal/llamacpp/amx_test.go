package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAMX checks on the assembly of two functions that the compiler keeps every store
// that AMX's instructions read. Nothing is run: the machine may lack AMX.
func TestAMX(t *testing.T) {
	tr, err := openTree()
	if err != nil {
		t.Fatal(err)
	}
	flags := tr.amx()
	if flags == "" {
		t.Skip("ggml has no code for AMX here")
	}
	source := filepath.Join(t.TempDir(), "tiles.cpp")
	if err := os.WriteFile(source, []byte(`#include <immintrin.h>
#define TMM0 0
extern "C" void configure(unsigned char rows) {
	alignas(64) unsigned char config[64] = {1};
	config[48] = rows;
	_tile_loadconfig(config);
}
extern "C" void load(int first, int second) {
	alignas(64) int tile[256] = {};
	tile[0] = first;
	_tile_loadd(TMM0, tile, 64);
	tile[0] = second;
	_tile_stream_loadd(1, tile, 64);
}
`), 0o644); err != nil {
		t.Fatal(err)
	}
	command := "c++ -O3 -march=sapphirerapids " + flags + " -S -o - " + quote(source)
	out, err := exec.Command("sh", "-c", command).CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), "sapphirerapids") {
			t.Skip("the compiler doesn't know AMX")
		}
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	for name, arguments := range map[string][]string{
		"configure": {`%(edi|dil)\b.*(?s:.*)ldtilecfg`},
		"load":      {`%edi\b.*(?s:.*)tileloadd\s`, `tileloadd\s(?s:.*)%esi\b.*(?s:.*)tileloaddt1`},
	} {
		_, body, found := strings.Cut(string(out), "\n"+name+":\n")
		if !found {
			t.Fatalf("no function %s in\n%s", name, out)
		}
		body, _, _ = strings.Cut(body, ".cfi_endproc")
		for _, use := range arguments {
			if !regexp.MustCompile(use).MatchString(body) {
				t.Errorf("%s: nothing matches %s in\n%s", name, use, body)
			}
		}
	}
}
