package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Limits on paths.
const (
	maxPath  = 4096 // bytes, as in Linux
	maxParts = 512  // of a path with its links expanded: each needs a look-up from the root
	maxLinks = 40   // as in Linux
)

// hidden reports whether a name is hidden.
func hidden(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." && name != ".."
}

// resolve returns the path in the folder that name leads to, without links.
//
// os.Root, not resolve, confines access to the folder: all files are opened through
// it afterwards. resolve does what os.Root can't: it hides hidden names and returns
// errors that explain what is wrong.
func (b *Box) resolve(name string) (string, error) {
	outside := fmt.Errorf("%s leads out of the folder, and nothing outside can be reached; give a path that stays within it", quote(name))
	if len(name) > maxPath {
		return "", errors.New("the path is too long; give the path of a file within the folder")
	}
	if strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%s is not a path: it has a zero byte", quote(name))
	}
	if absolute(name) {
		return "", fmt.Errorf("%s is an absolute path; give the path within the folder, without a slash at the beginning", quote(name))
	}
	var done []string
	links := 0
	todo := parts(name)
	for n := 0; len(todo) > 0; n++ {
		if n == maxParts {
			return "", fmt.Errorf("%s has too many parts; give a shorter path", quote(name))
		}
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(done) == 0 {
				return "", outside
			}
			done = done[:len(done)-1]
			continue
		}
		if hidden(part) && !b.opt.Hidden {
			return "", fmt.Errorf("%s is hidden: names that begin with a dot, and what lies below them, can't be read; go on without it", quote(name))
		}
		at := path.Join(path.Join(done...), part)
		info, err := b.root.Lstat(at)
		if err != nil {
			return "", explain(name, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = append(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s goes through too many links, or round in circles; give the path of the file itself", quote(name))
		}
		target, err := b.root.Readlink(at)
		if err != nil {
			return "", explain(name, err)
		}
		if absolute(target) {
			return "", outside
		}
		todo = append(parts(target), todo...)
	}
	return path.Join(".", path.Join(done...)), nil
}

func absolute(name string) bool {
	return strings.HasPrefix(name, "/") || filepath.IsAbs(name) || filepath.VolumeName(name) != ""
}

func parts(name string) []string { return strings.Split(filepath.ToSlash(name), "/") }

// open opens the file at a path if it has the wanted type: 0 for a regular file,
// fs.ModeDir for a folder. The path must come from resolve; shown is the name to use
// in errors. open never opens anything that could block, or on which opening has a
// side effect.
func (b *Box) open(at, shown string, want fs.FileMode) (*os.File, error) {
	// Opening a device can have side effects, so check the type first. If the file
	// is replaced in between, the flags keep the open from blocking.
	info, err := b.root.Lstat(at)
	if err != nil {
		return nil, explain(shown, err)
	}
	if err := expect(info, shown, want); err != nil {
		return nil, err
	}
	f, err := b.root.OpenFile(at, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, explain(shown, err)
	}
	if info, err = f.Stat(); err == nil {
		err = expect(info, shown, want)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// expect returns an error unless a file has the wanted type.
func expect(info fs.FileInfo, shown string, want fs.FileMode) error {
	switch got := info.Mode().Type(); {
	case got == want:
		return nil
	case got == fs.ModeDir:
		return fmt.Errorf("%s is a folder; list_dir shows what is in it", quote(shown))
	case want == fs.ModeDir && got == 0:
		return fmt.Errorf("%s is a file, not a folder; read_file reads it", quote(shown))
	default:
		return fmt.Errorf("%s is a %s; only regular files can be read; go on without it", quote(shown), kind(got))
	}
}

// kind names a type of file.
func kind(t fs.FileMode) string {
	switch {
	case t == 0:
		return "file"
	case t&fs.ModeDir != 0:
		return "folder"
	case t&fs.ModeSymlink != 0:
		return "link"
	case t&fs.ModeNamedPipe != 0:
		return "pipe"
	case t&fs.ModeSocket != 0:
		return "socket"
	case t&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}

// explain turns a file system error into one that suggests what to do. The system's
// own message would contain the path of the folder.
func explain(name string, err error) error {
	name = quote(name)
	var cause *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s in the folder; list_dir shows what a folder holds, and glob_files finds names in all folders", name)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be read: permission denied; go on without it", name)
	case errors.Is(err, fs.ErrClosed):
		return errors.New("the folder has been closed; files can't be read any more")
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("there is no %s: a part of the path is a file, not a folder; list_dir shows what a folder holds", name)
	case errors.As(err, &cause):
		return fmt.Errorf("%s can't be read: %v; go on without it", name, cause.Err)
	}
	return fmt.Errorf("%s can't be read; go on without it", name)
}
