package models

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// Independent decoders of ggml's formats (ggml-common.h of llama.cpp 0.5.0) for
// a single number: they share nothing with the encoders.

func q4kAt(block []byte, i int) float64 {
	d, m := halfAt(block[0:]), halfAt(block[2:])
	packed, quanta := block[4:16], block[16:144]
	var scale, low byte
	if j := i / 32; j < 4 {
		scale, low = packed[j]&63, packed[j+4]&63
	} else {
		scale = packed[j+4]&15 + packed[j-4]>>6*16
		low = packed[j+4]>>4 + packed[j]>>6*16
	}
	q := quanta[i/64*32+i%32] >> (i / 32 % 2 * 4) & 15
	return d*float64(scale)*float64(q) - m*float64(low)
}

func q6kAt(block []byte, i int) float64 {
	low, high, scales := block[0:128], block[128:192], block[192:208]
	part, j := i/128, i%128
	q := low[part*64+j%64]>>(j/64*4)&15 + high[part*32+j%32]>>(j/32*2)&3*16
	return halfAt(block[208:]) * float64(int8(scales[i/16])) * (float64(q) - 32)
}

func halfAt(b []byte) float64 {
	h := binary.LittleEndian.Uint16(b)
	x := float64(h&0x3ff) / 1024
	exp := int(h >> 10 & 31)
	switch exp {
	case 0:
		x = math.Ldexp(x, -14)
	default:
		x = math.Ldexp(1+x, exp-15)
	}
	if h>>15 != 0 {
		return -x
	}
	return x
}

// TestKQuants limits the error. For normal numbers ggml's own quantisers have
// errors of 0.0715 and 0.0177, these 0.0756 and 0.0187.
func TestKQuants(t *testing.T) {
	sources := map[string]func(*rand.Rand) float64{
		"normal":    (*rand.Rand).NormFloat64,
		"small":     func(r *rand.Rand) float64 { return r.NormFloat64() / 1000 },
		"large":     func(r *rand.Rand) float64 { return r.NormFloat64() * 50 },
		"positive":  (*rand.Rand).Float64,
		"negative":  func(r *rand.Rand) float64 { return -5 - r.Float64() },
		"lognormal": func(r *rand.Rand) float64 { return math.Exp(2 * r.NormFloat64()) },
	}
	for _, c := range []struct {
		typ    Type
		at     func([]byte, int) float64
		part   int
		step   float64            // largest error of a number, as a fraction of the block's largest magnitude
		losses map[string]float64 // root mean square error, as a fraction of the numbers' root mean square
	}{
		{Q4_K, q4kAt, 32, 0.08, map[string]float64{"normal": 0.079, "small": 0.079, "large": 0.079, "positive": 0.033, "negative": 0.005, "lognormal": 0.052}},
		{Q6_K, q6kAt, 16, 0.05, map[string]float64{"normal": 0.0205, "small": 0.0225, "large": 0.0205, "positive": 0.0155, "negative": 0.0105, "lognormal": 0.0235}},
	} {
		size, err := c.typ.rowBytes(256)
		if err != nil {
			t.Fatal(err)
		}
		for name, draw := range sources {
			row, rng := make([]float32, 256*64), rand.New(rand.NewPCG(3, 4))
			for i := range row {
				row[i] = float32(draw(rng))
			}
			enc := c.typ.Append(nil, row)
			if int64(len(enc)) != size*64 {
				t.Fatalf("%s: %d bytes for 64 blocks of %d", c.typ, len(enc), size)
			}
			var lost, all, worst float64
			for b := range 64 {
				block, x := enc[int64(b)*size:][:size], row[256*b:][:256]
				var most float64
				for _, v := range x {
					most = max(most, math.Abs(float64(v)))
				}
				for i, v := range x {
					e := c.at(block, i) - float64(v)
					lost, all = lost+e*e, all+float64(v)*float64(v)
					worst = max(worst, math.Abs(e)/most)
				}
			}
			if share := math.Sqrt(lost / all); share > c.losses[name] {
				t.Errorf("%s, %s: loses %.5f, want at most %.5f", c.typ, name, share, c.losses[name])
			}
			if worst > c.step {
				t.Errorf("%s, %s: a number is off by %.4f of the largest, want at most %.4f", c.typ, name, worst, c.step)
			}
		}
		// Exactly representable numbers are unchanged.
		row := make([]float32, 256)
		for _, want := range []float32{0, -3, 3} {
			row[77] = want
			enc := c.typ.Append(nil, row)
			for i, v := range row {
				if got := c.at(enc, i); math.Abs(got-float64(v)) > 0.002 {
					t.Errorf("%s: %g at %d became %g", c.typ, v, i, got)
				}
			}
		}
		for i := range row {
			row[i] = -7
		}
		enc := c.typ.Append(nil, row)
		for i := range row {
			if got := c.at(enc, i); math.Abs(got+7) > 0.01 {
				t.Fatalf("%s: -7 everywhere became %g at %d", c.typ, got, i)
			}
		}
	}
}

// TestMixture checks which matrices of Q4_K_M get more bits.
func TestMixture(t *testing.T) {
	_, g := random(t, RandomOptions{Layers: 8, Width: 256, FF: 768, KVHeads: 4, Type: Q4_K_M})
	if n, _ := g.Int("general.file_type"); n != 15 {
		t.Errorf("file type %d", n)
	}
	more := map[string]bool{"output.weight": true}
	for _, i := range []int{0, 3, 6, 7} {
		more[layer(i)("attn_v.weight")], more[layer(i)("ffn_down.weight")] = true, true
	}
	seen := 0
	for _, x := range g.Tensors {
		want := "Q4_K"
		if len(x.Shape) == 1 {
			want = "F32"
		} else if more[x.Name] {
			want, seen = "Q6_K", seen+1
		}
		if got := x.Type.String(); got != want {
			t.Errorf("%s is %s, want %s", x.Name, got, want)
		}
	}
	if seen != len(more) {
		t.Errorf("%d matrices of Q6_K, want %d", seen, len(more))
	}
	// Rows that do not fit, and output and embeddings in one matrix.
	pick := typePicker(Q4_K_M, []string{"token_embd.weight", "blk.0.ffn_down_exps.weight"})
	for _, c := range []struct {
		name string
		row  int64
		want Type
	}{
		{"token_embd.weight", 256, Q6_K}, {"blk.0.ffn_down_exps.weight", 512, Q6_K}, {"blk.0.attn_k_b.weight", 256, Q4_K},
		{"blk.0.attn_k_b.weight", 96, Q8_0}, {"blk.0.ssm_dt.weight", 8, F16},
	} {
		if got := pick(c.name, c.row); got != c.want {
			t.Errorf("%s of %d: %s, want %s", c.name, c.row, got, c.want)
		}
	}
	if err := new(Writer).Tensor("x", Q4_K_M, []int64{256}, nil); err == nil {
		t.Error("a tensor was made a mixture")
	}
}
