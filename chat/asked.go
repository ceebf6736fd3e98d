package chat

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Asked returns what a conversation asks for last: the last message of the user that isn't only assent; if there is none, what
// the user assents to. What the assistant said since, such as that a call had failed, makes a model find any tool irrelevant.
func Asked(list []Message) string {
	said := ""
	for i := len(list) - 1; i >= 0; i-- {
		text := strings.TrimSpace(list[i].Text())
		switch {
		case list[i].Role == "user" && !assents(text):
			return text
		case list[i].Role == "assistant" && said == "":
			said = text
		}
	}
	return cmp.Or(said, strings.TrimSpace(list[len(list)-1].Text()))
}

// assent has the words of messages that only agree to what was said before, or ask for it once more.
var assent = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`a about again ahead all and another away continue correct course do exactly fine for give go going good great
		how i it just know let like lets me more next no now of off ok okay on once one perfect please proceed redo repeat retry right run same
		shot so sounds start still sure that the then think this time to too try up very want wait well will with would yeah yep yes you
		noch einmal nochmal erneut weiter ja bitte genau gerne mach das versuch es encore une fois oui vas y continue recommence
		otra vez sí si claro vale por favor sigue intenta de nuevo sim claro ancora sì certo riprova va bene da ok да ещё раз давай 好 好的 是 是的 继续 再试一次 はい もう一度 네 다시`) {
		words[word] = true
	}
	return words
}()

// assents reports whether a message says nothing of its own.
func assents(text string) bool {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for _, word := range words {
		if !assent[word] {
			return false
		}
	}
	return true
}

// HasCalls reports whether a conversation has calls of tools.
func HasCalls(list []Message) bool {
	return slices.ContainsFunc(list, func(m Message) bool { return len(m.ToolCalls) > 0 })
}

// CallsMade returns the calls since the last message of the user that have been answered.
func CallsMade(list []Message) (made []ToolCall) {
	if len(list) == 0 || list[len(list)-1].Role != "tool" {
		return nil
	}
	for i := len(list) - 1; i >= 0 && list[i].Role != "user"; i-- {
		made = append(made, list[i].ToolCalls...)
	}
	return made
}

// Mention reports whether the messages contain all of the names, and there is at least one: as an instruction, in an example of an
// answer, or in a text, where they may be data. Nothing is shown then either, which costs less than showing too much does.
// firstName, first_name and "first name" are the same. Results of tools don't count.
func Mention(list []Message, names []string) bool {
	var b strings.Builder
	for i := range list {
		if list[i].Role == "tool" {
			continue
		}
		b.WriteString(lettersOf(list[i].Text()))
		b.WriteByte(' ')
	}
	text := b.String()
	for _, name := range names {
		if letters := lettersOf(name); letters == "" || !strings.Contains(text, letters) {
			return false
		}
	}
	return len(names) > 0
}

func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
