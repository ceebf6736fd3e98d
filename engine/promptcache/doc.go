// Package promptcache stores the computed states of prompts in a folder, so that
// a prompt need not be prefilled again after a restart.
//
// # Files
//
// A file holds the state of one prefix of a prompt. Its name identifies the
// prefix, so that a listing of the folder is the index:
//
//	MODEL-HASH-TOKENS.prompt    16 and 16 hexadecimal digits, a decimal number
//
// MODEL stands for everything that states depend on, HASH for the tokens. The
// hash is chained: that of n tokens follows from that of n-1, so one pass over a
// prompt finds every prefix of it. Names only locate files. The contents of a
// file are used if its checksum, its model and each of its tokens are right:
//
//	0   8   "stprmpt1"
//	8   32  SHA-256 of the key passed to Store.Shelf
//	40  4   number of tokens
//	44  4   CRC-32C of all the bytes before and after this one
//	48  8   length of the state
//	56      the tokens, four bytes each, and the state
//
// Numbers are little-endian. A file that violates this format is deleted. Files
// with other names are left alone.
//
// # Several processes
//
// Any number of processes may share a folder. Files are created by renaming and
// never change; their modification time is when they were last used. A process
// that writes a file deletes the least recently used ones until the folder is
// within its limit. A file that vanishes before it is read is treated as
// missing.
//
// The folder is created with permissions for its owner alone, since the files
// contain what users wrote.
package promptcache
