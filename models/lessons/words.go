package lessons

import "strings"

// words splits a list in one text.
func words(text string) []string { return strings.Fields(text) }

// lines splits a list with one entry per line.
func lines(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

var women = embeddedWords("women")

var men = embeddedWords("men")

var surnames = embeddedWords("surnames")

var cities = embedded("cities")

var countries = embedded("countries")

var jobs = embedded("jobs")

var departments = embedded("departments")

var hobbies = embedded("hobbies")

var languages = embeddedWords("languages")

var products = embedded("products")

var colours = words(`red blue green black white grey yellow orange purple brown pink silver beige navy`)

var brands = embeddedWords("brands")

var companyEnds = embedded("companyEnds")

var streetNames = embedded("streetNames")

var streetStems = words(`Linden Garten Bahnhof Schul Kirch Berg Haupt Wald Rosen Mühl Birken Wiesen`)
var streetFronts = embedded("streetFronts")

var venues = embedded("venues")

var events = embedded("events")

var months = words(`January February March April May June July August September October November December`)
var weekdays = words(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday`)

var services = embeddedWords("services")

var logTexts = embedded("logTexts")

var topDomains = words(`com org net io eu de no fr co.uk es it pl dev info`)

// Consonants and vowels of made-up names: in use, most names are not in any
// list.
var onsets = words(`b br d dr f g gr h j k kl l m n p pr r s st t tr v w z ch sh th kr fl gl y`)
var nuclei = words(`a e i o u ai ea ei ia io oa ou ue`)
var codas = append(words(`n r s l m t k x nd rt sk lm ns ng ck th`), "", "", "", "", "")
