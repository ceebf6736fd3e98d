package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// untar unpacks the regular files of an npm archive into dir, without their common
// top folder.
func untar(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", archive, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", archive, err)
		}
		_, name, ok := strings.Cut(h.Name, "/")
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: the entry %q leads out of it", archive, h.Name)
		}
		if err := write(filepath.Join(dir, filepath.FromSlash(name)), r); err != nil {
			return err
		}
	}
}

// write creates a file and the folders above it.
func write(name string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// copyFile copies a file and its mode.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	// A program may have the old file mapped, so replace it instead of changing it.
	tmp := to + ".new"
	if err := write(tmp, in); err != nil {
		return err
	}
	if err := os.Chmod(tmp, st.Mode().Perm()); err != nil {
		return err
	}
	return os.Rename(tmp, to)
}

// tarball writes the folder dir as a .tar.gz whose entries are below name. The same
// files give the same archive: times and owners are omitted.
func tarball(archive, dir, name string) error {
	f, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if st.Mode()&0o100 != 0 {
			mode = 0o755
		}
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(name, filepath.ToSlash(rel)), Size: st.Size(), Mode: mode, ModTime: time.Unix(0, 0),
		}); err != nil {
			return err
		}
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	})
	return errors.Join(err, w.Close(), z.Close(), f.Close())
}
