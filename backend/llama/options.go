package llama

import (
	"cmp"
	"time"

	"github.com/stencil-json/stencil/backend"
)

// AllLayers as LoadOptions.GPULayers puts every layer on a GPU.
const AllLayers = -1

// LoadOptions says how to load a model. The zero value maps the file into
// memory and stays on the CPU.
type LoadOptions struct {
	GPULayers    int      // layers to put on GPUs, where there are any; AllLayers, or 0 for none
	Devices      []string // names as in Devices(); nil: all GPUs
	NoMMap       bool     // read the weights into memory instead of mapping the file
	Lock         bool     // keep the weights from being paged out
	CheckTensors bool     // look for invalid numbers in the weights, which reads the whole file
	LoRA         []LoRA   // applied to every context of the model

	// NoMemoryCheck loads and makes contexts even when they don't seem to fit.
	NoMemoryCheck bool

	// Trial, if set, has another process load the files first. What ends that
	// process (llama.cpp answers some damaged files with abort or a bad access)
	// becomes an error here that matches backend.ErrDamaged.
	Trial *Trial

	// Progress, if set, is called with the share that is loaded, from 0 to 1,
	// on the goroutine that loads.
	Progress func(done float64)

	//lint:ignore U1000 without the tag llama nothing is loaded
	noCopies bool // of weights, in the forms that some kernels like
}

// LoRA is an adapter file and how strongly it is applied; a scale of 0 means 1.
type LoRA struct {
	Path  string
	Scale float32
}

// firstCells is how many cells a context begins with: enough for most requests,
// and few enough not to be noticed.
const firstCells = 4096

// mostCells is more than any model was trained for.
const mostCells = 1 << 30

// withDefaults fills in the zero fields of p. trained is the context length
// that the model was trained for, 0 if unknown.
func withDefaults(p backend.ContextParams, trained int) backend.ContextParams {
	if p.Size == 0 {
		p.Size = cmp.Or(min(max(trained, 0), mostCells), firstCells)
	}
	if p.MaxSeqs == 0 {
		p.MaxSeqs = 1
	}
	if p.MaxBatch == 0 {
		p.MaxBatch = min(512, p.Size)
	}
	if p.Threads == 0 {
		p.Threads = defaultThreads()
	}
	if p.BatchThreads == 0 {
		p.BatchThreads = p.Threads
	}
	if p.CacheType == "" {
		p.CacheType = backend.CacheF16
	}
	if p.FlashAttention == "" {
		p.FlashAttention = backend.FlashAuto
	}
	return p
}

// A Trial says how files are tried out in a process of their own: that loads
// them, makes what is wanted over the model with few cells, computes some tokens
// and ends, on the CPU alone and without copies of the weights.
type Trial struct {
	// Command is a program with arguments that calls RunTrial; nil: this
	// program with the argument TrialCommand.
	Command []string

	// Context is what contexts will be made with.
	Context backend.ContextParams

	// Embeds asks for an embedder too where the model also writes text.
	Embeds bool

	// CPU is the time that the process may compute; it may take ten times as
	// long by the clock. 0: a minute, and more for large files.
	CPU time.Duration

	//lint:ignore U1000 without the tag llama nothing is tried
	ran *int // counts processes, for tests
}

// TrialCommand is the argument with which a program runs itself for a trial.
const TrialCommand = "trial"
