// Package promptcache keeps what models have computed of prompts in a folder,
// so that a prompt that has been read once is not read again after a restart.
//
// # Files
//
// A file holds the state of one prefix: all that a model remembers after so many
// tokens. Its name says which one, so that a listing of the folder is the index:
//
//	MODEL-HASH-TOKENS.prompt    16 and 16 hexadecimal digits, a decimal number
//
// MODEL stands for whatever states depend on, HASH for the tokens. The hash is
// chained: that of n tokens follows from that of n-1, so one pass over a prompt
// finds every prefix of it. Names only find files. What is in a file is
// believed if its checksum, its model and each of its tokens are right:
//
//	0   8   "stprmpt1"
//	8   32  SHA-256 of what Store.Shelf was given
//	40  4   number of tokens
//	44  4   CRC-32C of all the bytes before and after this one
//	48  8   length of the state
//	56      the tokens, four bytes each, and the state
//
// Numbers are little-endian. A file that breaks any of this is deleted. Files
// that are not named like this are somebody else's and left alone.
//
// # Several processes
//
// Any number of processes may share a folder. Files appear whole, by renaming,
// and never change; when they were last used is their modification time. Whoever
// writes one deletes the least recently used until the folder is within its
// bound. A file that has vanished before it is read is a prefix that was not
// there.
//
// The folder is made for its owner alone, since the files hold what people
// wrote.
package promptcache
