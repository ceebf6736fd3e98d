package sets

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
)

// restaurantCount is the number of cases.
const restaurantCount = 200

var restaurants = &Set{
	Name: "restaurants", About: "what a sentence says of a restaurant (E2E NLG challenge, 200 of the test set's)",
	Files: []File{{
		Name: "e2e/testset_w_refs.csv", Source: "tuetschek/e2e-dataset, testset_w_refs.csv",
		SHA256: "edc8db685e39bb9824d5bd70c18b1c9b0412d14b527aa960e2d1c8251ee15ccd",
	}},
	build: buildRestaurants,
}

// buildRestaurants reverses a data set for text generation, in which people wrote
// sentences from facts such as `name[Blue Spice], area[riverside]`: the cases ask
// for the facts. Of the sentences for the same facts, the first one is used that
// contains all of them verbatim, except familyFriendly, which sentences never
// express as yes or no.
func buildRestaurants(_ *Set, texts [][]byte) (out []Case, err error) {
	names := []string{"name", "food", "priceRange", "customerRating", "area", "near", "familyFriendly"}
	var list []property
	for _, name := range names {
		schema := `{"type":["string","null"]}`
		switch name {
		case "name":
			schema = `{"type":"string"}`
		case "familyFriendly":
			schema = `{"enum":["yes","no",null]}`
		}
		list = append(list, property{name, schema})
	}
	schema := object(list)
	r := csv.NewReader(bytes.NewReader(texts[0]))
	r.FieldsPerRecord = 2
	rows, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for n, row := range rows[min(1, len(rows)):] {
		facts, sentence := row[0], row[1]
		if taken[facts] {
			continue
		}
		want := map[string]*string{}
		for _, name := range names {
			want[name] = nil
		}
		standing := true
		for _, fact := range strings.Split(facts, "], ") {
			name, value, ok := strings.Cut(strings.TrimSuffix(fact, "]"), "[")
			if !ok {
				return nil, fmt.Errorf("row %d: %q is not name[value]", n+2, fact)
			}
			if name == "customer rating" {
				name = "customerRating"
			}
			if _, asked := want[name]; !asked { // eatType, which sentences mention even if it is not a fact
				continue
			}
			want[name] = &value
			standing = standing && (name == "familyFriendly" || strings.Contains(normal(sentence), normal(value)))
		}
		if want["name"] == nil || !standing {
			continue
		}
		taken[facts] = true
		out = append(out, Case{
			ID: fmt.Sprint(n + 2), Schema: schema, MaxTokens: 300, judge: fields{want, ""},
			Messages: conversation("Give what the sentence says of a restaurant: name, food, priceRange, customerRating, area, near which place it is, familyFriendly (yes or no), and null for each that it says nothing of.", sentence),
		})
	}
	return Spread(out, restaurantCount), nil
}
