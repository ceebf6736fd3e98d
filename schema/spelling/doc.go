// Package spelling writes and reads the characters of JSON strings byte by byte,
// as UTF-8 and as escapes: which bytes may follow in the middle of a character,
// and which character they lead to.
//
// A [Text] determines which characters may come next; [String] is the text of a
// regular language. Between characters, the next byte is ASCII, a backslash, or
// a byte that [HighEdge] handles. In the middle of a character, a number, sub,
// encodes the part that has been read, and [Edges] records the bytes that may
// follow:
//
//	é   0xC3 → sub UTF-8, 1 byte to come, bits 00011 → 0xA9 → é
//	é   \ → AfterBackslash → u → 4 digits to come → 0 → 0 → e → 9 → é
//	😀  \ud83d → after a high surrogate, which → \ → u → d → e → 0 → 0 → 😀
package spelling
