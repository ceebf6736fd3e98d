package vocab

import (
	"slices"
	"sync"
)

// preSpec is a pre-tokenizer and the settings that its name implies.
type preSpec struct {
	stages []splitter

	ignoreMerges bool // a word that is a token is not split
	addBOS       bool
	alwaysBOS    bool // regardless of the file
	addSEP       bool
	keepSpaces   bool // Detokenize keeps spaces before punctuation
	noBOS        bool // no default BOS token
	keepCase     bool // WordBPE does not convert to lower case unless the file says so

	plainText  bool // token texts are UTF-8, not byte-level, and byte tokens are "<0x0A>"
	markSpaces bool // spaces are written as in SentencePiece
	wholeLines bool // a run of line ends that is a token is not split
}

// splitter splits the code points from..to of a text into words: it appends the end of each.
// The words must cover everything, so the last end is to.
type splitter func(t *runeText, from, to int, ends []int32) []int32

// lookupPre returns the pre-tokenizer of that name, "default" if it is empty. A name unknown to
// llama.cpp is an error in both.
func lookupPre(name string) (preSpec, bool) {
	if name == "" {
		name = "default"
	}
	s, ok := preSpecs()[name]
	return s, ok
}

// preSpecs lists the pre-tokenizers by their names in GGUF files. Each is a sequence of stages,
// and each stage splits the words of the one before. The patterns are llama.cpp's, including
// its approximations of the models' own patterns.
var preSpecs = sync.OnceValue(func() map[string]preSpec {
	specs := map[string]preSpec{}
	add := func(s preSpec, names ...string) {
		for _, n := range names {
			specs[n] = s
		}
	}

	var (
		blanks     = seq(many(setSpace)).unlessWord()
		anyBlanks  = seq(many(setSpace))
		lines      = seq(star(setSpace), many(setLineEnd))
		notLN      = setLetter.with(setNumber).with(setLineEnd).inverse()
		others     = setSpace.with(setLetter).with(setNumber).inverse()
		word       = seq(opt(notLN), many(setLetter))
		marked     = setLetter.with(setMark)
		markedWord = seq(opt(notLN), many(marked)).withShort()
		symbols    = seq(opt(setBlank), many(others), star(setLineEnd))
		symbolsDir = seq(opt(setBlank), many(others), star(setLineEnd.with(chars("/"))))
		upper      = setLetter.without(ranges("a-z"))
		lower      = setLetter.without(ranges("A-Z"))
		mixedWord  = seq(opt(notLN), star(upper), many(lower))
		capsWord   = seq(opt(notLN), many(upper), star(lower))
		digit      = search(seq(one(setNumber)))
		digits3    = search(seq(upTo(3, setNumber)))
		llama3     = splitWords(wordRules{short: true, digits: 3})
		qwen2      = splitWords(wordRules{short: true, digits: 1})
		gpt4o      = search(mixedWord.withShort(), capsWord.withShort(), seq(upTo(3, setNumber)), symbolsDir, lines, blanks, anyBlanks)
		notPS      = setLineEnd.with(setLetter).with(setPunctuation).with(setSymbol).inverse()
		marks      = setPunctuation.with(setSymbol)
		codeWord   = seq(one(asciiPunctuation), many(ranges("A-Za-z")))
		textWord   = seq(opt(notPS), many(marked))
		deepseek3  = search(codeWord, textWord, seq(opt(setBlank), many(marks), star(setLineEnd)), lines, blanks, anyBlanks)
		sentence   = search(seq(opt(setBlank), many(wide("\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c").with(setSpace).with(chars("(|.,!?)")).inverse())))
		han        = search(seq(many(wide("\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff"))))
		kana       = search(seq(many(wide("\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff"))))
		lineEnds   = search(seq(one(setLineEnd)))
		triple     = search(seq(one(ranges("0-9")), one(ranges("0-9")), one(ranges("0-9"))))
		numbers    = search(seq(many(setNumber)))
	)

	add(preSpec{stages: []splitter{
		search(seq(many(setPunctuation.with(chars("$+<=>^~|"))))), splitGPT2, numbers, triple,
	}}, "default")
	add(preSpec{stages: []splitter{llama3}, ignoreMerges: true, addBOS: true},
		"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "jina-v5-nano")
	add(preSpec{stages: []splitter{digits3, llama3}, ignoreMerges: true}, "minicpm5")
	add(preSpec{stages: []splitter{splitWords(wordRules{short: true, digits: 3, halves: true})}}, "jais-2")
	add(preSpec{stages: []splitter{
		lineEnds, search(seq(opt(setSpace), many(wide(casedLetters).with(ranges("A-Za-z"))))),
		search(seq(opt(setSpace), many(wide("\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002").with(ranges("!-/:-~"))))),
		splitTrailingSpace, han, numbers,
	}, keepSpaces: true}, "deepseek-llm")
	add(preSpec{stages: []splitter{
		lineEnds, search(seq(opt(setSpace), many(setLetter))), search(seq(opt(setSpace), many(setPunctuation))), han, digit,
	}, keepSpaces: true}, "deepseek-coder")
	add(preSpec{stages: []splitter{digits3, kana, deepseek3}, keepSpaces: true},
		"deepseek-v3", "hunyuan-dense", "hy_v4", "joyai-llm")
	add(preSpec{stages: []splitter{
		digits3, kana,
		search(codeWord, textWord, seq(opt(setBlank), many(marks)), seq(one(setLineEnd)), blanks, anyBlanks),
		digit,
	}, keepSpaces: true}, "spark2_5")
	add(preSpec{stages: []splitter{search(seq(many(setPunctuation.with(chars("$+<=>^~|`"))))), splitGPT2, triple}}, "falcon")

	digitsFirst := []splitter{digit, splitGPT2}
	add(preSpec{stages: digitsFirst}, "starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2")
	add(preSpec{stages: digitsFirst, keepSpaces: true}, "command-r", "smollm")
	plain := []splitter{splitGPT2}
	add(preSpec{stages: plain}, "gpt-2", "phi-2", "jina-es", "jina-de", "gigachat", "jina-v2-es", "jina-v2-de", "a.x-4.0",
		"mellum", "mpt", "olmo", "jais", "exaone4", "modern-bert")
	add(preSpec{stages: plain, addSEP: true}, "jina-v1-en", "jina-v2-code", "roberta-bpe")
	add(preSpec{stages: plain, keepSpaces: true}, "trillion", "granite-docling")
	add(preSpec{stages: []splitter{qwen2}}, "stablelm2", "megrez")
	add(preSpec{stages: []splitter{qwen2}, keepSpaces: true},
		"qwen2", "deepseek-r1-qwen", "kormo", "hunyuan", "grok-2", "f2llmv2", "solar-open")
	add(preSpec{stages: []splitter{splitWords(wordRules{short: true, marks: true, digits: 1})}, keepSpaces: true}, "qwen35")
	add(preSpec{stages: []splitter{splitWords(wordRules{digits: 1})}, keepSpaces: true}, "ufakzeka")
	add(preSpec{stages: []splitter{splitNewlines, qwen2}, keepSpaces: true}, "laguna")
	add(preSpec{stages: []splitter{llama3}}, "dbrx", "smaug-bpe")
	add(preSpec{stages: []splitter{llama3}, noBOS: true}, "glm4", "chatglm-bpe")
	add(preSpec{stages: []splitter{splitPhrases}}, "exaone-moe")
	add(preSpec{stages: []splitter{sentence}, keepSpaces: true}, "poro-chat")
	add(preSpec{stages: []splitter{sentence}}, "bloom", "gpt3-finnish")
	add(preSpec{stages: []splitter{sentence, digit}, keepSpaces: true}, "viking")
	add(preSpec{stages: []splitter{
		search(mixedWord, capsWord, seq(one(setNumber)), symbolsDir, lines, blanks, anyBlanks),
	}, ignoreMerges: true, addBOS: true, keepSpaces: true}, "tekken")
	add(preSpec{stages: []splitter{
		search(text("<sentinel:").then(many(ranges("0-9")), one(chars(">")))),
		search(text("IMGIMG").then(upTo(4, ranges("A-I")), one(chars("Z")))),
		search(seq(one(chars("\t\n"))), text("    "), text("  ")),
		digit, search(seq(one(setPunctuation.with(asciiPunctuation)))), splitGPT2,
	}, addBOS: true, keepSpaces: true}, "chameleon")
	add(preSpec{stages: []splitter{gpt4o}, keepSpaces: true}, "gpt-4o", "llama4", "minimax-m2", "kanana2", "talkie")
	upperMarked, lowerMarked := marked.without(ranges("a-z")), marked.without(ranges("A-Z"))
	add(preSpec{stages: []splitter{search(
		seq(opt(notLN), star(upperMarked), many(lowerMarked)).withShort(),
		seq(opt(notLN), many(upperMarked), star(lowerMarked)).withShort(),
		seq(upTo(3, setNumber)), symbolsDir, lines, blanks, anyBlanks,
	)}, ignoreMerges: true, keepSpaces: true}, "granite-embed-multi-97m")
	add(preSpec{stages: []splitter{
		splitDigitGroups, search(markedWord, seq(upTo(3, setNumber)), symbolsDir, lines, blanks, anyBlanks),
	}, keepSpaces: true}, "tiny_aya", "cohere2moe")
	add(preSpec{stages: []splitter{
		search(
			seq(many(wide("\uac00-\ud7a3\u3131-\u318e"))),
			seq(many(wide("\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f"))),
			seq(many(wide("\u3105-\u312f"))),
			seq(many(wide("\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff")))),
		search(markedWord, seq(one(setNumber)), symbolsDir, lines, blanks, anyBlanks),
	}, ignoreMerges: true, keepSpaces: true}, "youtu")
	add(preSpec{stages: []splitter{numbers, splitThousands}, keepSpaces: true}, "superbpe")
	add(preSpec{stages: []splitter{
		search(shortWord, word, seq(one(setNumber)), symbols, seq(star(setSpace), one(setLineEnd)), blanks, anyBlanks),
	}, keepSpaces: true}, "bailingmoe", "bailingmoe2", "llada-moe")
	add(preSpec{stages: []splitter{
		search(shortWord, word, seq(one(setNumber)), seq(opt(setBlank), many(others.without(setLineEnd))), lines, blanks, anyBlanks),
	}, keepSpaces: true}, "seed-coder")
	add(preSpec{stages: []splitter{splitKimi}, keepSpaces: true}, "kimi-k2")
	add(preSpec{stages: []splitter{
		splitDigitGroups,
		// The third range begins at U+8C48 as in llama.cpp; the model's own pattern has U+F900.
		search(seq(many(wide("\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf" +
			"\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff")))),
		deepseek3,
	}, keepSpaces: true}, "afmoe")

	lineByLine := []splitter{splitNewlines}
	add(preSpec{stages: lineByLine, plainText: true, markSpaces: true, wholeLines: true, alwaysBOS: true},
		"gemma4", "granite-embed-multi-311m")
	add(preSpec{stages: lineByLine, plainText: true, markSpaces: true, keepSpaces: true}, "sarvam-moe")
	add(preSpec{stages: []splitter{search(seq(many(setSpace.inverse())))}, plainText: true, keepCase: true}, "whitespace")
	return specs
})

// casedLetters are the letters that deepseek-llm treats separately: those with upper and lower
// case forms, by ranges.
const casedLetters = "µÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚ" +
	"Ḁ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄ" +
	"Ⰰ-\u2c7bⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"

// Patterns match codes instead of code points: ASCII is itself, other whitespace is a vertical
// tab, and everything else is one of six codes by category. A set of characters is then a set
// of codes.
const (
	codeOther = 128 + iota
	codeNumber
	codeLetter
	codePunctuation
	codeMark
	codeSymbol
	codeCount
)

func runeCode(r rune, c rclass) uint8 {
	switch {
	case r < 0x80:
		return uint8(r)
	case c.space():
		return '\v'
	}
	switch c & clsCategory {
	case clsNumber:
		return codeNumber
	case clsLetter:
		return codeLetter
	case clsPunctuation:
		return codePunctuation
	case clsMark:
		return codeMark
	case clsSymbol:
		return codeSymbol
	}
	return codeOther
}

// charSet is a set of characters, given by codes; wide distinguishes characters beyond ASCII
// that have the same code.
type charSet struct {
	codes  [codeCount]bool
	wide   []rune // first and last of each range, in order; nil: use codes alone
	except bool   // of the characters beyond ASCII, all except wide
}

var (
	setSpace         = chars(" \t\n\v\f\r")
	setBlank         = chars(" ")
	setLineEnd       = chars("\r\n")
	setLetter        = ranges("A-Za-z").withCode(codeLetter)
	setNumber        = ranges("0-9").withCode(codeNumber)
	setPunctuation   = chars("!\"#%&'()*,-./:;?@[\\]_{}").withCode(codePunctuation)
	setSymbol        = chars("$+<=>^`|~").withCode(codeSymbol)
	setMark          = charSet{}.withCode(codeMark)
	asciiPunctuation = ranges("!-/:-@[-`{-~")
)

func chars(s string) charSet {
	var c charSet
	for _, r := range s {
		c.codes[r] = true
	}
	return c
}

// parseRanges parses "a-zµ" as the ranges a to z and µ to µ.
func parseRanges(s string) (out []rune) {
	list := []rune(s)
	for i := 0; i < len(list); i++ {
		lo, hi := list[i], list[i]
		if i+2 < len(list) && list[i+1] == '-' {
			hi = list[i+2]
			i += 2
		}
		out = append(out, lo, hi)
	}
	return out
}

// ranges returns a set of ASCII characters.
func ranges(s string) charSet {
	var c charSet
	list := parseRanges(s)
	for i := 0; i < len(list); i += 2 {
		for r := list[i]; r <= list[i+1]; r++ {
			c.codes[r] = true
		}
	}
	return c
}

// wide returns a set of characters beyond ASCII.
func wide(s string) charSet { return charSet{wide: parseRanges(s)} }

func (c charSet) withCode(code int) charSet {
	c.codes[code] = true
	return c
}

func (c charSet) with(o charSet) charSet {
	for i, in := range o.codes {
		c.codes[i] = c.codes[i] || in
	}
	c.wide = append(slices.Clip(c.wide), o.wide...)
	return c
}

func (c charSet) without(o charSet) charSet {
	for i, in := range o.codes {
		c.codes[i] = c.codes[i] && !in
	}
	return c
}

func (c charSet) inverse() charSet {
	for i := range c.codes {
		c.codes[i] = !c.codes[i]
	}
	c.except = !c.except
	return c
}

func (c *charSet) has(t *runeText, i int) bool {
	code := t.codes[i]
	if code < 0x80 || c.wide == nil {
		return c.codes[code]
	}
	r := t.runes[i]
	for k := 0; k < len(c.wide); k += 2 {
		if c.wide[k] <= r && r <= c.wide[k+1] {
			return !c.except
		}
	}
	return c.except
}

// pattern matches a sequence of repeated sets, each greedily with backtracking. It returns the
// end of the match, or -1.
type pattern struct {
	items []repeat
	tail  patternTail
}

type repeat struct {
	set      charSet
	min, max int // max < 0: unlimited
}

type patternTail uint8

const (
	tailNone       patternTail = iota
	tailUnlessWord             // fails before a non-whitespace character
	tailShort                  // also matches a contraction, if there is one
	tailOnlyShort              // matches only a contraction
)

func one(s charSet) repeat         { return repeat{s, 1, 1} }
func opt(s charSet) repeat         { return repeat{s, 0, 1} }
func star(s charSet) repeat        { return repeat{s, 0, -1} }
func many(s charSet) repeat        { return repeat{s, 1, -1} }
func upTo(n int, s charSet) repeat { return repeat{s, 1, n} }

func seq(items ...repeat) pattern { return pattern{items: items} }

// text matches s.
func text(s string) pattern {
	var p pattern
	for _, r := range s {
		p.items = append(p.items, one(chars(string(r))))
	}
	return p
}

func (p pattern) then(items ...repeat) pattern {
	p.items = append(slices.Clip(p.items), items...)
	return p
}

func (p pattern) unlessWord() pattern { p.tail = tailUnlessWord; return p }
func (p pattern) withShort() pattern  { p.tail = tailShort; return p }

// shortWord matches 's, 't, 're, 've, 'm, 'll, 'd in any case.
var shortWord = pattern{tail: tailOnlyShort}

func (p *pattern) match(t *runeText, pos, to int) int { return p.rest(0, t, pos, to) }

func (p *pattern) rest(item int, t *runeText, pos, to int) int {
	if item == len(p.items) {
		switch p.tail {
		case tailUnlessWord:
			if pos < to && !setSpace.has(t, pos) {
				return -1
			}
		case tailShort:
			return pos + t.contraction(pos, to, true)
		case tailOnlyShort:
			n := t.contraction(pos, to, true)
			if n == 0 {
				return -1
			}
			return pos + n
		}
		return pos
	}
	r := &p.items[item]
	n := 0
	for pos+n < to && (r.max < 0 || n < r.max) && r.set.has(t, pos+n) {
		n++
	}
	for ; n >= r.min; n-- {
		if end := p.rest(item+1, t, pos+n, to); end >= 0 {
			return end
		}
	}
	return -1
}

// search returns a splitter that splits off the matches of the patterns and leaves the text
// between them whole. The first pattern that matches at a position wins.
func search(patterns ...pattern) splitter {
	return func(t *runeText, from, to int, ends []int32) []int32 {
		cut := from // everything before is split
		for pos := from; pos < to; {
			end := -1
			for i := range patterns {
				if end = patterns[i].match(t, pos, to); end >= 0 {
					break
				}
			}
			if end <= pos {
				pos++
				continue
			}
			if pos > cut {
				ends = append(ends, int32(pos))
			}
			ends = append(ends, int32(end))
			cut, pos = end, end
		}
		if cut < to {
			ends = append(ends, int32(to))
		}
		return ends
	}
}
