// Package files has tools with which a model looks at files: read_file,
// glob_files, grep_files and list_dir. They read, and never write.
//
// # What they reach
//
// A [Box] is confined to one folder by [os.Root], so that neither "..", nor
// absolute paths, nor links, nor files that are exchanged while they are being
// opened lead out of it. On top of that:
//
//   - Links are followed as far as they stay in the folder. Those with an
//     absolute target are not, even if that lies in the folder. Searches do not
//     go into folders that are links, so they come by everything once and cannot
//     go round in circles.
//   - Only regular files are opened: devices, pipes and sockets are refused
//     without touching them, and one that takes a file's place in the last moment
//     does not block.
//   - What is hidden, a name that begins with a dot, does not exist for the
//     tools, nor does what is below it or what a link to it names, unless
//     [Options] says otherwise: secrets and the insides of version control lie
//     there. Results say that something was left out, not what.
//   - Files that are not text are refused, and skipped by searches.
//
// What a Box cannot tell apart: another file system that is mounted in the folder,
// and hard links to files elsewhere. Whoever makes those opens the folder to
// them.
//
// # Results
//
// Results are UTF-8 text for a model. What went wrong comes back as a text too,
// beginning with "error: ", with what to do instead. Every call's work is bounded
// by [Options]; a result that is not all there is says so in its last lines, in
// square brackets, and how to get the rest. Names that hold control characters
// or are not UTF-8 are quoted as in Go.
package files
