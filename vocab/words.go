package vocab

// wordBPE drops whitespace and tokenizes the words between it, in lower case if the file says
// so. Text that must be exact is tokenized unchanged.
type wordBPE struct{ *bpe }

func (w *wordBPE) tokenize(dst []int32, text string, mode tokenizeMode) []int32 {
	if mode.exact {
		return w.bpe.tokenize(dst, text, mode)
	}
	classes := runeClasses()
	var word []byte
	finish := func() {
		if len(word) > 0 {
			dst = w.bpe.tokenize(dst, string(word), mode)
			word = word[:0]
		}
	}
	for len(text) > 0 {
		r, n := decodeLoose(text)
		text = text[n:]
		if classes[r].space() {
			finish()
			continue
		}
		if w.v.lowercase {
			r = toLower(r)
		}
		word = appendRune(word, r)
	}
	finish()
	return dst
}
