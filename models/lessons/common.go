package lessons

// common are everyday words. Drills copy them, so that the model has met them.
var common = words(`
	able about above accept account across act action activity actually add address after afternoon again against age agency
	ago agree air airport all allow almost alone along already also although always among amount and animal another answer any
	anyone anything appear apple application approach april area argue arm around arrive art article ask assume at attack
	attention august author autumn available avoid away baby back bad bag ball bank bar base basic bath battery be beach bear
	beat beautiful because become bed before begin behavior behind believe bell belt benefit best better between beyond bicycle
	big bill bird birth bit bite black blood blue board boat body bone book border born borrow both bottle bottom bowl box boy
	branch bread break breakfast breath bridge bright bring broken brother brown brush build building bus business busy but
	butter button buy by cabin cable cake call camera camp campaign can candle capital captain car card care career careful
	carpet carry case cash castle cat catch cause cell center central century certain chain chair challenge chance change
	channel chapter charge cheap check cheese chicken child choice choose church circle citizen city claim class clean clear
	client climb clock close cloth clothes cloud club coach coast coat coffee cold collect college color come comfort comment
	common community company compare computer concern condition connect consider contact contain content continue contract
	control cook cool copy corner correct cost could count country couple course court cover cow create credit crew crime cross
	crowd cry culture cup current customer cut daily dance danger dark data date daughter day dead deal dear death december
	decide decision deep deer degree deliver delivery demand department depend desert design desk detail develop device die
	difference different difficult dinner direction director dirty discount discover discuss disease dish distance doctor
	document dog dollar door double down dozen draw dream dress drink drive driver drop dry due during dust duty each ear early
	earn earth east easy eat edge education effect effort egg eight either electric else email empty end energy engine enjoy
	enough enter entire entrance environment equal error escape especially establish euro even evening event ever every
	everybody everyone everything evidence exactly example except exchange exercise exist expect expensive experience expert
	explain express extra eye face fact factory fail fair fall false family famous far farm fast father favor fear feature
	february fee feed feel few field fight figure file fill film final finally find fine finger finish fire firm first fish fit
	five fix flat flight floor flow flower fly follow food foot for force foreign forest forget fork form former forward four
	frame free fresh friday friend from front fruit full fun fund funny furniture future game garage garden gas gate general
	get gift girl give glad glass go goal gold good government grass gray great green ground group grow guess guest guide gun
	guy hair half hall hand handle hang happen happy harbor hard hat hate have he head health hear heart heat heavy height hello
	help her here hide high hill him himself his history hit hold hole holiday home hope horse hospital host hot hotel hour
	house how however huge human hundred hungry hurry hurt husband ice idea identify if image imagine impact important improve
	in include increase indeed indicate individual industry information inside instead insurance interest interesting internet
	into invite invoice iron island issue it item its itself jacket january job join journey judge juice july jump june just
	keep key kid kill kind king kitchen knee knife know knowledge lab lack lady lake lamp land language large last late later
	laugh law lawyer lay lead leader leaf learn least leather leave left leg legal lemon lend less lesson let letter level
	library license lie life lift light like likely limit line link lion lip list listen little live local lock long look lose
	loss lot loud love low luck lunch machine magazine main maintain major make man manage management manager many map march
	mark market marriage material matter may maybe me meal mean measure meat media medical medicine meet meeting member memory
	mention menu message metal method middle might mile military milk million mind minute mirror miss mission mistake model
	modern moment monday money month moon more morning most mother motor mountain mouse mouth move movement movie much museum
	music must my myself name narrow nation national natural nature near nearly necessary neck need neighbor neither network
	never new news newspaper next nice night nine no nobody noise none nor north nose not note nothing notice november now
	number object occur ocean october of off offer office officer official often oh oil okay old on once one only onto open
	operation opportunity option or orange order organization other our out outside over own owner page pain paint pair palace
	pan paper parent park part particular partner party pass past path patient pattern pay payment peace pen pencil people
	pepper per percent perfect perform perhaps period permit person phone photo phrase piano pick picture piece pink place plan
	plane plant plastic plate play player please pocket point police policy political pool poor popular population position
	positive possible post pot potato pound power practice prepare present president press pressure pretty prevent price prince
	print private probably problem process produce product production professional program project promise proof property
	protect prove provide public pull purpose push put quality quarter queen question quick quickly quiet quite race radio rain
	raise range rate rather reach read ready real reality realize really reason receipt receive recent recently recognize record
	red reduce refund region relate relationship remain remember remove rent repair repeat replace reply report represent
	request require research reserve response rest restaurant result return reveal rice rich ride right ring rise risk river
	road rock role roof room root rope round route row rule run safe salad salary sale salt same sand saturday save say scene
	school science score screen sea season seat second section security see seed seek seem sell send senior sense september
	series serious serve service session set seven several shake shape share she sheep sheet shelf shine ship shirt shoe shop
	short shot should shoulder show shower sick side sign signal silver similar simple simply since sing single sister sit site
	situation six size skill skin sky sleep slow small smart smile smoke snow so social society sock soft soil soldier some
	somebody someone something sometimes son song soon sorry sort sound soup south space speak special specific speech speed
	spend spoon sport spot spring staff stage stair stamp stand standard star start state statement station stay steal step
	still stone stop store storm story straight strange street strong structure student study stuff style subject success such
	sudden suddenly suffer sugar suggest suit summer sun sunday support sure surface surprise sweet swim switch system table
	tail take talk tall tape task taste tax taxi tea teach teacher team tear technology telephone television tell ten tend term
	test than thank that the their them then theory there these they thick thin thing think third this those though thought
	thousand thread three throat through throw thursday thus ticket tie tiger time tiny tip tire title to today together toilet
	tomorrow tonight too tool tooth top topic total touch tour toward towel town toy track trade tradition traffic train travel
	treat tree trial trip trouble truck true trust truth try tuesday turn twelve twenty two type under understand unit until up
	update upon us use user usually value various very victim video view village visit visitor voice wait walk wall want war
	warm warning wash watch water wave way we weak wear weather web wednesday week weekend weight welcome well west wet what
	wheel when where whether which while white who whole why wide wife will win wind window wine winter wish with within without
	woman wonder wood word work worker world worry worse worst worth would write writer wrong yard yeah year yellow yes
	yesterday yet you young your yourself zero zone`)

// someWords returns n everyday words.
func (g *gen) someWords(n int) string {
	out := g.of(common)
	for range n - 1 {
		out += " " + g.of(common)
	}
	return out
}

// Words returns what a vocabulary should know well: everyday words, and,
// apart, the parts that names are made of.
func Words() (everyday, names []string) {
	names = append(names, women...)
	names = append(append(names, men...), surnames...)
	for _, list := range [][]string{cities, countries, brands, streetNames, streetStems, streetFronts} {
		for _, l := range list {
			names = append(names, words(l)...)
		}
	}
	return common, names
}

var allDomains = []*domain{&people, &contacts, &meetings, &addresses, &goods}

var allClasses = [][]class{categories, urgencies, feelings}

// Sentences returns all sentences and requests, with their {slots}, those with
// alternatives more than once.
func Sentences() []string {
	var out []string
	for _, s := range sentences() {
		out = append(out, spellings(s)...)
	}
	return out
}

// sentences returns them as they are listed.
func sentences() []string {
	var out []string
	for _, d := range allDomains {
		for _, l := range [][]string{d.opens, d.sentences, d.noise, d.requests} {
			out = append(out, l...)
		}
	}
	for _, classes := range allClasses {
		for _, c := range classes {
			out = append(append(out, c.texts...), c.frames...)
		}
	}
	for _, f := range facts {
		out = append(append(append(out, f.sentences...), f.open...), f.closed...)
	}
	for _, f := range functions {
		out = append(out, f.requests...)
	}
	return out
}

// Values returns the lower-case words that values are made of.
func Values() []string {
	var out []string
	for _, list := range [][]string{jobs, hobbies, departments, plans, products, colours, venues, events, services, logTexts, common} {
		for _, l := range list {
			out = append(out, words(l)...)
		}
	}
	// Those of these that hardly ever begin a value.
	little := words("the a an of and to in is was at for on with by it has are i you my your be we no not do does can have this that from will as or he she who what which where")
	var kept []string
	for _, w := range out {
		keep := true
		for _, l := range little {
			keep = keep && w != l
		}
		if keep {
			kept = append(kept, w)
		}
	}
	return kept
}

// Learn returns what is written in lessons apart from names of people and
// places: sentences, names of properties, descriptions, words.
func Learn() []string {
	out := Sentences()
	for _, d := range allDomains {
		for _, s := range d.slots {
			out = append(append(append(out, s.keys...), s.desc...), s.choices...)
		}
		out = append(append(out, d.prefixes...), d.wholeNames...)
	}
	for _, classes := range allClasses {
		for _, c := range classes {
			out = append(append(out, c.names...), c.things...)
		}
	}
	for _, f := range functions {
		out = append(out, f.names...)
		for _, p := range f.params {
			out = append(out, p.keys...)
		}
	}
	for _, l := range [][]string{jobs, hobbies, departments, languages, products, colours, venues, events, months, weekdays, services, logTexts, levels, topDomains} {
		out = append(out, l...)
	}
	return append(out, "type", "properties", "required", "enum", "anyOf", "const", "items", "array", "object", "description", "format",
		"email", "date", "null", "true", "false", "string", "integer", "number", "boolean", "additionalProperties", "Answer with JSON that fits this JSON Schema, and nothing else")
}
