// Package files provides read-only file tools for models: read_file, glob_files,
// grep_files and list_dir.
//
// # Access
//
// A [Box] is confined to one folder by [os.Root]: "..", absolute paths, links, and files
// replaced while they are being opened cannot lead out of it. In addition:
//
//   - Links are followed if they stay in the folder. Links with an absolute target are
//     not followed, even if the target is in the folder. Searches do not enter folders
//     that are links, so they visit everything once and cannot loop.
//   - Only regular files are opened: devices, pipes and sockets are refused without
//     being opened, and one that replaces a file at the last moment does not block.
//   - Hidden names, which begin with a dot, do not exist for the tools, nor does
//     anything below them or any link to them, unless [Options] allows it: these are
//     where secrets and version control data are kept. Results say that something was
//     omitted, but not what.
//   - Files that are not text are refused, and skipped by searches.
//
// A Box cannot detect file systems mounted in the folder, nor hard links to files
// elsewhere. Both are accessible.
//
// # Results
//
// Results are UTF-8 text for a model. Errors are returned as text too: they begin with
// "error: " and suggest what to do instead. The work of each call is limited by
// [Options]; the last lines of an incomplete result, in square brackets, say so and how
// to get the rest. Names that contain control characters or are not UTF-8 are quoted as
// in Go.
package files
