package llama

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stencil-json/stencil/backend"
)

// AllLayers as LoadOptions.GPULayers puts every layer on a GPU.
const AllLayers = -1

// LoadOptions configures loading. The zero value maps the file into memory and uses only the
// CPU.
type LoadOptions struct {
	GPULayers    int      // layers on GPUs, if there are any; AllLayers, or 0 for none
	Devices      []string // names as in Devices; nil: all GPUs
	NoMMap       bool     // read the weights into memory instead of mapping the file
	Lock         bool     // keep the weights from being paged out
	CheckTensors bool     // check the weights for invalid numbers, which reads the whole file
	LoRA         []LoRA   // applied to every context of the model

	Override []Override // of the file's metadata
	Rope     Rope
	Split    Split
	Tensors  []Placement // devices of some tensors, regardless of their layers; the first match counts

	// NoMemoryCheck loads and creates contexts even if they don't seem to fit.
	NoMemoryCheck bool

	// Trial, if set, makes another process load the files first. If that process crashes
	// (llama.cpp aborts or segfaults on some damaged files), loading fails with an error that
	// matches backend.ErrDamaged.
	Trial *Trial

	// Progress, if set, is called with the fraction loaded, from 0 to 1, on the goroutine that
	// loads.
	Progress func(done float64)

	//lint:ignore U1000 without the tag llama nothing is loaded
	noCopies bool // don't copy weights into the formats that some kernels prefer
}

// A Placement keeps tensors with certain names in a device's memory.
type Placement struct {
	Pattern string // regular expression (ECMAScript), matched anywhere in a name
	Buffer  string // the device, such as CPU or CUDA0
}

// ParsePlacement parses PATTERN=DEVICE.
func ParsePlacement(s string) (Placement, error) {
	i := strings.LastIndexByte(s, '=')
	if i <= 0 || i == len(s)-1 || strings.ContainsRune(s, 0) {
		return Placement{}, fmt.Errorf("%.80q is not of the form PATTERN=DEVICE", s)
	}
	return Placement{s[:i], s[i+1:]}, nil
}

// experts matches the names of expert tensors, and dense those of dense feed-forward weights.
const (
	experts = `\.ffn_(up|down|gate|gate_up)_(ch|)exps`
	dense   = `\.ffn_(up|down|gate)\.`
)

// ExpertsOnCPU keeps the experts of all layers on the CPU.
func ExpertsOnCPU() Placement { return Placement{experts, "CPU"} }

// LayerExpertsOnCPU keeps the experts of a layer on the CPU.
func LayerExpertsOnCPU(layer int) Placement { return ofLayer(layer, experts) }

// LayerDenseOnCPU keeps the dense feed-forward weights of a layer on the CPU.
func LayerDenseOnCPU(layer int) Placement { return ofLayer(layer, dense) }

func ofLayer(layer int, tensors string) Placement {
	return Placement{fmt.Sprintf(`blk\.%d%s`, layer, tensors), "CPU"}
}

// An Override replaces the value of a key in a file's metadata.
type Override struct {
	Key   string
	Kind  string // int, float, bool or str
	Value string
}

// ParseOverride parses KEY=KIND:VALUE.
func ParseOverride(s string) (Override, error) {
	key, rest, ok := strings.Cut(s, "=")
	kind, value, ok2 := strings.Cut(rest, ":")
	o := Override{key, kind, value}
	if !ok || !ok2 || key == "" {
		return o, fmt.Errorf("%q is not of the form KEY=TYPE:VALUE", s)
	}
	_, err := o.value()
	return o, err
}

// maxOverride is llama.cpp's limit for keys and texts of overrides, in bytes.
const maxOverride = 127

func (o Override) value() (out any, err error) {
	if len(o.Key) > maxOverride || o.Kind == "str" && len(o.Value) > maxOverride {
		return nil, fmt.Errorf("%.40s…: keys and texts of overrides have at most %d bytes", o.Key, maxOverride)
	}
	if strings.HasPrefix(o.Key, "split.") || strings.ContainsRune(o.Key+o.Value, 0) {
		return nil, fmt.Errorf("%q can't be overridden", o.Key)
	}
	switch o.Kind {
	case "int":
		out, err = strconv.ParseInt(o.Value, 10, 64)
	case "float":
		out, err = strconv.ParseFloat(o.Value, 64)
	case "bool":
		if out = o.Value == "true"; o.Value != "true" && o.Value != "false" {
			err = errors.New("neither true nor false")
		}
	case "str":
		out = o.Value
	default:
		err = fmt.Errorf("the type %q is none of int, float, bool, str", o.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%s:%s: %w", o.Key, o.Kind, o.Value, err)
	}
	return out, nil
}

// Rope configures rotary position embeddings. Zero and nil fields mean the file's values.
type Rope struct {
	Scaling   string  // none, linear or yarn
	FreqBase  float32 // base frequency
	FreqScale float32 // 1/N for contexts N times as long
	Original  int     // for YaRN: the original context length

	// YaRN's extrapolation factor, attention scale, and the numbers of rotations between which it
	// interpolates.
	Ext, Attn, BetaFast, BetaSlow *float32
}

// Check returns an error for an invalid value.
func (r *Rope) Check() error {
	if r.Scaling != "" && !slices.Contains(ropeTypes, r.Scaling) {
		return fmt.Errorf("rope scaling must be %s, not %q", strings.Join(ropeTypes, ", "), r.Scaling)
	}
	for name, x := range map[string]*float32{"base": &r.FreqBase, "scale": &r.FreqScale, "YaRN's ext": r.Ext, "YaRN's attn": r.Attn, "YaRN's beta_fast": r.BetaFast, "YaRN's beta_slow": r.BetaSlow} {
		if x != nil && (*x < 0 || math.IsInf(float64(*x), 0) || *x != *x) {
			return fmt.Errorf("rope: %s is %g", name, *x)
		}
	}
	if r.Original < 0 || r.Original > mostCells {
		return fmt.Errorf("rope: YaRN's original context is %d", r.Original)
	}
	return nil
}

// ropeTypes are the names of llama_rope_scaling_type, starting at 0.
var ropeTypes = []string{"none", "linear", "yarn"}

// Split configures how a model is distributed over several GPUs. It has no effect without GPUs.
type Split struct {
	Mode    string    // none, layer, row or tensor; "": layer
	Main    int       // with none, the GPU for everything; with row, the GPU for small tensors
	Tensors []float32 // the share of each GPU; nil: by their free memory
}

// splitModes are the names of llama_split_mode, starting at 0.
var splitModes = []string{"none", "layer", "row", "tensor"}

// Check returns an error for an invalid value.
func (s *Split) Check() error {
	if s.Mode != "" && !slices.Contains(splitModes, s.Mode) {
		return fmt.Errorf("the split mode must be %s, not %q", strings.Join(splitModes, ", "), s.Mode)
	}
	if s.Main < 0 {
		return fmt.Errorf("the main GPU is %d", s.Main)
	}
	sum := float32(0)
	for _, x := range s.Tensors {
		if sum += x; x < 0 {
			return fmt.Errorf("a GPU's share is %g", x)
		}
	}
	if len(s.Tensors) > 0 && !(sum > 0 && sum <= math.MaxFloat32) {
		return fmt.Errorf("the shares of GPUs are %g together", sum)
	}
	return nil
}

// LoRA is an adapter file and its scale; a scale of 0 means 1.
type LoRA struct {
	Path  string
	Scale float32
}

// firstCells is the initial number of cells of a context: enough for most requests, with little
// memory.
const firstCells = 4096

// mostCells is more than any model's context length.
const mostCells = 1 << 30

// withDefaults fills in the zero fields of p. trained is the trained context length, 0 if
// unknown.
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
	if p.MaxBatch > 0 {
		p.MaxBatch = max(p.MaxBatch, p.MaxSeqs) // each may ask for a row, and llama.cpp asserts that there is room for it
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

// A Trial configures how files are tried in a separate process, which loads them, creates small
// contexts or embedders, computes some tokens and exits, on the CPU alone and without copies of
// the weights.
type Trial struct {
	// Command is a program with arguments that calls RunTrial; nil: this program with the argument
	// TrialCommand.
	Command []string

	// Context has the parameters of future contexts.
	Context backend.ContextParams

	// Embeds also tries an embedder if the model generates text.
	Embeds bool

	// CPU is the CPU time limit of the process; its wall time limit is ten times that. 0: a
	// minute, and more for large files.
	CPU time.Duration

	//lint:ignore U1000 without the tag llama nothing is tried
	ran *int // counts processes, for tests
}

// TrialCommand is the argument with which a program runs itself for a trial.
const TrialCommand = "trial"
