package vocab

// unescapeRWKV appends the bytes that an RWKV token's text stands for. The text has escapes \t, \n,
// \r, \x00 and a backslash before any other character that stands for itself.
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
				return dst // cut off: llama.cpp drops it
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
