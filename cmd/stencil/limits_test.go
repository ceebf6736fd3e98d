package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestLimitsDocumented checks that docs/operate/limits.md lists the flags of limits
// with their defaults.
func TestLimitsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/operate/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := newServeCommand().Flags()
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| [^|]+ \\| ([^|]+) \\| `--([a-z-]+)` \\| [^|]+ \\|$").FindAllStringSubmatch(string(raw), -1) {
		value, name := strings.TrimSpace(row[1]), row[2]
		documented[name] = true
		flag := flags.Lookup(name)
		if flag == nil {
			t.Errorf("there is no flag --%s", name)
			continue
		}
		if flag.DefValue != value && !strings.Contains(flag.Usage, "default "+value+")") && !strings.Contains(flag.Usage, "default: "+value+")") {
			t.Errorf("--%s: the default is said to be %s; the flag says %s: %s", name, value, flag.DefValue, flag.Usage)
		}
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, "schema-") || strings.HasSuffix(f.Name, "-limit") || f.Name == "queue" || f.Name == "request-timeout" {
			if !documented[f.Name] {
				t.Errorf("--%s is not in the table", f.Name)
			}
		}
	})
	if len(documented) < 15 {
		t.Errorf("only %d flags are in the table", len(documented))
	}
}
