package vocab

import "slices"

// Detokenize returns the text of the tokens as llama_detokenize does. The text is meant for
// display and loses information: SentencePiece's leading space is removed, and, in many BPE
// vocabularies, spaces before punctuation. With removeSpecial, a leading BOS and a final EOS
// token are removed; with showSpecial, control tokens are shown. Decode is exact.
func (v *Vocab) Detokenize(ids []int32, removeSpecial, showSpecial bool) string {
	strip := v.addSpacePrefix
	if removeSpecial && v.addBOS && len(ids) > 0 && ids[0] == v.special.bos {
		strip = false
		ids = ids[1:]
	}
	if removeSpecial && v.addEOS && len(ids) > 0 && ids[len(ids)-1] == v.special.eos {
		ids = ids[:len(ids)-1]
	}
	var out []byte
	for _, id := range ids {
		at := len(out)
		if kind := v.Kind(id); showSpecial && (kind == Control || kind == Unknown) {
			out = append(out, v.Piece(id)...)
		} else {
			out = append(out, v.Bytes(id)...)
		}
		if strip && at < len(out) && out[at] == ' ' {
			out = slices.Delete(out, at, at+1)
		}
		strip = false
	}
	if v.cleanSpaces {
		out = cleanSpaces(out)
	}
	return string(out)
}

// cleanSpaces removes spaces before ".", ",", "?" and "!", around a lone apostrophe, and before
// 's, 'm, 're and 've, in three passes.
func cleanSpaces(text []byte) []byte {
	text = dropSpaces(text, func(rest []byte) (before, after bool) {
		switch rest[0] {
		case '?', '!', '.', ',':
			return true, false
		}
		return false, false
	})
	text = dropSpaces(text, func(rest []byte) (before, after bool) {
		lone := rest[0] == '\'' && len(rest) > 1 && rest[1] == ' '
		return lone, lone
	})
	return dropSpaces(text, func(rest []byte) (before, after bool) {
		if rest[0] != '\'' || len(rest) < 2 {
			return false, false
		}
		switch rest[1] {
		case 's', 'm':
			return true, false
		case 'r', 'v':
			return len(rest) > 2 && rest[2] == 'e', false
		}
		return false, false
	})
}

// dropSpaces removes spaces. Given the text after a space, drop reports whether to remove the
// space, and whether to remove the character after the first one too.
func dropSpaces(text []byte, drop func(rest []byte) (before, after bool)) []byte {
	if len(text) == 0 {
		return text
	}
	out := append(make([]byte, 0, len(text)), text[0])
	spaceKept := text[0] == ' '
	for i := 1; i < len(text); i++ {
		before, after := false, false
		if spaceKept {
			before, after = drop(text[i:])
		}
		if before {
			out = out[:len(out)-1]
		}
		out = append(out, text[i])
		spaceKept = text[i] == ' '
		if after {
			i++
			spaceKept = false
		}
	}
	return out
}
