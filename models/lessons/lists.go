package lessons

import (
	"embed"
	"strings"
)

//go:embed lists/*.txt
var listFiles embed.FS

// sections holds the texts of lists/*.txt by the names that stand above them: a
// line "== name", then one entry a line.
var sections = readSections()

func readSections() map[string]string {
	out := map[string]string{}
	files, err := listFiles.ReadDir("lists")
	if err != nil {
		panic(err) // what is embedded can be read
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

// section returns the text below a name, which must be there.
func section(name string) string {
	text, ok := sections[name]
	if !ok {
		panic("lessons: there is no list called " + name)
	}
	return text
}

// embedded returns the entries of a list, which are the caller's.
func embedded(name string) []string { return lines(section(name)) }

// embeddedWords returns the words of a list, which are the caller's.
func embeddedWords(name string) []string { return words(section(name)) }
