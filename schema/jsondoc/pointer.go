package jsondoc

import "strings"

var (
	pointerEscape   = strings.NewReplacer("~", "~0", "/", "~1")
	pointerUnescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// EscapePointer returns a key as a part of a JSON pointer (RFC 6901).
func EscapePointer(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return pointerEscape.Replace(key)
}

// UnescapePointer returns the key that a part of a JSON pointer stands for.
func UnescapePointer(part string) string {
	if strings.IndexByte(part, '~') < 0 {
		return part
	}
	return pointerUnescape.Replace(part)
}
