package request

import (
	"encoding/json"
	"math"
	"sort"
	"strconv"

	"github.com/stencil-json/stencil/decoder/sampling"
	"github.com/stencil-json/stencil/server/wire"
)

// A TextBias is a bias of every token in the tokenization of a text.
type TextBias struct {
	Text string
	Add  float32
}

// readBias reads logit_bias: OpenAI's object keyed by token numbers, or llama.cpp's variants, in which tokens may also
// be given by their text, lists hold pairs, and false means a ban.
func (q *Request) readBias(o *wire.Object) error {
	const name = "logit_bias"
	if !o.Given(name) {
		return nil
	}
	const want = "an object of token numbers and biases, or a list of pairs of them"
	type pair struct{ token, bias json.RawMessage }
	var list []pair
	var bias map[string]json.RawMessage
	var rows []json.RawMessage
	switch raw := o.Members[name]; {
	case json.Unmarshal(raw, &bias) == nil:
		for key, add := range bias {
			token := json.RawMessage(key)
			if _, err := strconv.ParseInt(key, 10, 32); err != nil {
				token, _ = json.Marshal(key) // marshalling a string never fails
			}
			list = append(list, pair{token, add})
		}
	case json.Unmarshal(raw, &rows) == nil:
		for _, row := range rows {
			var two []json.RawMessage
			if json.Unmarshal(row, &two) != nil || len(two) != 2 {
				return o.WrongType(name, want)
			}
			list = append(list, pair{two[0], two[1]})
		}
	default:
		return o.WrongType(name, want)
	}
	if len(list) > maxBiases {
		return wire.Invalid(o.Path+name, "logit_bias must have at most %d entries, not %d", maxBiases, len(list))
	}
	for _, p := range list {
		if err := q.addBias(o.Path+name, p.token, p.bias); err != nil {
			return err
		}
	}
	sort.SliceStable(q.Sampling.LogitBias, func(i, j int) bool { return q.Sampling.LogitBias[i].Token < q.Sampling.LogitBias[j].Token })
	sort.SliceStable(q.BiasTexts, func(i, j int) bool { return q.BiasTexts[i].Text < q.BiasTexts[j].Text })
	return nil
}

// maxBiasText is the largest text that names tokens, in bytes.
const maxBiasText = 256

func (q *Request) addBias(param string, token, bias json.RawMessage) error {
	var add float64
	var on bool
	if json.Unmarshal(bias, &add) != nil || string(bias) == "null" {
		if json.Unmarshal(bias, &on) != nil || on || string(bias) == "null" {
			return wire.Invalid(param, "logit_bias of token %s must be a number or false, not %s", wire.Sketch(token), wire.Sketch(bias))
		}
		add = -100
	}
	if add < -100 || add > 100 {
		return wire.Invalid(param, "logit_bias of token %s must be between -100 and 100, not %g", wire.Sketch(token), add)
	}
	if add == -100 {
		add = math.Inf(-1) // a ban, as in OpenAI's API
	}
	var id int32
	var text string
	switch {
	case json.Unmarshal(token, &id) == nil && string(token) != "null":
		q.Sampling.LogitBias = append(q.Sampling.LogitBias, sampling.Bias{Token: id, Add: float32(add)})
	case json.Unmarshal(token, &text) == nil && text != "" && len(text) <= maxBiasText:
		q.BiasTexts = append(q.BiasTexts, TextBias{text, float32(add)})
	default:
		return wire.Invalid(param, "logit_bias: %s is neither a token number nor a text of 1 to %d bytes", wire.Sketch(token), maxBiasText)
	}
	return nil
}
