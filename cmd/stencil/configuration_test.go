package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown returns the values and sources of all flags that config show prints.
func shown(t *testing.T, args ...string) (map[string]configValue, error) {
	t.Helper()
	out, _, err := run(t, append([]string{"config", "show", "--json"}, args...)...)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Flags []configValue `json:"flags"`
	}
	if err := json.Unmarshal([]byte(out), &reply); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	flags := map[string]configValue{}
	for _, v := range reply.Flags {
		flags[v.Name] = v
	}
	return flags, nil
}

func TestConfigurationFile(t *testing.T) {
	withoutFeedback(t)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	file := "# what all commands have\nthreads: 3\nport: 8081\nserve:\n  port: 8082\n  api-key: [one, 'two, three']\n  embeddings: true\ngenerate:\n  temperature: 0.5\n  schema: a.json\n"
	if err := os.WriteFile("stencil.yaml", []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("STENCIL_HOST", "0.0.0.0")
	flags, err := shown(t, "--", "serve", "--parallel", "7")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{
		"threads": {"3", "stencil.yaml:2"}, "port": {"8082", "stencil.yaml:5"}, "host": {"[0.0.0.0]", "STENCIL_HOST"}, "parallel": {"7", "command line"},
		"embeddings": {"true", "stencil.yaml:7"}, "api-key": {"(set)", "stencil.yaml:6"},
	} {
		if v := flags[name]; fmt.Sprint(v.Value) != want[0] || v.Source != want[1] {
			t.Errorf("%s: %+v, want %v", name, v, want)
		}
	}
	if len(flags) != 6 {
		t.Errorf("%v", flags)
	}
	// Variables override the file, and the command line overrides both.
	t.Setenv("STENCIL_THREADS", "2")
	if flags, err = shown(t, "generate"); err != nil || flags["threads"].Value != "2" || flags["threads"].Source != "STENCIL_THREADS" || flags["temperature"].Value != "0.5" {
		t.Errorf("%v, %v", flags, err)
	}
	if flags, err = shown(t, "--", "generate", "--threads", "1", "--regex", "a"); err != nil || flags["threads"].Value != "1" || flags["schema"].Name != "" {
		t.Errorf("a flag that excludes one of the file: %v, %v", flags, err)
	}
	if out, _, err := run(t, "config", "show", "generate"); err != nil || !strings.Contains(out, "temperature:") || !strings.Contains(out, "# stencil.yaml:9") {
		t.Errorf("%s, %v", out, err)
	}
	if flags, err = shown(t, "--config", "off", "serve"); err != nil || flags["port"].Name != "" {
		t.Errorf("no file: %v, %v", flags, err)
	}
	if flags, err = shown(t, "--all", "serve"); err != nil || flags["log-level"].Source != "default" || len(flags) < 40 {
		t.Errorf("all: %d, %v", len(flags), err)
	}
	// Commands use the same values.
	if _, _, err := run(t, "generate", "--prompt", "x"); err == nil || !strings.Contains(err.Error(), "a.json") {
		t.Errorf("generate does not read the schema that the file names: %v", err)
	}
	// A file named by --config or STENCIL_CONFIG.
	other := writeTemp(t, "other.yaml", "serve: {port: 9000}\n")
	if flags, err = shown(t, "--config", other, "serve"); err != nil || flags["port"].Value != "9000" || flags["port"].Source != other+":1" {
		t.Errorf("%v, %v", flags, err)
	}
	t.Setenv("STENCIL_CONFIG", other)
	if flags, err = shown(t, "serve"); err != nil || flags["port"].Value != "9000" {
		t.Errorf("STENCIL_CONFIG: %v, %v", flags, err)
	}
	t.Setenv("STENCIL_CONFIG", "")
	if err := os.Remove("stencil.yaml"); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(os.Getenv("XDG_CONFIG_HOME"), "stencil")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(own, "stencil.yaml"), []byte("port: 9001\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if flags, err = shown(t, "serve"); err != nil || flags["port"].Value != "9001" {
		t.Errorf("the user's file: %v, %v", flags, err)
	}
}

func TestConfigurationErrors(t *testing.T) {
	withoutFeedback(t)
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for text, want := range map[string]string{
		"prot: 8081\n":              "stencil.yaml:1:1: the name prot is not known; was port meant?",
		"serve:\n  temperatur: 1\n": "stencil.yaml:2:3: the name temperatur is not known",
		"sevre:\n  port: 1\n":       "stencil.yaml:1:1: the name sevre is not known; was serve meant?",
		"generate:\n  api-key: x\n": "stencil.yaml:2:3: the name api-key is not known",
		"port: many\n":              `stencil.yaml:1:7: port: "many"`,
		"port: [1, 2]\n":            "stencil.yaml:1:7: port takes one value, not a list",
		"port: null\n":              "stencil.yaml:1:7: port must be a value or a list of values",
		"port: {a: 1}\n":            "the name port is not known",
		"port: 1\nport: 2\n":        "stencil.yaml:2:1: port is given twice",
		"- port\n":                  "must be a mapping",
		"port: 1\n---\nport: 2\n":   "there must be one document",
		"port: [1\n":                "stencil.yaml",
		"config: other.yaml\n":      "the name config is not known",
		"api-key: [[a]]\n":          "api-key must be a value or a list of values",
		"a: &a [*a]\n":              "not known",
	} {
		if err := os.WriteFile("stencil.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"config", "show"}, {"serve", "--model", "/nowhere.gguf"}} {
			if _, _, err := run(t, args...); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q with %q: %v, want %q", args, text, err, want)
			}
		}
	}
	for _, text := range []string{"", "# nothing\n", "null\n"} {
		if err := os.WriteFile("stencil.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if flags, err := shown(t); err != nil || len(flags) != 0 {
			t.Errorf("%q: %v, %v", text, flags, err)
		}
	}
	if _, _, err := run(t, "version", "--config", "none.yaml"); err == nil || !strings.Contains(err.Error(), "--config: ") {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestUnknownVariables checks that a misspelled variable is an error that suggests the
// nearest name, except for known foreign variables.
func TestUnknownVariables(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"STENCIL_MAX_TOKNES": "the environment variable STENCIL_MAX_TOKNES is not known; was STENCIL_MAX_TOKENS meant?",
		"STENCIL_QUUX":       "the environment variable STENCIL_QUUX is not known",
		"STENCIL_PORT":       "enableServiceLinks",
		"STENCIL_TEST_X":     "", "STENCIL_SERVICE_HOST": "", "STENCIL_PORT_8080_TCP_ADDR": "", "STENCIL_MODEL": "",
	} {
		t.Run(name, func(t *testing.T) {
			value := "x"
			if name == "STENCIL_PORT" {
				value = "tcp://10.0.0.1:8080"
			}
			t.Setenv(name, value)
			_, _, err := run(t, "config", "show")
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%v, want %q", err, want)
			}
			if want == "" || name == "STENCIL_PORT" {
				return
			}
			if _, _, err := run(t, "version"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("version: %v", err)
			}
		})
	}
	out, _, err := run(t, "generate", "--help")
	if err != nil || !strings.Contains(out, "[STENCIL_MAX_TOKENS]") || !strings.Contains(out, "[STENCIL_CONFIG]") {
		t.Errorf("the help does not name variables: %v %s", err, out)
	}
}
