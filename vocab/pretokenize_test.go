package vocab

import (
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"
)

// preWords returns the words of a text according to a pre-tokenizer.
func preWords(name, text string) []string {
	var t runeText
	t.set(text, false)
	ends := []int32{int32(t.len())}
	for _, split := range preSpecs()[name].stages {
		var next []int32
		from := 0
		for _, end := range ends {
			next = split(&t, from, int(end), next)
			from = int(end)
		}
		ends = next
	}
	var words []string
	from := 0
	for _, end := range ends {
		if int(end) > from {
			words = append(words, t.bytes(from, int(end)))
		}
		from = int(end)
	}
	return words
}

func TestPreTokenizers(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"gpt-2", "I'll  say: don'T\n\n 12345 x", "I|'ll| | say|:| don|'|T|\n\n| 12345| x"},
		{"llama-bpe", "I'LL  say: don'T!\n\n \n12345 (x", "I|'LL| | say|:| don|'T|!\n\n| \n|123|45| (|x"},
		{"qwen2", "It's 12, ok?\r\n\n\tend ", "It|'s| |1|2|,| ok|?\r\n\n|\tend| "},
		{"gpt-4o", "camelCase HTTPServer don't X/Y//\nÉlan", "camel|Case| HTTPServer| don't| X|/Y|//\n|Élan"},
		{"tekken", "camelCase 12 don't//\n", "camel|Case| |1|2| don|'t|//\n"},
		{"default", "a,b $5.00 1234 c", "a|,|b| |$|5|.|00| |123|4| c"},
		{"falcon", "a`b 1234567", "a|`|b| |123|456|7"},
		{"starcoder", "x12 y", "x|1|2| y"},
		{"deepseek-llm", "The Жук, 12 文字！x  ", "The| Жук|,| |12| |文字|！|x|  "},
		{"deepseek-coder", "the cat, 12 文字x", "the| cat|,| |1|2| |文字|x"},
		{"deepseek-v3", "1234 .text  ひら文 ~x", "123|4| .|text|  |ひら文| ~|x"},
		{"bloom", "Hello, (big) world…x", "Hello|, (|big|)| world|…|x"},
		{"viking", "Hello, 12 x", "Hello|,| |1|2| x"},
		{"chameleon", "IMGIMGABZ\t    12 a!", "IMGIMGABZ|\t|    |1|2| a|!"},
		{"superbpe", "a1234567b 12", "a|1|234|567|b |12"},
		{"seed-coder", "a !!\n\nb1", "a| !!|\n\n|b|1"},
		{"kimi-k2", "文字kana's x1234", "文字|kana's| x|123|4"},
		{"afmoe", "ab12345 文字ก x", "ab|12|345| |文字|ก| x"},
		{"bailingmoe", "a \n\n b", "a| \n\n| b"},
		{"gpt-2", "  a", " | a"},
		{"gpt-2", "a  ", "a|  "},
		{"llama-bpe", "\u00a0\u2028x", "\u00a0|\u2028x"},
		{"llama-bpe", "e\u0301te", "e|\u0301te"},
		{"superbpe", "12 1234", "12| |1|234"},
		{"afmoe", "1 123 1234", "1| |123| |1|234"},
		{"qwen35", "It's कि\u0301 12 ?!\r\n\u0301x", "It|'s| कि\u0301| |1|2| ?!\r\n|\u0301x"},
		{"ufakzeka", "Ankara'da 12", "Ankara|'da| |1|2"},
		{"laguna", "a\n\n \n b 1", "a|\n\n| |\n| b| |1"},
		{"minicpm5", "a  1234x'S", "a|  |123|4|x|'S"},
		{"jais-2", "a" + strings.Repeat(" ", 600) + "b", "a|" + strings.Repeat(" ", 512) + "|" + strings.Repeat(" ", 64) +
			"|" + strings.Repeat(" ", 16) + "|" + strings.Repeat(" ", 4) + "|  |" + " | b"},
		{"jais-2", "a" + strings.Repeat(" ", 11) + "b", "a|" + strings.Repeat(" ", 8) + "|  | b"},
		{"jais-2", "a       \n   ", "a|       \n|  | "},
		{"exaone-moe", "so it is, don't 12 a/\n\nb\u0301 c  d", "so it is|,| don|'t| |1|2| a|/\n|\n|b\u0301 c| | d"},
		{"spark2_5", "a \n\n b!\n12345 .c", "a| \n\n| b|!|\n|1|2|3|4|5| .|c"},
		{"youtu", "한국어ㄱkana「文！」12 don't A/\n", "한국어ㄱ|kana|「|文|！」|1|2| don't| A|/\n"},
		{"youtu", "aㄱㆎ\u3130b︰﹏\ufe50c〿ㄅㄯ\u3104d", "a|ㄱㆎ|\u3130b|︰﹏|\ufe50c|〿|ㄅㄯ|\u3104d"},
		{"granite-embed-multi-97m", "camelCase किताब 1234 X's//\n", "camel|Case| किताब| |123|4| X's|//\n"},
		{"tiny_aya", "camelCase किताब 12345 X's", "camelCase| किताब| |12|345| X's"},
		{"gemma4", "a  b\n\n c\r\n", "a  b|\n\n| c\r|\n"},
		{"whitespace", "a  b\u00a0文", "a|  |b|\u00a0|文"},
	} {
		if got := preWords(c.name, c.text); strings.Join(got, "|") != c.want {
			t.Errorf("%s cuts %q into %q, want %q", c.name, c.text, got, strings.Split(c.want, "|"))
		}
	}
}

// TestPreTokenizersKeepText checks that the words concatenate to the text.
func TestPreTokenizersKeepText(t *testing.T) {
	texts := []string{"", " ", "\n", "a", "\u00a0", "🇩🇪👍🏽", "x\x00y", "IMGIMGZ<sentinel:>'", strings.Repeat(" '1a文\n", 20)}
	for name := range preSpecs() {
		for _, text := range texts {
			if got := strings.Join(preWords(name, text), ""); got != text {
				t.Errorf("%s makes %q of %q", name, got, text)
			}
		}
	}
}

// TestPreTokenizersAreLinear runs every splitter on texts with which naive patterns would
// backtrack quadratically.
func TestPreTokenizersAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size = 60_000
	for _, name := range []string{"default", "llama-bpe", "deepseek-llm", "deepseek-coder", "deepseek-v3", "qwen2", "gpt-4o", "tekken",
		"bloom", "chameleon", "superbpe", "bailingmoe", "kimi-k2", "afmoe", "qwen35", "jais-2", "exaone-moe", "spark2_5", "youtu",
		"granite-embed-multi-97m", "tiny_aya", "laguna", "gemma4", "whitespace"} {
		for _, part := range []string{"a", "A", " ", "\n", "1", "!", "文", "ǅ", " \n", "a ", "IMGIMG"} {
			begin := time.Now()
			words := preWords(name, strings.Repeat(part, size/len(part))+"x")
			// With quadratic time, this would take ten seconds or more.
			if took := time.Since(begin); took > 2*time.Second {
				t.Errorf("%s takes %v for %d × %q, %d words", name, took, size/len(part), part, len(words))
			}
		}
	}
}

// TestRuneClasses detects changes of Go's Unicode tables: pre-tokenizers must keep the classes
// of Unicode 15.1, with which the models' tokens were checked.
func TestRuneClasses(t *testing.T) {
	h := fnv.New64a()
	for _, c := range runeClasses() {
		h.Write([]byte{byte(c)})
	}
	if got := h.Sum64(); got != 0xaa93bc92a732bdce {
		t.Errorf("classes of code points have changed (%x)", got)
	}
}

func TestDecodeLoose(t *testing.T) {
	for _, c := range []struct {
		text string
		want []rune
		repr string
	}{
		{"aé文😀", []rune("aé文😀"), "aé文😀"},
		{"\xc0\x80", []rune{0}, "\x00"},                                                          // overlong
		{"\xed\xa0\x80", []rune{0xd800}, "\xed\xa0\x80"},                                         // a surrogate
		{"\xe2\x82x", []rune{0xfffd, 0xfffd, 'x'}, "\ufffd\ufffdx"},                              // truncated
		{"\xf4\x90\x80\x80", []rune{0xfffd, 0xfffd, 0xfffd, 0xfffd}, "\ufffd\ufffd\ufffd\ufffd"}, // beyond Unicode
	} {
		var text runeText
		text.set(c.text, false)
		if !slices.Equal(text.runes, c.want) || text.src != c.repr {
			t.Errorf("%q is read as %q in %q, want %q in %q", c.text, text.runes, text.src, c.want, c.repr)
		}
		text.set(c.text, true)
		if text.src != c.text {
			t.Errorf("%q is not kept: %q", c.text, text.src)
		}
	}
}
