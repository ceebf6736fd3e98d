package lessons

import (
	"embed"
	"strings"
)

//go:embed lists/*.txt
var listFiles embed.FS

// sections has the sections of lists/*.txt by name: a line "== name", then one
// entry per line.
var sections = readSections()

func readSections() map[string]string {
	out := map[string]string{}
	files, err := listFiles.ReadDir("lists")
	if err != nil {
		panic(err) // embedded files are readable
	}
	for _, f := range files {
		text, err := listFiles.ReadFile("lists/" + f.Name())
		if err != nil {
			panic(err)
		}
		for section := range strings.SplitSeq("\n"+string(text), "\n== ") {
			name, entries, _ := strings.Cut(section, "\n")
			if _, twice := out[name]; twice && name != "" {
				panic("lessons: two lists are called " + name)
			}
			out[name] = entries
		}
	}
	return out
}

// section returns the text of a section, which must exist.
func section(name string) string {
	text, ok := sections[name]
	if !ok {
		panic("lessons: there is no list called " + name)
	}
	return text
}

// embedded returns the entries of a list in a new slice.
func embedded(name string) []string { return lines(section(name)) }

// embeddedWords returns the words of a list in a new slice.
func embeddedWords(name string) []string { return words(section(name)) }
