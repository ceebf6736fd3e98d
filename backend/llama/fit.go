//go:build llama && cgo

package llama

import (
	"fmt"

	"github.com/stencil-json/stencil/backend"
)

// checkWeights returns an error if the weights do not fit. If the size of memory
// is unknown, it accepts everything.
func checkWeights(f *file, opt LoadOptions) error {
	if opt.GPULayers != 0 {
		return nil // in device memory; the device reports failures itself
	}
	m, ok := systemMemory()
	if !ok {
		return nil
	}
	room, what := m.available, "available"
	if !opt.NoMMap && !opt.Lock {
		// A mapped file only has to fit in total: pages of other files are evicted.
		room, what = m.total, "in all"
	}
	if f.weights > room {
		return fmt.Errorf("llama: %s: %w: the weights take %s, there are %s %s",
			f.path, backend.ErrMemory, Size(f.weights), Size(room), what)
	}
	return nil
}

// checkContext returns an error if a context does not fit into the available
// memory.
func checkContext(f *file, opt LoadOptions, p backend.ContextParams) error {
	if opt.GPULayers != 0 {
		return nil
	}
	m, ok := systemMemory()
	if !ok {
		return nil
	}
	e := f.estimate(p)
	if need := e.Cache + e.Compute + e.Output; need > m.available {
		return fmt.Errorf("llama: context of %d cells: %w: it takes %s (cache %s, compute %s, output %s), %s are available",
			p.Size, backend.ErrMemory, Size(need), Size(e.Cache), Size(e.Compute), Size(e.Output), Size(m.available))
	}
	return nil
}

// contextRoom returns the memory for a context beside the weights, which have been loaded; ok is false if it is unknown. With
// some layers on a GPU and some not, it is.
func contextRoom(opt LoadOptions) (room int64, ok bool) {
	switch {
	case opt.GPULayers < 0: // all on GPUs
		for _, d := range gpus(opt.Devices) {
			room += int64(d.MemoryFree)
		}
		return room, room > 0
	case opt.GPULayers > 0:
		return 0, false
	}
	m, ok := systemMemory()
	return m.available, ok
}

// fitContext chooses the default size of a context: the trained length, as far as
// it fits into memory beside the weights. Cells are allocated as they are used,
// so a large context costs nothing at first.
func fitContext(f *file, opt LoadOptions, p backend.ContextParams) backend.ContextParams {
	trained := p.Size
	if room, ok := contextRoom(opt); ok && !opt.NoMemoryCheck {
		// A quarter is left for copying while a context grows, and for other programs.
		for room = room / 4 * 3; p.Size > firstCells; p.Size = max(p.Size/2, firstCells) {
			if e := f.estimate(p); e.Cache+e.Compute+e.Output <= room {
				break
			}
		}
	}
	if p.Size < trained {
		log().Warn("context reduced to fit into memory", "tokens", p.Size, "trained", trained)
	} else {
		log().Info("context", "tokens", p.Size, "trained", trained, "allotted", f.firstCells(p))
	}
	return p
}

// shortage adds to a failure that the devices have less free memory than needed,
// if so: llama.cpp only reports that an allocation failed.
func shortage(failed error, need int64, opt LoadOptions) error {
	if opt.GPULayers == 0 {
		return failed
	}
	var free int64
	for _, d := range gpus(opt.Devices) {
		free += int64(d.MemoryFree)
	}
	if free == 0 || need <= free {
		return failed
	}
	return fmt.Errorf("%w: %s are needed, the devices have %s free: %w", backend.ErrMemory, Size(need), Size(free), failed)
}
