package boltfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
)

// The format of a file, in the byte order of the machine. A file is a sequence of pages; larger pages continue in the
// pages that follow. Every page starts with its number (8 bytes), its kind (2), its number of elements (2) and the number
// of pages in which it continues (4).
//
// Pages 0 and 1 alternately describe the file after the last two transactions: at offset 16 a magic number (4), a version
// (4), the page size (4), flags (4), the root bucket (16), the page of the free list (8), the number of pages (8), the
// number of the transaction (8) and a checksum (8).
//
// A bucket is the number of its root page (8) and a counter (8). For a small bucket this number is 0, and its only page
// follows inline.
const (
	headerSize  = 16
	elementSize = 16 // of leaves and branches
	bucketSize  = 16
	metaSize    = 64

	magic   = 0xED0CDAED
	version = 2

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	bucketElement = 0x01

	smallestPage = 1 << 10
	largestPage  = smallestPage << 14

	noFreelist = ^uint64(0)
	manyFree   = 0xFFFF // the number of free pages is too large for the header, and precedes the list
)

var order = binary.NativeEndian

// meta is the content of one of the first two pages.
type meta struct {
	pageSize, root, freelist, pages, tx uint64
}

// readMeta reads a description of the file; ok reports whether it is valid.
func readMeta(f io.ReaderAt, at int64) (m meta, ok bool) {
	b := make([]byte, headerSize+metaSize)
	if _, err := f.ReadAt(b, at); err != nil {
		return m, false
	}
	b = b[headerSize:]
	sum := fnv.New64a()
	sum.Write(b[:metaSize-8])
	ok = order.Uint32(b) == magic && order.Uint32(b[4:]) == version && order.Uint64(b[metaSize-8:]) == sum.Sum64()
	return meta{uint64(order.Uint32(b[8:])), order.Uint64(b[16:]), order.Uint64(b[32:]), order.Uint64(b[40:]), order.Uint64(b[48:])}, ok
}

// newest returns the description that bbolt uses: the newest valid one.
func newest(f *os.File, size int64) (meta, error) {
	m, ok := readMeta(f, 0)
	for at := int64(smallestPage); at <= largestPage; at *= 2 {
		if ok && m.pageSize != uint64(at) {
			continue
		}
		second, whole := readMeta(f, at)
		switch {
		case whole && second.pageSize != uint64(at):
			return m, errors.New("its first two pages contradict each other")
		case whole && (!ok || second.tx > m.tx):
			m, ok = second, true
		}
		if ok && size >= 2*at {
			return m, nil
		}
	}
	return m, errors.New("its first two pages can't be read")
}

// A checker reads all pages in use, each of them once.
type checker struct {
	f io.ReaderAt
	meta
	used map[uint64]bool // page numbers that are in use or free
}

// check returns an error if a file is damaged.
func check(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := newest(f, info.Size())
	if err != nil {
		return err
	}
	if size := uint64(info.Size()); m.pages > size/m.pageSize {
		return fmt.Errorf("it has %d bytes, and should have %d pages of %d", size, m.pages, m.pageSize)
	}
	c := &checker{f, m, map[uint64]bool{0: true, 1: true}}
	if m.freelist != noFreelist {
		if err := c.free(); err != nil {
			return err
		}
	}
	return c.tree(m.root, onlyBuckets, nil, nil)
}

// page reads a page of one of the given kinds, including the pages in which it continues.
func (c *checker) page(n uint64, kinds ...uint16) (kind uint16, page []byte, err error) {
	if n < 2 || n >= c.pages {
		return 0, nil, fmt.Errorf("page %d does not exist", n)
	}
	head := make([]byte, headerSize)
	if _, err := c.f.ReadAt(head, int64(n*c.pageSize)); err != nil {
		return 0, nil, err
	}
	more := uint64(order.Uint32(head[12:]))
	if order.Uint64(head) != n || more >= c.pages-n {
		return 0, nil, fmt.Errorf("the header of page %d is wrong", n)
	}
	kind = order.Uint16(head[8:])
	known := false
	for _, k := range kinds {
		known = known || k == kind
	}
	if !known {
		return 0, nil, fmt.Errorf("page %d is of kind %#x", n, kind)
	}
	for i := n; i <= n+more; i++ {
		if c.used[i] {
			return 0, nil, fmt.Errorf("page %d is in use twice", i)
		}
		c.used[i] = true
	}
	page = make([]byte, (more+1)*c.pageSize)
	_, err = c.f.ReadAt(page, int64(n*c.pageSize))
	return kind, page, err
}

// free reads the list of free pages.
func (c *checker) free() error {
	_, page, err := c.page(c.freelist, freelistPage)
	if err != nil {
		return fmt.Errorf("the list of free pages: %w", err)
	}
	count, list := uint64(order.Uint16(page[10:])), page[headerSize:]
	if count == manyFree {
		count, list = order.Uint64(list), list[8:]
	}
	if count > uint64(len(list)/8) {
		return fmt.Errorf("the list of free pages has %d entries, more than there is room for", count)
	}
	last := uint64(1)
	for i := range count {
		n := order.Uint64(list[8*i:])
		if n <= last || n >= c.pages || c.used[n] {
			return fmt.Errorf("the list of free pages has page %d, of %d", n, c.pages)
		}
		c.used[n] = true
		last = n
	}
	return nil
}

// The allowed content of a bucket.
type holds int

const (
	onlyBuckets holds = iota // in the root bucket
	anything
	onlyValues // in an inline bucket
)

// tree reads the pages of a bucket, starting from page n. If low is not nil, the first key must be low; if high is not
// nil, all keys must be less than high. (bbolt finds a page by its first key, which is stored in its parent.)
func (c *checker) tree(n uint64, may holds, low, high []byte) error {
	kind, page, err := c.page(n, branchPage, leafPage)
	if err != nil {
		return err
	}
	if kind == leafPage {
		return c.leaf(n, page, may, low, high)
	}
	keys, children, err := elements(n, page, low, high, func(b []byte) (at, key, value, rest uint64) {
		return uint64(order.Uint32(b)), uint64(order.Uint32(b[4:])), 0, order.Uint64(b[8:])
	})
	if err != nil {
		return err
	}
	if len(keys) == 0 {
		return fmt.Errorf("page %d has no elements", n)
	}
	keys = append(keys, content{key: high})
	for i, child := range children {
		if err := c.tree(child, may, keys[i].key, keys[i+1].key); err != nil {
			return err
		}
	}
	return nil
}

// leaf reads a page of keys and values, some of which may be buckets.
func (c *checker) leaf(n uint64, page []byte, may holds, low, high []byte) error {
	all, flags, err := elements(n, page, low, high, func(b []byte) (at, key, value, rest uint64) {
		return uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:])), uint64(order.Uint32(b[12:])), uint64(order.Uint32(b))
	})
	if err != nil {
		return err
	}
	for i, e := range all {
		switch {
		case flags[i] == 0 && may != onlyBuckets:
		case flags[i] != bucketElement || may == onlyValues || len(e.value) < bucketSize:
			return fmt.Errorf("page %d: element %d is of no kind that is known", n, i)
		default:
			root, inline := order.Uint64(e.value), e.value[bucketSize:]
			if root != 0 {
				err = c.tree(root, anything, nil, nil)
			} else if len(inline) < headerSize || order.Uint64(inline) != 0 || order.Uint16(inline[8:]) != leafPage || order.Uint32(inline[12:]) != 0 {
				err = errors.New("the header of its page is wrong")
			} else {
				err = c.leaf(n, inline, onlyValues, nil, nil)
			}
			if err != nil {
				return fmt.Errorf("bucket %q: %w", e.key, err)
			}
		}
	}
	return nil
}

// content is the key and the value of an element.
type content struct{ key, value []byte }

// elements returns the elements of a page and, for each, the remaining field of its header. read decodes an element
// header: the offset of the key from the header, the lengths of key and value, and the remaining field.
func elements(n uint64, page, low, high []byte, read func([]byte) (at, key, value, rest uint64)) (all []content, rest []uint64, err error) {
	count := int(order.Uint16(page[10:]))
	if headerSize+count*elementSize > len(page) {
		return nil, nil, fmt.Errorf("page %d has no room for %d elements", n, count)
	}
	if low != nil && count == 0 {
		return nil, nil, fmt.Errorf("page %d has no elements", n)
	}
	last := low
	for i := range count {
		head := uint64(headerSize + i*elementSize)
		at, key, value, more := read(page[head:])
		from := head + at
		if from < uint64(headerSize+count*elementSize) || key == 0 || from+key+value > uint64(len(page)) {
			return nil, nil, fmt.Errorf("page %d: element %d lies outside it", n, i)
		}
		e := content{page[from : from+key], page[from+key : from+key+value]}
		if order := bytes.Compare(e.key, last); i > 0 && order <= 0 || i == 0 && low != nil && order != 0 || high != nil && bytes.Compare(e.key, high) >= 0 {
			return nil, nil, fmt.Errorf("page %d: element %d is out of order", n, i)
		}
		last = e.key
		all, rest = append(all, e), append(rest, more)
	}
	return all, rest, nil
}
