package lessons

import "strings"

// words splits a list written as one text.
func words(text string) []string { return strings.Fields(text) }

// lines splits a list written one entry a line.
func lines(text string) []string {
	var out []string
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out
}

var women = words(`
	Anna Maria Clara Ingrid Astrid Freja Sofia Elena Lucia Carmen Isabel Ines Beatriz Camila Valentina Giulia Chiara Francesca
	Martina Paola Claire Margaux Camille Amelie Juliette Helene Nina Katja Greta Heike Ulrike Sabine Petra Monika Agnieszka
	Katarzyna Zofia Hanna Olga Irina Natalia Svetlana Oksana Daria Milena Jana Lenka Eszter Zsofia Ioana Andreea Despina
	Eleni Ayse Elif Zeynep Fatima Leila Yasmin Amina Nour Salma Priya Ananya Kavya Meera Lakshmi Sunita Aiko Yuki Haruka
	Sakura Mei Xiu Ling Hua Jiwoo Minji Soyeon Linh Thao Siti Dewi Putri Wanjiru Achieng Chioma Ngozi Adaeze Thandiwe
	Zanele Aroha Emily Grace Rachel Laura Alice Julia Sarah Hannah Ruth Naomi Tessa Fiona Siobhan Aoife Megan Bronwen
	Dora Vera Wilma Ida Signe Tove Maja Elsa Linnea Aino Kaisa Liisa Birgit Rosa Teresa Lourdes Pilar Renata Luciana`)

var men = words(`
	Erik Lars Henrik Magnus Bjorn Anders Olav Sven Gustav Nils Mateo Diego Javier Carlos Miguel Rafael Joao Tiago Pedro
	Andre Marco Luca Matteo Giovanni Paolo Antonio Pierre Julien Antoine Etienne Luc Mathieu Hans Jürgen Klaus Stefan Uwe
	Wolfgang Dieter Tomasz Piotr Krzysztof Marek Ivan Dmitri Sergei Oleg Bogdan Vladimir Milan Jakub Ondrej Gabor Laszlo
	Andrei Mihai Nikos Yannis Kostas Mehmet Emre Murat Ahmed Omar Hassan Karim Yusuf Tariq Arjun Rohan Vikram Rajesh Anil
	Kenji Hiroshi Takumi Daichi Wei Jian Hao Feng Minho Jisoo Duc Quang Budi Agus Kofi Kwame Chidi Emeka Tunde Sipho
	Themba Tane James Peter Daniel Thomas Simon Oliver Henry Victor Martin Samuel Isaac Owen Rhys Liam Sean Patrick
	Conor Felix Oscar Hugo Leo Emil Axel Viktor Jonas Mikko Antti Juhani Ruben Bram Pieter Joost Alberto Ernesto Fabio`)

var surnames = words(`
	Berg Lindqvist Johansson Nilsen Hansen Larsen Andersen Virtanen Korhonen Nieminen Garcia Fernandez Lopez Morales
	Castillo Navarro Vargas Ortega Silva Santos Oliveira Pereira Costa Almeida Rossi Bianchi Ferrari Esposito Romano
	Moreau Lefevre Dubois Girard Fontaine Mercier Schmidt Fischer Weber Becker Hoffmann Krüger Zimmermann Vogel Kowalski
	Nowak Wisniewski Zielinski Petrov Ivanova Sokolov Morozov Kovalenko Shevchenko Novak Horvat Dvorak Svoboda Nagy
	Szabo Kiss Popescu Ionescu Papadopoulos Nikolaidis Yilmaz Demir Kaya Celik Haddad Khalil Mansour Rahman Aziz Sharma
	Patel Gupta Iyer Reddy Nair Banerjee Tanaka Suzuki Yamamoto Nakamura Kobayashi Ito Chen Wang Zhang Liu Huang Kim
	Park Choi Jung Nguyen Tran Pham Santoso Wijaya Okafor Adeyemi Eze Mensah Owusu Boateng Dlamini Nkosi Mokoena Kamau
	Otieno Walker Turner Bennett Hughes Murphy Kelly Byrne Sullivan Evans Morgan Price Foster Hayes Brooks Reed Cole
	Marsh Stone Lane Fox Wells Grant Frost Miller Baker Mason Carter Fisher Shaw Webb Holt Dekker Visser Jansen Bakker
	Meyer Keller Brunner Steiner Huber Gruber Wagner Lang O'Brien O'Connor McAllister MacLeod`)

var cities = lines(`
	Bergen
	Oslo
	Malmö
	Uppsala
	Aarhus
	Odense
	Tampere
	Turku
	Lisbon
	Porto
	Braga
	Seville
	Valencia
	Granada
	Bilbao
	Lyon
	Nantes
	Lille
	Toulouse
	Turin
	Bologna
	Verona
	Naples
	Hamburg
	Leipzig
	Bremen
	Cologne
	Zürich
	Basel
	Geneva
	Vienna
	Graz
	Salzburg
	Prague
	Brno
	Krakow
	Gdansk
	Poznan
	Warsaw
	Riga
	Vilnius
	Tallinn
	Budapest
	Szeged
	Cluj
	Sofia
	Athens
	Patras
	Izmir
	Ankara
	Beirut
	Amman
	Cairo
	Tunis
	Rabat
	Accra
	Lagos
	Nairobi
	Kampala
	Durban
	Cape Town
	Mumbai
	Pune
	Chennai
	Delhi
	Dhaka
	Colombo
	Hanoi
	Bangkok
	Manila
	Jakarta
	Osaka
	Kyoto
	Sapporo
	Seoul
	Busan
	Taipei
	Shanghai
	Sydney
	Perth
	Auckland
	Wellington
	Toronto
	Montreal
	Halifax
	Boston
	Chicago
	Denver
	Portland
	Austin
	New Orleans
	San Diego
	Mexico City
	Puebla
	Lima
	Cusco
	Quito
	Bogotá
	Medellín
	Santiago
	Valparaíso
	Córdoba
	Rosario
	Montevideo
	São Paulo
	Recife
	Dublin
	Cork
	Galway
	Belfast
	Glasgow
	Leeds
	York
	Bristol
	Cardiff
	Bath
	Utrecht
	Rotterdam
	Ghent
	Antwerp
	Reykjavik`)

var countries = lines(`
	Norway
	Sweden
	Denmark
	Finland
	Iceland
	Portugal
	Spain
	France
	Italy
	Germany
	Switzerland
	Austria
	Poland
	Czech Republic
	Hungary
	Romania
	Bulgaria
	Greece
	Turkey
	Egypt
	Morocco
	Ghana
	Nigeria
	Kenya
	Uganda
	South Africa
	India
	Sri Lanka
	Vietnam
	Thailand
	Japan
	South Korea
	Taiwan
	China
	Australia
	New Zealand
	Canada
	United States
	Mexico
	Peru
	Ecuador
	Colombia
	Chile
	Argentina
	Uruguay
	Brazil
	Ireland
	Scotland
	Wales
	Netherlands
	Belgium`)

var jobs = lines(`
	nurse
	carpenter
	teacher
	electrician
	software engineer
	data analyst
	architect
	baker
	librarian
	pharmacist
	surgeon
	plumber
	photographer
	translator
	bus driver
	accountant
	gardener
	chef
	journalist
	lawyer
	marine biologist
	graphic designer
	project manager
	sales manager
	research assistant
	physics teacher
	train conductor
	veterinarian
	tax consultant
	product designer
	violin maker
	civil engineer
	dentist
	waiter
	painter
	midwife
	pilot
	postal worker
	welder
	farmer
	geologist
	office manager
	security guard
	tailor
	optician
	head of marketing
	customer support agent
	operations lead
	network administrator
	mechanic`)

var departments = lines(`
	sales
	marketing
	finance
	support
	logistics
	purchasing
	legal
	research
	engineering
	quality control
	customer service
	human resources
	production
	design
`)

var hobbies = lines(`
	chess
	hiking
	painting
	sailing
	pottery
	cycling
	photography
	gardening
	rock climbing
	knitting
	bird watching
	swimming
	cooking
	playing the cello
	fishing
	running
	board games
	astronomy
	dancing
	woodworking
	skiing
	calligraphy
	beekeeping
	surfing
	reading crime novels`)

var languages = words(`
	English French German Spanish Portuguese Italian Dutch Swedish Norwegian Danish Finnish Polish Czech Hungarian Greek
	Turkish Arabic Hebrew Hindi Tamil Bengali Japanese Korean Mandarin Vietnamese Thai Swahili Yoruba Zulu Russian Ukrainian`)

var products = lines(`
	desk lamp
	office chair
	coffee grinder
	water bottle
	rain jacket
	running shoes
	backpack
	notebook
	fountain pen
	keyboard
	wireless mouse
	monitor stand
	USB cable
	phone case
	camping tent
	sleeping bag
	frying pan
	tea kettle
	bread knife
	cutting board
	wool blanket
	garden hose
	flower pot
	cordless drill
	hammer
	paint roller
	bookshelf
	dining table
	picture frame
	wall clock
	mirror
	bath towel
	bicycle pump
	bike helmet
	yoga mat
	tennis racket
	football
	board game
	toy train
	puzzle
	guitar strings
	music stand
	headphones
	speaker
	power bank
	camera bag
	tripod
	webcam
	printer paper
	ink cartridge
	envelopes
	stapler
	scissors
	olive oil
	ground coffee
	green tea
	dark chocolate
	honey
	dog leash
	cat food
	hiking boots
	winter gloves
	umbrella
	sunglasses
	wallet
	suitcase
	travel pillow
	screwdriver set
	LED bulb
	extension cord
	door lock
	fan heater
	vacuum cleaner
	soap dispenser
	toothbrush
	hair dryer`)

var colours = words(`red blue green black white grey yellow orange purple brown pink silver beige navy`)

var brands = words(`
	Norvik Altura Brightway Kestrel Lumo Tivoli Harrow Zenda Osprey Maren Calder Fjordline Pinecrest Veloce Sorrel Quanta
	Bluefin Ardent Solace Hexa Nimbus Terrano Orbis Castel Wrenfield Ilmari Kobe Sandler Moxley Juniper`)

var companyEnds = lines(`
	AS
	Ltd
	GmbH
	Inc.
	Labs
	Group
	& Sons
	Logistics
	Consulting
	Bakery
	Studio
	Partners
	Systems
	Foods
	Motors
	Press
	Design
	Energy
	Clinic
	Software`)

var streetNames = lines(`
	Mill Road
	Church Street
	Station Road
	Park Avenue
	High Street
	Elm Street
	Harbour Lane
	Oak Lane
	Queen Street
	Bridge Street
	Market Square
	Garden Row
	Hill Street
	River Walk
	Forest Drive
	King's Road
	Maple Avenue
	Castle Street
	Victoria Road
	Lake View`)

var streetStems = words(`Linden Garten Bahnhof Schul Kirch Berg Haupt Wald Rosen Mühl Birken Wiesen`)
var streetFronts = lines(`
	Rue de
	Calle
	Via
	Rua
	Avenida
	Plaza
	Boulevard
	ulica
	Storgata
	Place`)

var venues = lines(`
	the town hall
	the city library
	room 12
	room 204
	the north hall
	the old brewery
	the community centre
	the harbour museum
	the main auditorium
	the school gym
	the botanical garden
	Studio B
	Hall 3
	the concert house
	the river stage
	the meeting room on the second floor
	the university canteen
	Café Central
	the Blue Room
	the sports park`)

var events = lines(`
	book fair
	jazz night
	team meeting
	board meeting
	poetry reading
	science day
	spring concert
	chess tournament
	charity run
	art opening
	cooking class
	product launch
	design workshop
	safety training
	film evening
	budget review
	parents' evening
	street market
	choir rehearsal
	photo walk
	summer party
	coding workshop
	annual conference
	garden tour
	wine tasting
	job interview
	quarterly review
	language exchange
	flea market
	fire drill`)

var months = words(`January February March April May June July August September October November December`)
var weekdays = words(`Monday Tuesday Wednesday Thursday Friday Saturday Sunday`)

var services = words(`auth billing checkout search mailer gateway scheduler indexer payments profile inventory storage metrics router
	cache sync uploader notifier reports session worker api-server db-proxy image-resizer`)

var logTexts = lines(`
	connection refused
	request timed out
	disk almost full
	user logged in
	user logged out
	cache miss
	payment declined
	retrying after failure
	job finished
	job started
	configuration reloaded
	invalid token
	permission denied
	out of memory
	backup completed
	certificate expires soon
	queue is full
	upstream returned an error
	file not found
	slow query
	health check passed
	rate limit reached`)

var topDomains = words(`com org net io eu de no fr co.uk es it pl dev info`)

// Consonants and vowels of made-up names: what the model meets in use is
// mostly not in any list.
var onsets = words(`b br d dr f g gr h j k kl l m n p pr r s st t tr v w z ch sh th kr fl gl y`)
var nuclei = words(`a e i o u ai ea ei ia io oa ou ue`)
var codas = append(words(`n r s l m t k x nd rt sk lm ns ng ck th`), "", "", "", "", "")
