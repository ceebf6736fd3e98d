package sets

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const ownData = "a file of yours: a JSON object a line, "

const (
	receiptData = ownData + `{"id", "text", "want": {"company", "date", "address", "total"}}, out of zzzDavid/ICDAR-2019-SROIE`
	requestData = ownData + `{"id", "intent", "text", "slots": […], "want": {slot: text or null}}, out of sonos/nlu-benchmark`
)

var receipts = &Set{
	Name: "receipts", About: "company, date, address and total of scanned receipts (ICDAR 2019, SROIE)",
	Files: []File{{Name: "receipts.jsonl", Source: receiptData}}, build: buildReceipts,
}

// receiptsUnnamed asks for the same data without naming the fields in the prompt:
// only the schema names them, as when a program derives it from a type.
var receiptsUnnamed = &Set{
	Name: "receipts-unnamed", About: "the receipts, the fields named by the schema alone",
	Files: receipts.Files, build: unnamed(buildReceipts, "You read shop receipts. Extract the data, as it is written on the receipt."),
}

var requestsUnnamed = &Set{
	Name: "requests-unnamed", About: "the requests, the slots named by the schema alone",
	Files: requests.Files, build: unnamed(buildRequests, "You read what people say to a voice assistant. Extract the data of the next request, as it is worded there."),
}

func unnamed(build func(*Set, [][]byte) ([]Case, error), system string) func(*Set, [][]byte) ([]Case, error) {
	return func(set *Set, texts [][]byte) ([]Case, error) {
		list, err := build(set, texts)
		for i := range list {
			list[i].Messages[0].Content = system
		}
		return list, err
	}
}

func buildReceipts(_ *Set, texts [][]byte) (out []Case, err error) {
	order := []string{"company", "date", "address", "total"}
	var properties []property
	for _, name := range order {
		properties = append(properties, property{name, `{"type":"string"}`})
	}
	schema := object(properties)
	err = eachLine(texts[0], func(line labelled) error {
		for _, name := range order {
			if line.Want[name] == nil {
				return fmt.Errorf("want has no %s", name)
			}
		}
		out = append(out, Case{
			ID: line.ID, Schema: schema, MaxTokens: 300, judge: fields{line.Want, line.Text},
			Messages: conversation("You read shop receipts. Give the company that issued the receipt, its date, the company's address and the total to pay, as they are written on the receipt.", line.Text),
		})
		return nil
	})
	return out, err
}

// labelled is a line of receipts or requests.
type labelled struct {
	ID     string             `json:"id"`
	Text   string             `json:"text"`
	Intent string             `json:"intent"`
	Slots  []string           `json:"slots"`
	Want   map[string]*string `json:"want"`
}

var requests = &Set{
	Name: "requests", About: "slots of spoken requests, most of them null (7 intents of the 2017 NLU benchmark)",
	Files: []File{{Name: "requests.jsonl", Source: requestData}}, build: buildRequests,
}

func buildRequests(_ *Set, texts [][]byte) (out []Case, err error) {
	err = eachLine(texts[0], func(line labelled) error {
		var properties []property
		for _, name := range line.Slots {
			if _, ok := line.Want[name]; !ok {
				return fmt.Errorf("want has no %s", name)
			}
			properties = append(properties, property{name, `{"type":["string","null"]}`})
		}
		if len(properties) == 0 || len(properties) != len(line.Want) {
			return errors.New("slots and want differ")
		}
		out = append(out, Case{
			ID: line.ID, Schema: object(properties), MaxTokens: 300, judge: fields{line.Want, line.Text},
			Messages: conversation(fmt.Sprintf("You read what people say to a voice assistant. The next request is of the kind %s. Give %s, as they are worded in the request, and null for each that the request says nothing of.",
				line.Intent, strings.Join(line.Slots, ", ")), line.Text),
		})
		return nil
	})
	return out, err
}

// sections are the sections of the news, by number.
var sections = []string{"World", "Sports", "Business", "Sci/Tech"}

// newsEach is the number of cases per section.
const newsEach = 50

var news = &Set{
	Name: "news", About: "the section of a news story, of four (AG News, the first 50 test stories of each)",
	Files: []File{{
		Name: "ag_news/test.csv", Source: "mhjabreel/CharCnn_Keras, data/ag_news_csv/test.csv",
		SHA256: "521465c2428ed7f02f8d6db6ffdd4b5447c1c701962353eb2c40d548c3c85699",
	}},
	build: buildNews,
}

func buildNews(_ *Set, texts [][]byte) (out []Case, err error) {
	r := csv.NewReader(bytes.NewReader(texts[0]))
	r.FieldsPerRecord = 3
	schema := object([]property{{"section", `{"enum":["` + strings.Join(sections, `","`) + `"]}`}})
	taken := make([]int, len(sections))
	for n := 1; len(out) < newsEach*len(sections); n++ {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		at, err := strconv.Atoi(row[0])
		if err != nil || at < 1 || at > len(sections) {
			return nil, fmt.Errorf("row %d: %q is not one of 1 to %d", n, row[0], len(sections))
		}
		if taken[at-1]++; taken[at-1] > newsEach {
			continue
		}
		text := strings.ReplaceAll(row[1]+"\n"+row[2], `\`, " ") // backslashes stand for line breaks in the data
		out = append(out, Case{
			ID: fmt.Sprintf("%s-%d", normal(sections[at-1]), taken[at-1]), Schema: schema, MaxTokens: 60,
			judge:    fields{map[string]*string{"section": &sections[at-1]}, ""},
			Messages: conversation("You sort news. Give the section that a story belongs to: "+strings.Join(sections, ", ")+".", text),
		})
	}
	// Interleave the sections, so that every part of the set contains all of them.
	slices.SortStableFunc(out, func(a, b Case) int { return rank(a.ID) - rank(b.ID) })
	return out, nil
}

// rank returns the number at the end of an ID.
func rank(id string) int {
	n, _ := strconv.Atoi(id[strings.LastIndexByte(id, '-')+1:])
	return n
}

// sumsCount is the number of cases.
const sumsCount = 100

var sums = &Set{
	Name: "gsm8k", About: "word problems, answered by reasoning and a number (GSM8K, the first 100 test questions)",
	Files: []File{{
		Name: "gsm8k/test.jsonl", Source: "openai/grade-school-math, grade_school_math/data/test.jsonl",
		SHA256: "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
	}},
	build: buildSums,
}

func buildSums(_ *Set, texts [][]byte) (out []Case, err error) {
	schema := object([]property{{"reasoning", `{"type":"string"}`}, {"answer", `{"type":"number"}`}})
	type problem struct {
		Question string `json:"question"`
		Answer   string `json:"answer"`
	}
	err = eachLine(texts[0], func(p problem) error {
		_, result, ok := strings.Cut(p.Answer, "#### ")
		want := numeric(result)
		if !ok || want == nil {
			return fmt.Errorf("the answer %q does not end in a number", p.Answer)
		}
		if len(out) < sumsCount {
			out = append(out, Case{
				ID: fmt.Sprint(len(out)), Schema: schema, MaxTokens: 400, judge: number{"answer", want},
				Messages: conversation("You solve word problems. Give your reasoning step by step, then the answer as a number.", p.Question),
			})
		}
		return nil
	})
	return out, err
}
