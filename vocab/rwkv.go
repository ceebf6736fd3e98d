package vocab

// unescapeRWKV appends the bytes that an RWKV token's text represents. The text has the escapes
// \t, \n, \r and \x00; a backslash before any other character is that character.
func unescapeRWKV(dst []byte, text string) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			dst = append(dst, text[i])
			continue
		}
		if i++; i == len(text) {
			break
		}
		switch c := text[i]; c {
		case 't':
			dst = append(dst, '\t')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 'x':
			if i+2 >= len(text) {
				return dst // incomplete: llama.cpp drops it
			}
			dst = append(dst, hexDigit(text[i+1])<<4+hexDigit(text[i+2]))
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func hexDigit(c byte) byte {
	if c >= 'a' {
		return c - 'a' + 10
	}
	return c - '0'
}

// rwkv repeatedly takes the longest token that is a prefix of the text.
type rwkv struct {
	v    *Vocab
	trie byteTrie
}

func newRWKV(v *Vocab) *rwkv {
	r := &rwkv{v: v}
	var buf []byte
	for id := range int32(v.Len()) {
		buf = unescapeRWKV(buf[:0], v.Text(id))
		r.trie.insert(string(buf), id)
	}
	return r
}

// tokenize differs from llama.cpp if the text has bytes that are the start of a token but not a
// token: it outputs the unknown token for one byte, while llama.cpp restarts from the text's
// start.
func (r *rwkv) tokenize(dst []int32, text string, _ tokenizeMode) []int32 {
	for pos := 0; pos < len(text); {
		id, n := r.trie.longest(text[pos:])
		if n == 0 {
			id, n = r.v.special.unk, 1
		}
		if id >= 0 {
			dst = append(dst, id)
		}
		pos += n
	}
	return dst
}
