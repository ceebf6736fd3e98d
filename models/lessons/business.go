package lessons

import (
	"fmt"
	"strconv"
	"strings"
)

func slotOf(name, typ string, keys string, desc string, make func(g *gen, r record) value) slot {
	return slot{name: name, typ: typ, keys: words(keys), desc: lines(desc), make: make}
}

var meetings = domain{
	subject:  "event",
	prefixes: []string{"event", "meeting", "appointment"},
	slots: []slot{
		slotOf("event", "string", `title event event_name name event_title what subject meeting activity happening occasion name_of_event what_happens the_event event_type headline topic meeting_title programme
			occasion_name event_subject meeting_subject meeting_name event_heading appointment_title calendar_title
			activity_name event_summary summary agenda_title session_title session_name gathering event_topic entry_title
			meeting_topic event_label`, `What takes place
			Name of the event
			Title of the event
			The name of the meeting
			What the calendar entry is called
			What people are invited to
			The kind of meeting or activity`,
			func(g *gen, r record) value { return text(g.occasion()) }),
		{name: "date", typ: "string", format: "date", keys: words(`date day event_date on when start_date scheduled_date meeting_date the_date date_of_event on_which_day takes_place_on day_of_event calendar_date starts_on
			event_day meeting_day scheduled_on scheduled_for date_held held_on calendar_day appointment_date occurs_on planned_date planned_for
			session_date start_day on_date date_of_meeting date_start day_of_meeting`), desc: []string{"Day of the event", "The date",
			"Date of the event", "The day on which it takes place", "On which day people meet", "When it is, without the time", "Calendar day of the meeting"},
			make: func(g *gen, r record) value { return g.date(2023, 2027) }},
		slotOf("time", "string", `time start_time starts_at start begin begins_at time_of_day clock hour the_time begin_time starting_time time_start when_it_starts opening_time event_time
			starting_at begins start_hour time_of_start beginning_time kickoff kickoff_time begin_at doors_open
			scheduled_time meeting_time time_begin event_start_time appointment_time session_start time_from from_time
			start_clock_time`, `When it begins
			Time of day
			Start time
			When the event starts
			The hour at which it starts
			Time at which people should be there
			Clock time of the beginning`,
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("end", "string", `end_time ends_at until end finish finish_time ends end_of_event time_end finishes_at the_end closing_time over_at
			end_hour ending_time time_of_end ends_by finish_at until_time time_until event_end_time meeting_end event_end
			session_end end_at ending ends_when finishing_time wrap_up_time time_to end_clock_time`, `When it ends
			End time
			Time at which it is over
			When the event finishes
			The hour at which it ends
			How long it goes on, as a time of day
			Clock time of the end`,
			func(g *gen, r record) value { return text(g.clock()) }),
		slotOf("venue", "string", `location venue place where room event_location meeting_place building the_place venue_name site hall meeting_room where_it_is place_of_event event_venue
			location_name venue_location event_place event_site place_name meeting_location room_name where_held held_at
			hall_name facility facility_name premises meeting_point venue_or_room building_name where_it_takes_place
			location_of_event`, `Where it takes place
			The room or building
			Name of the venue
			The place of the meeting
			Where people should go
			Venue of the event, without the city
			Room, hall or building in which it is held`,
			func(g *gen, r record) value { return text(g.venue()) }),
		slotOf("city", "string", `city town event_city the_city city_name in_city host_city venue_city municipality town_of_event
			city_of_event town_name location_city event_town locality city_or_town event_municipality meeting_city
			which_city held_in_city city_of_venue venue_town where_city in_which_city`, `The city
			City in which it takes place
			The town of the event
			Name of the city or town
			City of the venue
			In which city people meet`, func(g *gen, r record) value { return text(g.city()) }),
		slotOf("host", "string", `organizer host organised_by contact speaker host_name organiser organised_by_whom invited_by presenter responsible leader person_in_charge contact_person the_host event_host lecturer
			organizer_name organiser_name event_organizer event_organiser host_person hosted_by led_by speaker_name
			presenter_name contact_name chaired_by chairperson moderator facilitator coordinator event_lead
			point_of_contact session_leader arranged_by`, `Who organises it
			The host
			Full name of the organiser
			Person in charge of the event
			Who leads or hosts it
			Name of the contact person
			The person who invites`,
			func(g *gen, r record) value { return text(g.fullName(g.chance(0.5))) }),
		slotOf("guests", "integer", `attendees participants guests seats capacity max_participants number_of_guests people guest_count head_count places number_of_people max_guests attendee_count expected_guests how_many participant_count size
			number_of_attendees number_of_participants number_of_seats seat_count max_attendees max_capacity attendance
			expected_attendance expected_attendees participants_count guests_expected people_count total_guests
			total_attendees visitor_count visitors group_size invitee_count places_available`, `How many people
			Number of people
			How many people take part
			Number of guests or seats
			How many can come or are expected
			Size of the audience`,
			func(g *gen, r record) value { return number(g.between(3, 400)) }),
		slotOf("fee", "number", `price fee cost ticket_price entry_fee admission costs entrance_fee price_of_ticket ticket_cost amount the_fee charge entry ticket
			admission_fee admission_price participation_fee ticket_fee registration_fee entry_price entrance_price
			attendance_fee price_per_person fee_per_person cost_per_person price_per_ticket ticket_amount event_fee
			event_cost fee_amount entry_cost admission_cost`, `What it costs
			Price of a ticket
			Entry fee
			What a person pays to take part
			Cost of admission as a number
			Fee per person, without the currency`, func(g *gen, r record) value { return g.amount(80) }),
	},
	opens: lines(`
		The {event} takes place on {date} at {time}.
		You are invited to the {event} on {date}.
		Join us for the {event} at {venue}!
		Reminder: {event} on {date}, {time}, {venue}.
		Save the date: {event}, {date}.
		On {date} at {time} there will be a {event} at {venue}.
		{host} invites you to the {event} in {city}.
		The next {event} is on {date}.
		Our {event} starts at {time} in {venue}.
		{event} - {date} - {venue}
		Come to {venue} on {date} for the {event}.
		We are planning a {event} for {guests} people on {date}.
		Hello all, the {event} has been moved to {date}.
		{event} on {date} from {time} to {end} in {venue}.
		{event}: {date}, {time}, {city}
		The {event} with {host} starts at {time} on {date}.
		Don't forget the {event} at {time}!
		We meet for the {event} on {date} at {venue}.
		Team, the {event} will be held at {venue} at {time}.
		The {event} in {city} begins on {date} at {time}.
		There will be a {event} on {date}.
		Please note the new date of the {event}: {date}.
		The {event} has {guests} participants so far.
		Invitation: {event}, {venue}, {date}, {time}
		{host} organises a {event} at {venue}.
		See you at the {event} on {date}, {time}.
		At {time} on {date} we open the {event}.
		Tickets for the {event} cost {fee} euros.
		This is about the {event} at {venue}.
		The {event} is <scheduled|set|planned|fixed> for {date} at {time}.
		<Just|Only> a <quick|short|friendly> reminder that the {event} is on {date}.
		We are <happy|pleased|delighted|excited> to invite you to <the|our> {event} on {date}.
		<Dear|Hello> <all|colleagues|friends|members>, the {event} <will take place|takes place|will be held> on {date} in {venue}.
		<Hi everyone|Hi team|Hey folks|Hello everybody>, <we're having|we are having|there's going to be> a {event} on {date}.
		Please <join|come to|attend> the {event} on {date} at {venue}.
		You are <warmly|cordially|kindly> invited to <attend|join> the {event} at {venue}, {city}.
		What: {event}. When: {date}, {time}. Where: {venue}.
		Subject: {event} <on|for> {date}
		Re: {event}, {date}
		{host} is <hosting|organising|organizing|running|putting on> <a|the> {event} on {date}.
		{host} would be <happy|glad|delighted> to <see|welcome> you all at the {event} on {date}.
		{host} has <invited|asked> us to the {event} at {venue}.
		{city} <hosts|welcomes|gets ready for> the {event} on {date}.
		This year's {event} <takes place|is held|will be> in {city}.
		Mark your <calendars|calendar|diaries>: the {event} is <coming up|happening> on {date}.
		The {event} has been <rescheduled|postponed|shifted> to {date}, {time}.
		Sorry for the <change|confusion|late notice>: the {event} is now on {date} at {time}.
		<Can|Could> you <make it to|come to|join us for> the {event} on {date}?
		<Are you free|Do you have time|Are you around> for <the|a> {event} on {date} at {time}?
		Who is <coming|going> to the {event} at {venue}?
		<Let's|Let us> <hold|have|do> the {event} on {date} at {venue}.
		I have <booked|reserved> {venue} for <the|our> {event} on {date}.
		I've <put|entered> the {event} <into|in> the calendar for {date}, {time} <to|until> {end}.
		Registration for the {event} in {city} is <open|now open|open to all>.
		<Sign up|Register|Book now> for the {event} with {host}<!|.>
		<Calendar entry|Calendar|Diary note>: {event}, {time} to {end}, {venue}
		<Meeting request|Meeting invite|Calendar invitation> from {host}: {event}, {date}
		<Upcoming|Coming up|Next up>: {event}, {venue}, {city}
		<Announcement|Notice|News>: the {event} <begins|starts> at {time} on {date}.
		At last: the {event} is back on {date}<!|.>
		After a long <break|pause>, the {event} <returns|comes back> to {venue} on {date}.
		<It's official|Good news>: the {event} <comes to|will be in> {city} on {date}.
		The <organisers|organizers|planners> of the {event} <expect|are expecting|hope for> {guests} <visitors|guests|people>.
		Up to {guests} people <can|may> <attend|join> the {event} <in|at> {venue}.
		<Entry|Admission|Entrance> to the {event} <is|costs> {fee} euros.
		<A ticket|A seat|A place> for the {event} <costs|is> <€|£|$>{fee}.
		The {event} <kicks off|gets under way|gets going> at {time} in {venue}.
		The {event} <runs|goes on|lasts> from {time} <to|until|till> {end}.
		The {event} will be <led|run|hosted|chaired> by {host}.
		Thank you for <signing up|registering> for the {event} on {date}.
		Your <place|seat|booking> for the {event} at {venue} is <confirmed|reserved>.
		We <confirm|have received> your <registration|booking> for the {event}, {date}, {city}.
		<Hey|Hi>, <don't forget|remember> <the|our> {event} on {date}<!|, ok?|, right?>
		<FYI|By the way|Heads up>: {event} on {date}, {time}.
		<Are you coming|Will you come|Do you want to come> to the {event}? It is on {date}.
		<Minutes|Notes|Agenda|Programme> <of|for> the {event}, {date}, {venue}
		The <club|school|company|council> is <holding|planning|preparing> a {event} on {date} in {city}.
		As <agreed|discussed|promised>, the {event} is on {date} from {time} <to|until> {end}.
		<Everything|All> is ready for the {event} <at|in> {venue} on {date}.
		Last call for the {event} in {city} on {date}!
		The {event}, <hosted|organised|organized|led> by {host}, is on {date}.
		<I am|I'm> <writing|getting in touch> about the {event} at {venue}, which <starts|begins> at {time}.
		<Would you like|Do you want> to <join|see> the {event} with {host} in {city}?
	`),
	sentences: lines(`
		It starts at {time}.
		Doors open at {time}.
		We begin at {time} and end at {end}.
		It ends at {end}.
		It lasts until {end}.
		From {time} to {end}.
		The venue is {venue}.
		It takes place at {venue}.
		We meet at {venue} in {city}.
		Location: {venue}
		Place: {venue}, {city}
		The city is {city}.
		It is organised by {host}.
		{host} is the host.
		Questions go to {host}.
		{host} will speak.
		There is room for {guests} people.
		{guests} guests are expected.
		At most {guests} people can take part.
		Entry costs {fee} euros.
		Tickets are {fee} each.
		The fee is {fee}.
		The date is {date}.
		Date: {date}
		It is on {date}.
		Topic: {event}
		It is about the {event}.
		Be there at {time}.
		Please come at {time}.
		Start: {time}
		Time: {time}
		End: {end}
		It should be over by {end}.
		We close at {end}.
		It runs until {end}.
		We come together in {venue}.
		Come to {venue}.
		Where: {venue}
		When: {date}, {time}
		It will be held in {city}.
		All of it happens in {city}.
		Host: {host}
		Speaker: {host}
		The talk is given by {host}.
		{host} is in charge.
		Ask {host} if you have questions.
		{host} leads it.
		We expect {guests} people.
		Seats: {guests}
		The room holds {guests}.
		{guests} people have signed up.
		There are {guests} places.
		Price: {fee}
		Admission is {fee} euros.
		You pay {fee} at the door.
		A ticket costs {fee}.
		It happens on {date}.
		The day is {date}.
		Write {date} into your calendar.
		The <occasion|reason|subject> is the {event}.
		<What we have planned|What is planned> is a {event}.
		We are <talking|speaking> about the {event}.
		The <title|name> <is|will be> {event}.
		<Event|What|Occasion>: {event}
		<On the programme|On the agenda|In the calendar>: {event}
		It is <called|announced as|known as> "{event}".
		All of this is for the {event}.
		The <meeting|event> is <listed|entered> as "{event}".
		<Planned|Coming up>: a {event}.
		<Hope|We hope> to see you at the {event}<!|.>
		We <really |>look forward to the {event}.
		Everyone is <talking|excited> about the {event}.
		It <will take place|is held|is happening> on {date}.
		The <event|meeting> is <scheduled|planned|set> for {date}.
		We <have chosen|agreed on|settled on|picked> {date}.
		Please <keep|leave> {date} free.
		On {date} we <meet|get together|come together>.
		<Day|Scheduled for|Planned for>: {date}
		The <new|final> date is {date}.
		It <had to be|was|has been> moved to {date}.
		See you on {date}<!|.>
		<Can|Could> you <come|make it|be there> on {date}?
		<Does {date} work|Is {date} fine|Is {date} all right> for you?
		That <will be|is going to be|would be> {date}.
		{date} is the <day|big day>.
		It is on {date}, <starting|beginning> at {time}.
		We meet on {date} <at|from> {time}.
		On {date}, {time} <to|until> {end}.
		Date and time: {date}, {time}
		Date and place: {date}, {venue}
		<When and where|Where and when>: {date}, {venue}
		<The start is|It kicks off|We kick off|We get going|Things get under way> at {time}.
		<Kick-off|Beginning|Starting time|Start time>: {time}
		Please be <seated|there|ready> by {time}, when we start.
		<We start|It starts> <sharp|promptly|punctually> at {time}.
		The <first talk|programme|opening> <begins|starts> at {time}.
		<Come along|Turn up|Show up> at {time}<, please|>.
		At {time} <we start|we begin|it all begins|the doors open>.
		Everything <starts|begins> at {time}.
		<See you|We see each other> at {time}.
		<Does {time} work|Is {time} okay|Is {time} fine> for you?
		The <start|beginning> is <planned|scheduled|set> for {time}.
		It <opens|gets started> at {time}.
		It <finishes|is over|closes|wraps up> at {end}.
		We <finish|stop|wrap up|should be done> <at|by> {end}.
		We will let you <go|leave> at {end}.
		<Closing time|Finish|Until|Ends at>: {end}
		The <last|final> <part|item|talk> <ends|finishes> at {end}.
		It <goes on|continues|will last> until {end}.
		At {end} <we close|it ends|the doors close|it is all over>.
		<Plan|Please plan> to stay until {end}.
		The end is <planned|expected> <at|for> {end}.
		We have the <room|place> until {end}.
		Expect to be <done|finished|out> by {end}.
		It won't <go on|last> <longer than|beyond> {end}.
		<Open|Opening hours|Hours> from {time} <to|till> {end}.
		Time: {time} <-|to|until> {end}
		It runs from {time} <to|until> {end}.
		<Some time between|Between> {time} and {end}.
		<Start|Begin> {time}, <end|finish> {end}
		We have <planned|booked> {time} <to|until> {end}.
		It <begins|starts> at {time} and <is over|finishes> at {end}.
		{time} <to|until|till> {end}
		<We gather|We will meet|Let's meet|We are meeting> <at|in> {venue}.
		It <will be|is> <at|in> {venue}.
		The <location|place|meeting place> <is|will be> {venue}.
		Everything <happens|takes place> <at|in> {venue}.
		<Find|You will find|You'll find> us <at|in> {venue}.
		<Meeting place|Room|Venue|Meeting point>: {venue}
		We have <booked|rented|reserved> {venue}.
		Please <go|come|head> <straight |directly |>to {venue}.
		The doors of {venue} are open to <all|everyone>.
		This time we <are in|use|have> {venue}.
		It has been <moved|switched|changed> to {venue}.
		<We'll see you|Meet us> <at|in> {venue}.
		It is <at|in> {venue}, {city}.
		<We meet|Join us> <at|in> {venue}, in the <heart|centre|middle> of {city}.
		The <place|location> is {venue} in {city}.
		<Where|Place and city>: {venue}, {city}
		We <start|begin> <in|at> {venue} at {time}.
		<Come|Walk over> to {venue} at {time}<, please|>.
		Meet <us|me> at {venue} at {time}.
		The <host city|town for this> is {city}.
		It <takes place|is held|happens> in {city}.
		We <meet|come together|gather> in {city}.
		This time we <go|travel|are off> to {city}.
		<Town|Host city|The town>: {city}
		<You are|You will be> <our guests|welcome> in {city}.
		{city} is the <city|town> <to be in|where it happens>.
		Please <book|plan> your <trip|journey> to {city} <early|in time|soon>.
		The <whole|entire> event is in {city}.
		See you in {city}<!|.>
		<People|Guests> <come|travel> to {city} <for it|from everywhere>.
		We are <glad|happy|proud> to be in {city}.
		In {city}, <as always|as every year|for the first time>.
		<The host|The organiser|The organizer|The person in charge|The contact person> is {host}.
		{host} <hosts|organises|organizes|runs|chairs|moderates> it.
		It is <led|run|hosted|chaired|presented> by {host}.
		{host} will <give the talk|lead the discussion|welcome you|open it|be your host>.
		For <questions|details|further information>, <contact|ask|write to|turn to> {host}.
		Please <contact|write to|get in touch with> {host} if you <cannot come|need help|have questions>.
		{host} <looks forward|is looking forward> to <seeing|meeting> you.
		<Organiser|Organizer|Contact|Presenter|Chair>: {host}
		Your <host|contact|speaker> <is|will be> {host}.
		{host} is <organising|organizing|preparing|hosting> <everything|the whole thing|it>.
		<Sign up|Register|Book a place> with {host}.
		<Let|Please let> {host} know <if you are coming|whether you can come|what you think>.
		Many thanks to {host}, who <organises|hosts|leads> it.
		Kind regards, {host} (<organiser|organizer|host>)
		{host} <invites|welcomes> you.
		All is in the hands of {host}.
		{host} <opens|starts> it at {time}.
		{host} <welcomes|meets> you <at|in> {venue}.
		{host} welcomes {guests} <guests|people|visitors>.
		{guests} people <are coming|will come|have registered|have said yes|will attend>.
		<There is space|We have room|There is seating> for {guests}<| guests| people>.
		<Up to|No more than|At most> {guests} <guests|participants> can <come|join|attend>.
		<Number of guests|Places|Capacity|Participants|Guests|Attendees>: {guests}
		The <group|number of participants> is limited to {guests}.
		We have {guests} <seats|places|chairs>.
		<Limited to|Space for|Open to> {guests} people.
		{guests} <places|seats|tickets> are <available|on offer>.
		We are <expecting|counting on|planning for> {guests} <guests|visitors|people>.
		We have ordered <food|coffee|cake> for {guests}<| people>.
		The <hall|room|place> <seats|has seats for|can hold> {guests} <people|guests>.
		{guests} of us <will|are going to> be there.
		So far {guests} have <registered|signed up|answered>.
		We will be {guests} people <in all|in total|altogether>.
		There are {guests} <seats|chairs> <in|at> {venue}.
		{guests} people, {fee} euros <each|per person|a head>.
		The <fee|price> is {fee} euros and there <are|will be> {guests} <places|seats>.
		<It costs|You pay|We charge|We ask for> <€|£|$>{fee}.
		Tickets <cost|are|go for> {fee} <euros|pounds|dollars>.
		<Entry|Entrance|Admission> is <€|£|$>{fee}.
		<Ticket|Entry fee|Tickets|Cost|Fee>: {fee} <EUR|euros|USD>
		The <entry fee|ticket price|cost|charge> is {fee} <euros|dollars|pounds>.
		Please <pay|bring|transfer> {fee} euros <in cash|in advance|at the door>.
		<Taking part|Joining|A place> costs {fee} <euros|dollars>.
		The price <per person|of a ticket|for one> is {fee}.
		For {fee} euros <a head|each|per person> you can <join|take part>.
		<It is|That is> <only |just |>{fee} euros <per person|a head>.
		<We have to charge|There is a charge of|There is a fee of> {fee} <euros|pounds>.
		You can <buy|get> a ticket for {fee} <euros|dollars|pounds>.
		{fee} euros <covers|pays for> <everything|the day|food and drinks>.
		How much? {fee} <euros|pounds>.
		{date}, {time}, {venue}
		<Join us|Meet us> in {city} on {date} at {time}.
		It is on {date} <at|in> {venue} in {city}.
		We meet on {date} from {time} <to|until> {end}.
		Start {time}, end {end}, entry {fee} euros
		A quick note: it is on {date}.
		{host} is putting it on.
		It's in {city}.
		The house closes at {end}.
		The last talk wraps up by {end}.
		The party continues <to|till> {end}.
		{host} has rented {venue}.
		The seating is for {guests}.
		Taking part is {fee} euros.
	`),
	noise: lines(`
		Please bring a pen.
		Coffee will be served.
		Children are welcome.
		Do not be late.
		There is parking behind the house.
		We look forward to seeing you.
		Please confirm by email.
		Last year it rained.
		Bring a friend.
		The bus stops nearby.
		<Drinks|Snacks|Tea and cake> will be <provided|served|on the table>.
		Lunch is <included|not included>.
		The <lift|elevator> is <out of order|being repaired>.
		<Please|Kindly> switch off your phones.
		There is free <wifi|internet|parking>.
		Last year <150|90|more than 200> people came.
		Last time we were far too many.
		Maria will bring the cake.
		The <slides|documents|papers> will be sent <later|afterwards|by email>.
		Dress <warmly|smartly|casually>.
		It will be <fun|great|interesting|worth it>.
		If it rains, we bring umbrellas.
		<Feel free to|You can> bring your <family|children|dog|laptop>.
		The <parking|car park> fills up quickly.
		<Dogs|Pets> are <allowed|not allowed>.
		Sorry for the short notice.
		<Thanks|Thank you> for your <patience|help|reply>.
		<Please|Can you> let us know if you have any allergies.
		<Take|You can take> bus 14 from the station.
		You do not need to <prepare|bring|buy> anything.
		Everyone <gets|receives> a small present.
		The <weather|food|music> should be <good|fine|great>.
		There will be <a break|time for questions|live music|a raffle>.
		We will <take|post> some <photos|pictures>.
		<I can't wait|We can't wait>!
		The programme <will follow|is attached|is below>.
		<Wheelchair access|A cloakroom|A quiet room> is available.
		<Hotels|Rooms> nearby <start at|cost around> 85 a night.
		Please <read|check> the attached <document|programme|agenda> before.
		<Any questions?|Questions?> Just reply.
		<Let me know what you think|Tell me what you think>.
		The last <one|meeting> was <a great success|a bit long|very good>.
		<Best|Regards|Cheers>, the team
		<See below for details|More details will follow|More information soon>.
		Spread the word!
		If you <cannot come|can't make it>, please <tell us|let us know>.
		Bring your own <cup|chair|lunch>.
		The library next door is closed <for repairs|in summer>.
		No <experience|preparation> is needed.
		We had 3 of these last year.
		You will get a <certificate|confirmation> afterwards.
		This <message|invitation> may be <forwarded|shared>.
		You are cordially invited!
		The slides will be in English.
	`),
	requests: lines(`
		Extract the event.
		Add this to my calendar.
		When and where is it?
		Make a calendar entry.
		What is planned?
		Find the event's data.
		Parse the invitation.
		Event details as JSON.
		Which event is announced?
		<Extract|Pull out|Get> the <event details|details of the event|meeting details>.
		<Put|Enter> this <into|in> my <calendar|diary>.
		<Turn|Convert> this <into|to> a calendar <entry|event>.
		What is <happening|going on>, and <when|where>?
		<Read|Scan> the <invitation|announcement|message> and <fill in|return> the fields.
		<When|Where> is the <meeting|event>?
		<Fill in|Complete> the <form|fields> for this <event|meeting>.
		<Get|Give me> date, time and place.
		<Summarise|Summarize> the <event|invitation> as JSON.
		<Which|What> <meeting|appointment> is this about?
		I need the <details|facts|data> of this <event|meeting|appointment>.
		<Schedule|Plan> this for me.
		<Save|Store> this <event|appointment>.
		What do I need to know about this <event|meeting>?
		<Create|Make|Prepare> <an event record|an event entry|an event> from this <message|text|mail>.
		<Please |>extract <when and where|what takes place and when>.
		<Please |>parse this <invite|announcement|notice>.
		Event data, please.
		Who invites whom, to what, and when?
		<Return|Output|Write> the event as <JSON|structured data>.
		<Find|List> all <details|facts> of the <event|meeting>.
		Can you <add|put> this <to|in> the calendar?
		Here is an <invitation|announcement>. <Extract|Find> the details.
		Calendar data:
		What should I <put|write> in my <calendar|diary>?
		<Tell me|Show me> the key <facts|details> of this event.
	`),
	labels: true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"event", "meeting", "appointment", "entry"},
}

var addresses = domain{
	subject:  "name",
	prefixes: []string{"shipping", "billing", "home", "delivery"},
	slots: []slot{
		slotOf("name", "string", `name recipient addressee full_name company receiver who to deliver_to ship_to_name name_of_recipient resident addressee_name recipient_name
			recipient_full_name receiver_name addressed_to person_or_company contact_name deliver_to_name occupant
			occupant_name resident_name attention_to attn consignee consignee_name receiving_party name_on_label
			name_on_parcel party_name`, `Who lives there
			Name of the recipient
			Person or company at this address
			To whom it is addressed
			Full name or company name
			The name on the door or label`,
			func(g *gen, r record) value {
				if g.chance(0.4) {
					return text(g.company())
				}
				return text(g.fullName(g.chance(0.5)))
			}),
		slotOf("street", "string", `street street_address address_line address line1 street_and_number road street_name address_line_1 the_street street_line street_with_number
			street_addr street_and_house_number address_street road_name address1 address_1 addr_line1 street_1
			thoroughfare street_address_line house_and_street road_and_number first_address_line street_part street_and_no`, `Street and house number
			Street with house number
			First line of the address
			The road and the number of the house
			Street part of the address
			Street address, without city and postal code`, func(g *gen, r record) value { return text(g.street()) }),
		slotOf("zip", "string", `zip postal_code postcode zip_code post_code zipcode postal the_zip code_of_city zip_or_postcode postal_number
			zip_number postal_code_number mail_code mailing_code postcode_number zip_postal_code postal_zip address_zip
			address_postcode plz post_code_number postal_area_code delivery_postcode city_zip pincode pin_code`, `Postal code
			ZIP or postal code
			The postcode of the address
			Code of the postal area
			Post code as it is written
			Postal code that stands beside the city`, func(g *gen, r record) value { return text(g.zip()) }),
		slotOf("city", "string", `city town place city_name the_city municipality city_or_town village locality town_name
			address_city town_or_city city_part city_of_address city_town city_of_residence post_town address_locality
			town_or_village name_of_city name_of_town which_city settlement`, `The city
			Name of the city or town
			Town of the address
			City or village
			In which city it is
			The place that the postal code belongs to`, func(g *gen, r record) value { return text(g.city()) }),
		slotOf("country", "string", `country country_name nation land the_country state destination_country country_of_delivery
			country_of_address address_country country_of_residence which_country destination_land nation_name
			country_full_name name_of_country country_part country_or_region in_which_country home_country
			delivery_country`, `The country
			Name of the country
			Country of the address
			In which country it is
			The country as it is written
			Country of destination`, func(g *gen, r record) value { return text(g.country()) }),
		slotOf("floor", "integer", `floor storey floor_number level
			floor_no floor_level building_floor storey_number story level_number which_floor level_in_building
			floor_of_building on_floor apartment_floor flat_floor storey_no`, `The floor
			Number of the floor
			Floor of the building
			On which floor it is
			Level in the building
			The storey, as a number`, func(g *gen, r record) value { return number(g.between(1, 30)) }),
	},
	opens: lines(`
		{name}, {street}, {zip} {city}, {country}
		Please send it to {name}, {street}, {zip} {city}.
		The parcel goes to {street}, {city}, {country}.
		{name} has moved to {street}, {zip} {city}.
		Ship to: {name}, {street}, {city} {zip}
		My new address is {street}, {zip} {city}.
		You find us at {street} in {city}, {country}.
		Deliver to {name} at {street}, {city}.
		I live at {street} in {city}.
		Address of {name}: {street}, {zip} {city}
		<Please|Kindly> address <it|the letter|the parcel> to {name}, {street}, {zip} {city}, {country}.
		{name}, <c/o reception, |>{street}, {city}
		The <letter|package|invoice> <is for|goes to> {name}, {street}, {zip} {city}.
		<We have|We've|I have|I've> moved! The new address is {street}, {zip} {city}.
		<From now on|From today>, {name} is at {street}, {city}.
		<Send|Mail|Post> it to {street}, {zip} {city}, {country}<, please|>.
		<Shipping address|Billing address|Delivery address|Postal address|Home address>: {name}, {street}, {zip} {city}
		<Our|The> <office|shop|studio|warehouse> is at {street} in {city}.
		<Our|The> <new |>address in {country} is {street}, {zip} {city}.
		You can <write to|visit|find> {name} at {street}, {city}.
		<Could|Can> you <send|deliver|bring> <this|it|the parcel> to {street} in {city}?
		<To|Attn.|Recipient>: {name}, {street}, {zip}, {city}
		<Bill to|Send to|Return to|Mail to>: {name}, {street}, {city}, {country}
		{street}, {city} is where <the parcel|it|the letter> has to go.
		<I live|I'm staying|I am> at {street}, {zip} {city}, floor {floor}.
		Deliver to floor {floor}, {street}, {city}.
		<Pick it up|Collect it> from {name}, {street}, {zip} {city}.
		<Hi|Hello>, <please change|please update> <my|our> address to {street}, {zip} {city}, {country}.
		{name} <lives|is based|can be found> at {street}, {zip} {city}.
		<Here is|This is> the address of {name}: {street}, {city}, {country}
		The <company|customer> is {name}, in {city}, {country}.
		The <driver|courier> should go to {street}, {zip} {city}.
		<Return|Sender's> address: {name}, {street}, {zip} {city}
		Where <to|should we> deliver: {street}, {city} {zip}, {country}
		<Visit|Come and see> us at {street}, {zip} {city}<!|.>
		Name and address: {name}, {street}, {zip} {city}, {country}
	`),
	sentences: lines(`
		The street is {street}.
		The postal code is {zip}.
		It is in {city}.
		That is in {country}.
		Country: {country}
		{who} lives on floor {floor}.
		Ring at the door on floor {floor}.
		City: {city}
		{who} lives in {city}, {country}.
		It is for {who}.
		Postcode {zip}
		The town is called {city}.
		<Street|Street and number|Address line|Road>: {street}
		The <house|building|office|flat> is at {street}.
		<You find|You will find|Look for> the <house|entrance|door> at {street}.
		The address <is|was changed to|should read> {street}.
		The <street and number are|exact street address is> {street}.
		It <has to go|should go|goes> to {street}.
		{who} <is|can be found> at {street}.
		The <parcel|letter|driver> <has to|must|should> <go|come> to {street}.
		<Zip|Zip code|Postal code|Post code|Code>: {zip}
		The <postcode|zip code|zip|post code> is {zip}.
		<Use|Please use|Don't forget> the <postcode|postal code|zip code> {zip}.
		The <postal code|postcode> <for this address|of the town> is {zip}.
		With the <zip code|postcode|postal code> {zip} it <arrives|gets there> <faster|sooner>.
		{zip} is the <right|correct> <postcode|zip code>.
		<Place|Town|City>: {city} ({zip})
		<Postcode and town|Zip and city>: {zip} {city}
		It <goes|has to be sent|will be delivered> to {zip} {city}.
		<Town|Place|Location>: {city}
		It is a <house|flat|shop|place> in {city}.
		The <town|place|village> is {city}.
		We are <talking about|sending it to> {city}.
		{who} is in {city} <now|these days|at present>.
		The <delivery|parcel> <goes|will go> to {city}.
		In the <town|city> of {city}.
		{city} is where {who} <is|can be found>.
		<Land|Nation|Destination country>: {country}
		The country is {country}.
		It is <somewhere |>in {country}.
		It <goes|is sent|travels> to {country}.
		Please <write|add> "{country}" on the <label|envelope|parcel>.
		The <parcel|letter|shipment> is <going to|for> {country}.
		<Shipping|Postage> to {country}.
		{who} <is|can be reached> in {country}.
		{city} is in {country}.
		City and country: {city}, {country}
		<Floor|Level|Storey>: {floor}
		Take the <stairs|lift|elevator> to floor {floor}.
		The <flat|office|door|apartment> is on <floor|level> {floor}.
		Please come up to <floor|level> {floor}.
		It has to be <carried|brought> up to floor {floor}.
		<Floor|Level> {floor}, <left|right|at the back|first door>.
		{who} is on <floor|level> {floor}.
		<Recipient|Addressee|Receiver|Name|To>: {who}
		The <recipient|receiver|addressee> is {who}.
		<The name on the door|The name on the bell|The name on the label> is {who}.
		<Hand it to|Give it to|Ask for|Ring at> {who}.
		It should be <addressed|delivered|handed> to {who}.
		Just now {who} is staying in {city}.
		We are sending it to {street}.
	`),
	noise: lines(`
		Please ring twice.
		The door is green.
		Leave it with the neighbours.
		Thank you!
		It is near the station.
		The old address is no longer valid.
		<Please|Kindly> call <before delivery|when you arrive>.
		The <bell|lift|intercom> is <broken|out of order>.
		<Beware of|Mind> the dog.
		Use the <back|side> <entrance|door>.
		There is a <bakery|pharmacy|café> next door.
		We are <usually |>at home <in the evening|in the morning|all day>.
		The gate code is 4711.
		The parcel weighs 3 kg.
		<If nobody is in|If we are out>, <leave it at the door|try next door>.
		<Many thanks|Thanks a lot|Cheers>!
		Parking is <difficult|easy|behind the house>.
		It is a <yellow|white|big|small> <house|building>.
		<Handle|Please handle> with care.
		The <letter box|mailbox> is <downstairs|by the gate>.
		We moved <last month|in spring|a year ago>.
		The <package|letter> is not urgent.
		It takes five minutes from the <bus stop|station|market>.
		Beware of the step.
	`),
	requests: lines(`
		Extract the address.
		Where should it go?
		Parse the address.
		Split the address into its parts.
		Give me the address.
		Find the postal address.
		Address as JSON
		<Get|Pull out|Find> the <address|delivery address|full address>.
		<Read|Take down|Write down> the address.
		What is the <address|postal address|new address>?
		Where <does|should> the <parcel|letter|driver> go?
		<Fill in|Complete> the <address form|shipping label|address fields>.
		<Turn|Convert> this <into|to> an address <record|entry>.
		<Return|Output|Give me> the address as <JSON|structured data>.
		Where <is it|does it go>, exactly?
		<Please |>extract the <parts|fields> of the address.
		<Make|Print|Prepare> a shipping label <for|from> this.
		Who <gets|receives> it, and where?
		<Save|Store|Add> this address.
		<Update|Change> the address in our <system|records>.
		Address data, please.
		Which address is <meant|given|mentioned> here?
		<Separate|Split> street, town and <the rest|so on>.
		Here is an address. <Parse|Extract> it.
	`),
	labels: true, least: 2, most: 5, missing: 0.05,
	wholeNames: []string{"address", "destination", "recipient"},
}

var stock = []string{"in_stock", "out_of_stock", "preorder"}
var stockWords = map[string][]string{
	"in_stock": {"in stock", "available now", "ready to ship", "on the shelf",
		"in stock and ready to ship", "available immediately", "available for immediate delivery", "on hand", "in our warehouse",
		"back in stock", "ready for dispatch", "ready for collection", "available from stock", "still available", "in stock again",
		"in good supply", "waiting in the warehouse", "ready to be sent today"},
	"out_of_stock": {"sold out", "out of stock", "not available at the moment", "gone",
		"unavailable", "not in stock", "no longer in stock", "temporarily unavailable", "temporarily out of stock", "no longer available",
		"all gone", "completely sold out", "sold out everywhere", "sold out for now", "not on the shelf", "not in stock right now",
		"not to be had at present", "gone until the next delivery"},
	"preorder": {"available for preorder", "coming next month", "to be released soon",
		"open for preorder", "on preorder", "ready to preorder", "not yet released", "not released yet, but can be ordered in advance",
		"due for release soon", "coming soon", "coming out in spring", "coming out next month", "about to be launched",
		"still to be released", "only on preorder so far", "available for advance orders", "expected in the shops next month"},
}

var goods = domain{
	subject:  "product",
	prefixes: []string{"product", "item", "article"},
	slots: []slot{
		slotOf("product", "string", `product product_name name item title article item_name goods name_of_product article_name the_product what thing product_title
			product_label item_title goods_name merchandise merchandise_name product_sold name_of_item name_of_article
			what_is_sold offered_product listing_title catalogue_name sold_item item_sold article_title item_label
			offered_item thing_sold`, `What is sold
			Name of the product
			The product's name
			Name of the article or item
			What is offered
			Title of the product
			The thing that can be bought`, func(g *gen, r record) value { return text(g.thing()) }),
		slotOf("currency", "string", `currency currency_code
			price_currency currency_iso iso_currency currency_iso_code currency_of_price money_unit monetary_unit
			payment_currency currency_name currency_used currency_abbreviation iso_code price_currency_code sale_currency`, `Three letters, as EUR
			Currency of the price
			Currency code
			The currency in which it is sold
			Code of the currency, three letters
			In which money the price is given`, func(g *gen, r record) value { return text(g.currency()) }),
		slotOf("price", "number", `price unit_price cost amount price_per_unit retail_price costs the_price sale_price price_value product_price price_amount list_price
			product_cost item_price selling_price current_price shop_price price_tag price_number sell_price asking_price
			base_price purchase_price price_of_product price_of_item unit_cost how_much price_each`, `What it costs
			Price without currency
			Price of the product
			The price as a number
			How much one has to pay for it
			Amount, without the currency
			Retail price of one item`, func(g *gen, r record) value { return g.amount(900) }),
		slotOf("brand", "string", `brand manufacturer maker brand_name producer made_by vendor company the_brand label produced_by manufacturer_name
			product_brand brand_of_product brand_label manufactured_by maker_name producer_name manufacturing_company
			product_manufacturer product_maker which_brand who_makes_it trademark item_brand brand_company`, `Who makes it
			Brand of the product
			Name of the manufacturer
			The company that makes it
			Maker of the product
			Brand name`, func(g *gen, r record) value { return text(g.brand()) }),
		slotOf("colour", "string", `color colour main_color shade the_colour product_color paint color_name
			item_color item_colour product_colour colour_name color_of_product colour_of_product main_colour color_variant
			colour_variant color_option finish_color tint hue available_color which_colour`, `The colour
			Colour of the product
			Color of the item
			In which colour it comes
			The main color
			Name of the colour`, func(g *gen, r record) value { return text(g.of(colours)) }),
		slotOf("sku", "string", `sku article_number product_code item_number code product_id id article_no order_code part_number number catalogue_number reference_code stock_code
			sku_code sku_number item_code article_code product_number product_sku item_sku item_no catalog_number
			catalogue_code stock_keeping_unit stock_number item_id article_id product_no part_no`, `The product's number
			Stock keeping unit
			Article number
			Code of the product in the catalogue
			The number to order it by
			Product code or item number`, func(g *gen, r record) value { return text(g.code()) }),
		slotOf("weight", "number", `weight_kg weight kilograms weight_in_kg
			weight_kilograms mass mass_kg product_weight item_weight weight_kilos kilos net_weight shipping_weight
			how_heavy item_weight_kg product_weight_kg kg weight_of_product`, `Weight in kilograms
			Weight of the product in kg
			How heavy it is
			Mass in kilograms
			The weight as a number
			How many kilos it weighs`, func(g *gen, r record) value { return g.amount(40) }),
		slotOf("rating", "number", `rating stars score average_rating review_score user_rating
			customer_rating star_rating product_rating item_rating mean_rating rating_value rating_stars number_of_stars
			stars_out_of_5 review_rating overall_rating rating_score customer_score avg_rating buyer_rating user_score`, `Stars out of 5
			Average rating
			Rating by customers
			How many stars it has
			Score in reviews, at most 5
			Number of stars that buyers give`, func(g *gen, r record) value {
			s := strconv.Itoa(g.between(1, 4)) + "." + g.digits(1)
			return value{s, s}
		}),
		{name: "stock", typ: "string", choices: stock, keys: words(`availability stock_status status stock
			stock_state in_stock_status availability_status stock_availability inventory_status product_availability item_availability
			availability_state product_status supply_status sale_status item_status stock_condition`), desc: lines(`
			Whether it is in stock
			Can it be bought now
			Availability of the product
			State of the stock
			Whether the item is available, sold out or still to come
		`), make: func(g *gen, r record) value {
			c := g.of(stock)
			return value{g.of(stockWords[c]), quote(c)}
		}},
	},
	opens: lines(`
		The {product} costs {price} {currency}.
		{product} by {brand}, {price} {currency}
		New: {product} from {brand}.
		Buy the {product} for only {price} {currency}!
		The {brand} {product} is {stock}.
		We sell the {product} (no. {sku}) for {price} {currency}.
		{sku}: {product}, {colour}
		This {product} comes in {colour}.
		For {price} {currency} you get a {product}.
		The {product} is {stock} and costs {price} {currency}.
		<Introducing|Meet|Discover> the {product} from {brand}.
		<For sale|On sale|On offer|Special offer>: {product}, {price} {currency}
		<The|This|Our> {product} from {brand} <sells|goes> for {price} {currency}.
		<I am selling|I'm selling|We are selling> a {product} for {currency} {price}.
		<Get|Order|Grab> your {product} <today|now>, only {currency} {price}!
		{brand} has <launched|released|presented> <a new|its new> {product}.
		{brand} <sells|offers> the {product} for {price} {currency}.
		{brand} {product}, {colour}, {price} {currency}
		<Item|Article|Product> {sku}: {product} <by|from> {brand}
		<Product|Item|Article>: {product}, <SKU|item number|article number>: {sku}
		The {product} in {colour} is {stock}.
		<Looking for|Do you need> a {product}? <This one|Ours> is {stock}.
		I <bought|ordered|got> the {product} in {colour} for {price} {currency}.
		<Customers|Our buyers|Reviewers> <love|like> the {product} and give it {rating} out of 5.
		The {product} by {brand} <got|received|has> {rating} <stars|out of 5 stars>.
		<The|Our> {product} ({sku}) <weighs|weighs only> {weight} kg.
		<Good news|News>: the {product} is {stock}.
		<Review of|Test of> the {brand} {product}: {rating} <stars|out of 5>
		<Catalogue|Catalogue entry|Price list>: {sku}, {product}, {currency} {price}
		The {colour} {product} <costs|is> {price} {currency}.
		<Hi|Hello>, do you <sell|have> the {product} for {price} {currency}? <The page says|I read that> it is {stock}.
		We <stock|carry|offer> the {product} <by|from> {brand} in {colour}.
		<Secondhand|Nearly new|As good as new>: {product}, {colour}, {currency} {price}
		In our shop: {product} <by|from> {brand}, {weight} kg, {price} {currency}
		<Now in our shop|New in our shop|Just in>: the {product}, <SKU|article> {sku}.
		<One|A> {product}, {colour}, <made by|from> {brand}.
		How about <a|this> {product} for {price} {currency}?
	`),
	sentences: lines(`
		It costs {price} {currency}.
		The price is {price} {currency}.
		Price: {price} {currency}
		Now {price} {currency}.
		It is made by {brand}.
		The brand is {brand}.
		{brand} makes it.
		The colour is {colour}.
		It is {colour}.
		Comes in {colour}.
		Article number {sku}.
		SKU {sku}
		The order code is {sku}.
		It weighs {weight} kg.
		Weight: {weight} kg
		Customers give it {rating} stars.
		Rated {rating} out of 5.
		It is {stock}.
		This item is {stock}.
		Currently {stock}.
		<You pay|We ask|We charge|It sells for> {price} {currency}.
		It <costs|is> <only |just |>{currency} {price}.
		<Price|Cost|Unit price|Our price|List price>: {currency} {price}
		The <retail price|list price|sale price|unit price|cost> is {price} {currency}.
		It <is yours|goes|can be had> for {price} {currency}.
		The price <has dropped|was reduced|went up> to {price} {currency}.
		<At|With a price of> {price} {currency} it is a <bargain|good deal|fair offer>.
		<Buy|Get|Order> it for {price} {currency}.
		How much? {price} {currency}.
		That is {currency} {price} <per piece|a piece|each>.
		<Brand|Maker|Manufacturer|Made by|Producer>: {brand}
		The <manufacturer|maker|producer> is {brand}.
		It <comes from|is from|was made by|is produced by> {brand}.
		{brand} <produces|manufactures|builds|stands behind> it.
		<A|Another> <classic|product|design> by {brand}.
		<Quality|Design> from {brand}.
		It <is sold|comes> under the <brand|name> {brand}.
		<Colour|Color|Shade|Finish>: {colour}
		The <color|shade|finish> is {colour}.
		It is <available|sold|offered|made> in {colour}.
		<We have it|You can get it|It only comes> in {colour}.
		The one in the <picture|photo> is {colour}.
		<A nice|A lovely|The> {colour} one.
		It <looks|is> {colour} <all over|outside|from all sides>.
		In {colour}, {price} {currency}
		<Product code|Item number|Item no.|Order code|Part number|Ref.>: {sku}
		The <product code|article number|part number|item number|SKU> is {sku}.
		<Order|Find> it under <number|code> {sku}.
		In the <catalogue|system|shop> it is <listed under|number> {sku}.
		Please <quote|use|give> {sku} when you order.
		It <weighs|comes in at> <only |just |>{weight} <kilograms|kilos>.
		<The weight is|Its weight is|On the scales it is> {weight} <kg|kilos>.
		<Net weight|Item weight|Weight in kg|Product weight>: {weight} <kg|kilograms>
		With {weight} kg it is <easy to carry|rather heavy|not too heavy>.
		You carry {weight} <kg|kilos>.
		<Rating|Customer rating|Average rating|Score>: {rating} <stars|out of 5|of 5>
		<Buyers|Users|Reviewers|People> <rate|rated> it {rating} <out of 5|stars>.
		It has <a rating of|an average of> {rating} <stars|out of 5>.
		The <average rating|average score|average> is {rating} <stars|out of 5>.
		{rating} out of 5 <stars|points> from <buyers|our customers>.
		It <gets|earned|scored> {rating} <stars|of 5 stars|out of 5>.
		<Availability|Status|Stock>: {stock}
		The <product|item|article> is {stock}.
		<At the moment|Right now|Today> it is {stock}.
		<Our shop says|The website says|They told me> it is {stock}.
		<For your information|FYI|Please note>: it is {stock}.
		Made by {brand}, {price} {currency}.
		It is by {brand} and comes in {colour}.
		It is {stock}, and the price is {price} {currency}.
		{weight} kg, {colour}, {rating} stars
		Ours is {colour}.
	`),
	noise: lines(`
		Free shipping on orders over 50.
		You can return it within 30 days.
		A good present.
		Two years of warranty.
		Our best seller this season.
		Batteries are not included.
		<Delivery|Shipping> <takes|is within> <two days|a week|3 to 5 days>.
		<Makes|It makes> a <great|lovely|perfect> gift.
		Clean it with a <damp|dry|soft> cloth only.
		<Pay|You can pay> <by card|in cash|by invoice>.
		<Only one|One> per customer.
		The <manual|cable|case> is included.
		<Spare parts|Refills> are <sold separately|easy to get>.
		Keep <away from children|out of the sun|in a dry place>.
		<Designed|Made> to last.
		Our <customers|buyers> come back.
		<Subscribe to|Read> our newsletter for <offers|news|discounts>.
		Pick up in <the shop|store> is <possible|free>.
		<Save|Get> 10 percent on your next order.
		<Not|It is not> suitable for children under 3.
		The <guarantee|warranty> lasts 24 months.
		<You will|You'll> love it.
		The old model had 4 buttons.
		Best kept out of the sun.
	`),
	requests: lines(`
		Extract the product.
		What is sold, and for how much?
		Product data as JSON.
		Read the product page.
		Find product and price.
		Make a catalogue entry.
		Parse the offer.
		<Extract|Get|Pull out> the <product data|product details|details of the product>.
		<Turn|Convert> this <offer|ad|product text> <into|to> JSON.
		<Fill in|Complete> the <product|catalogue> <form|fields>.
		What is <offered|on sale|being sold> here?
		<What does it cost|How much is it>, and is it available?
		<Create|Make> a product <record|entry|listing> from this.
		<Read|Scan> the <offer|ad|product text|review>.
		<Return|Output|Give me> the product as <JSON|structured data>.
		Product <details|facts|data>, please.
		<Which|What> product is this about?
		<Add|Enter> this <item|product> <to|into> the <shop|catalogue|database>.
		<Please |>structure this <offer|product page|listing>.
		<Find|List> all <facts|details> about the <product|item|article>.
		<Summarise|Summarize> the <product|offer> as JSON.
		Here is a product. <Extract|Find> its data.
		What do we know about this <article|item|product>?
	`),
	labels: true, least: 2, most: 6, missing: 0.05,
	wholeNames: []string{"product", "item", "offer"},
}

// orders are texts with a list of items in them, and something around it.
func orders(g *gen) Lesson {
	n := g.between(1, 3)
	currency := g.currency()
	pattern := g.say(lines(`
		{qty} x {product} at {money}
		{qty} {product} ({money} each)
		{qty} pcs {product}, {money}
		{product}, quantity {qty}, {money}
		{product} x{qty} - {money}
		{qty}x {product}
		{qty} of {product} for {money} each
		{product}: {qty} at {money}
		{product} ({qty} pieces, {money})
		{sku} {product} {qty} {money}
		{product} no. {sku}, {qty} pcs
		{qty} {product} for {money} each
		{qty} {product}
		{qty} pieces of {product} at {money}
		{qty} * {product} = {money} each
		{product} ({qty})
		{money} {product} x {qty}
		{qty} <units|items|pieces|pcs> of {product} at {money} <each|apiece|per unit>
		{product} (<qty|quantity|amount>: {qty})
		{product}, <qty|quantity|count|pieces>: {qty}
		{qty} <times|x> {product}
		{product} <times|x|*> {qty}
		{product}: {qty} <pcs|pieces|units|pc.>
		{product}: {qty} <pcs|pieces|units> at {money} <each|apiece>
		{product} - {qty} <pcs|units|pieces> - {money} <each|per piece|a piece>
		{qty} <pcs|units> - {product} - {money} <each|per unit>
		[{qty}] {product}
		({qty}) {product} at {money} <each|apiece>
		{qty}x {product} <@|at|for> {money} <each|a piece>
		{qty}x {product} <@|at> {money}
		{qty} x {product} <@|à> {money}
		{product} [{qty}] {money} <each|a piece|per piece>
		{product}, {qty} <pcs|units|pieces>, unit price {money}
		{product}, <unit price|price each|price per piece> {money}, <quantity|qty> {qty}
		{money} <each|per piece|apiece>: {qty} {product}
		{product} at {money}, {qty} <of them|pieces|units>
		{product}, {money} <each|apiece>, {qty} <pcs|pieces|of these>
		{product} <costs|is> {money} <each|a piece>, {qty} <needed|wanted|ordered>
		{qty} <needed|wanted>: {product}
		{product} ({sku}), {qty} <pcs|pieces|units>
		{product} ({sku}) x {qty}
		{product} ({sku}) x {qty} <at|@> {money}
		{product} [{sku}]: {qty} at {money} <each|apiece>
		{sku}: {product}, {qty} <pcs|pieces|units>, {money} <each|apiece>
		{sku} - {product} - <qty|quantity> {qty} - {money}
		item {sku}, {product}, {qty} <pcs|units>
		<art.|article|item|SKU> no. {sku}: {product} x {qty}
		{qty} x {sku} {product}
		{qty} x {product}, <article|item|part> <number|no.> {sku}
		{qty} <pieces|units> of {product} (<SKU|code|item> {sku}) at {money} <each|apiece>
		{product} / {qty} / {money}
		{product}; {qty}; {money}
		{product} ..... {qty} ..... {money}
		{product} = {qty} <pcs|pieces>
		<Item|Product|Article>: {product}, <qty|quantity>: {qty}, <price|unit price|price each>: {money}
		<name|item|product>: {product}, <qty|quantity|count>: {qty}
		{qty} <packs|boxes> of {product}
		{product} <for|at> {money} <each|apiece> (x{qty})
		{product}, {qty} in <number|total>
		{qty} of the {product} <at|for> {money} <each|a piece>
		{product} ({qty} <of them|times|pcs>)
		{product} – {qty} pcs, {money}/pc
		{qty} {product}, {money} <a piece|per piece|each one>
	`))
	has := map[string]bool{}
	for _, s := range slotsOf(pattern) {
		has[s] = true
	}
	type line struct{ product, qty, price, sku value }
	items := make([]line, n)
	parts := make([]string, n)
	for i := range items {
		it := line{text(g.thing()), number(g.between(1, 24)), g.amount(300), text(g.code())}
		items[i] = it
		parts[i] = expand(pattern, record{"product": it.product, "qty": it.qty, "sku": it.sku, "money": {text: g.money(it.price.text, currency)}})
	}
	listed := ""
	switch g.n(3) {
	case 0:
		listed = "\n- " + strings.Join(parts, "\n- ") + "\n"
	case 1:
		listed = "\n" + strings.Join(parts, "\n") + "\n"
	default:
		listed = " " + strings.Join(parts, ", ") + ". "
		if n > 1 && g.chance(0.5) {
			listed = " " + strings.Join(parts[:n-1], ", ") + " and " + parts[n-1] + ". "
		}
	}
	r := record{
		"id": text(g.code()), "customer": text(g.fullName(g.chance(0.5))), "date": g.date(2023, 2027),
		"total": g.amount(2000), "city": text(g.city()),
	}
	r["sum"] = value{text: g.money(r["total"].text, currency)}
	open := g.say(lines(`
		Order {id} of {date} for {customer}:
		{customer} ordered on {date}:
		Order {id}
		Hello, this is {customer}. I would like to order
		Please send to {customer} in {city}:
		Invoice {id}, {customer}, {city}
		{customer} buys
		New order from {customer}:
		Your order {id} contains:
		On {date} {customer} bought
		{customer} from {city} has placed order {id}:
		Delivery note {id} ({date}):
		Order {id} from {customer}, {date}:
		{customer} has ordered the following:
		{customer} wants
		Hi, {customer} here. Please send me
		Purchase order {id} of {date}
		For {customer}, order {id}:
		{customer} ({city}) orders:
		Receipt {id}, {date}
		Thank you for your order {id} of {date}, {customer}!
		We confirm the order of {customer}:
		{customer} ordered
		<Dear team|Good morning|Good afternoon>, <please send|please ship> the following to {customer} in {city}:
		<Hello|Hi|Dear all>, my name is {customer} and I <want|would like|wish> to <buy|order>
		<Order|Purchase> <number|no.|#> {id}<, placed on| of|, dated> {date}:
		<Order|Purchase> ID: {id}, <customer|client|buyer>: {customer}, <items|contents>:
		Date: {date}, <customer|client|buyer>: {customer}, city: {city}, <items|goods>:
		<Customer|Client|Buyer>: {customer} ({city}). <Items|Products|Goods>:
		On {date}, {customer} <placed an order|ordered something> with us:
		{customer} <needs|would like|is asking for|has asked for>
		{customer} <needs|wants> <these|the following> <things|items> in {city}:
		We <received|got> an order from {customer} on {date}:
		We have <received|registered> order {id} from {customer}. It <contains|lists>
		The <basket|cart> of {customer} <contains|holds>:
		<Invoice|Bill|Receipt> <no.|number> {id} of {date}, <for|to> {customer}:
		<Invoice|Bill> to {customer}, {city}, {date}:
		<Invoice|Bill> <date|of> {date} for the following <goods|items|products>:
		<Confirmation|Order confirmation> {id}: {customer} has <bought|purchased|ordered>
		Thank you, {customer}! <You have ordered|Your order>:
		Thanks for <shopping|your purchase> on {date}, {customer}! <You bought|Your items>:
		Hi {customer}, your <parcel|package|order> {id} <has been shipped|is on its way> to {city}. <It contains|Inside>:
		Dear {customer}, your order of {date} <has been shipped|is on its way|is being packed>:
		<Your|The> <parcel|package> to {city} <contains|holds>:
		<Packing list|Packing slip|Shipping list> for order {id}, {city}:
		<Shipment|Delivery> to {customer}, {city}, order {id}:
		<Reference|Ref.|Our reference>: {id}. <Ordered items|Items ordered>:
		<Order copy|Order details> {id} for {customer}, {date}:
		Purchase order no. {id} <from|by> {customer} ({city}):
		<Sales receipt|Till receipt|Cash receipt> {date}, {id}:
		{date}: {customer} <bought|purchased|ordered|picked up>
		{date}, {city}: order <by|from> {customer}:
		{id}: {customer}, {date},
		{customer} <called|phoned|wrote|emailed> on {date} <and ordered|to order>
		{customer} <called|phoned|wrote|emailed>. <The order is|They need>:
		Could you <please |>send {customer} <in {city}|over in {city}> <the following|these items>:
		Can I <please |>order the following for {customer}, {city}:
		<Please|Kindly> book this order for {customer}:
		<Please|Kindly> add to order {id}:
		<Web order|Phone order|Online order|Telephone order> {id} by {customer}, {city}:
		<Order form|Order slip>, <filled in|signed> on {date} by {customer}:
		Sold to {customer} on {date}:
		Sold to {customer} of {city}:
		<Bill to|Ship to|Deliver to> {customer}, {city}. Order {id}:
		From {customer}, {city}, <we have|there is> an order for
		The customer {customer} <ordered|has bought|wants to buy|has chosen>
		A <new|big|small> order for {city}, <number|no.> {id}:
		A customer from {city}, {customer}, <ordered|bought|asked for>
		<New order|Incoming order|Order> <for delivery|to be delivered> to {city}:
		Summary of order {id} (<placed|made> {date}):
		<What|All that> {customer} <bought|ordered> on {date}:
		<Here is|This is> {customer}'s <shopping list|order|purchase> of {date}:
		<Here is|This is> <my|our> order, {date}, <to be sent|for delivery> to {city}:
		<Order|Ordered> on {date}, <order number|number|ref.> {id}:
		I'm {customer} from {city} and I'd like
	`))
	tail := ""
	if g.chance(0.6) {
		tail = g.say(lines(`
			Total: {sum}
			The total is {sum}.
			Sum {sum}
			Altogether that is {sum}.
			Please deliver to {city}.
			Order number {id}.
			Customer: {customer}
			Ordered on {date}.
			Thank you!
			Amount due {sum}
			To pay: {sum}
			In total {sum}.
			Sum total {sum}, ordered on {date}.
			Send it to {customer} in {city}.
			Delivery to {city}.
			The order has the number {id}.
			<Order total|Invoice total|Grand total|Total amount|Total price>: {sum}
			The <order|invoice|whole order> <comes to|adds up to|amounts to> {sum}.
			The <sum|amount|final price> is {sum}.
			That <makes|comes to|will be> {sum} <in total|altogether|in all>.
			<All together|All in all|Overall>: {sum}
			You <owe|pay|have to pay> {sum}.
			Please <pay|transfer|send us> {sum} <within 14 days|on receipt|by bank transfer>.
			<Payable|Amount payable|Balance due|Total due|To be paid>: {sum}
			{sum} <in total|altogether|including tax|including shipping>
			{sum} <was|has been> paid <by card|in cash|online>.
			The customer <paid|has paid|will pay> {sum}.
			We <charged|have charged> your card {sum}.
			Total for {customer}: {sum}
			Total for order {id}: {sum}
			<Please ship|Ship it|It goes|It should go|Send everything> to {city}.
			<Delivery address|Destination|Ship to|Deliver to>: {city}
			<The parcel|The package|Everything> <goes|will be sent> to {city}.
			The <delivery|shipment> is for {city}.
			<I live|The customer lives|We are> in {city}.
			<Order|Order ID|Order no.|Reference|Ref.>: {id}
			Please <quote|use|mention> <order |>{id} <when you pay|in your reply>.
			The <reference|invoice number|order number> is {id}.
			Your <reference|order number> is {id}. <Thanks!|Thank you!>
			<Bought|Purchased|Ordered> by {customer}.
			<Buyer|Ordered by|Client|Bill to>: {customer}
			The <customer|buyer|client> is {customer}.
			The <customer|buyer|client> is {customer} from {city}.
			<Kind regards|Regards|Cheers|Yours>, {customer}
			<Thanks|Many thanks|Thank you>, {customer}
			<Order date|Date of order|Invoice date>: {date}
			The order was <placed|made|received> on {date}.
			<Placed|Bought|Ordered|Invoiced> on {date}, total {sum}.
			{customer}, {city}, {date}
			{date}, {customer}
			<Please|Kindly> confirm <the order|my order>.
			<Please|Kindly> deliver <soon|as soon as possible|during the day>.
			<Many thanks|Thanks a lot|Thanks in advance>!
			<We hope|I hope> <everything|it all> <is|will be> in stock.
			<The customer will pick it up|Delivery is free|Shipping is free>.
			Please <wrap|pack> it <well|as a gift|carefully>.
			<Ship|Send> to {customer}, {city}. <Sum|Total>: {sum}
			Order {id}, {date}, total {sum}
			<No rush|It is urgent|Take your time>.
			All you owe us is {sum}.
		`))
	}
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(open + tail) {
		t.has[s] = true
	}
	t.has["total"] = t.has["sum"]
	t.has["currency"] = has["money"] || t.has["sum"]
	content := expand(open, r) + listed + expand(tail, r)
	r["currency"] = value{currency, quote(currency)}

	d := domain{missing: 0.04, slots: []slot{
		slotOf("id", "string", `order_id id order_number number reference invoice_number order_no order_reference document_number invoice_id no purchase_id order_code order
			order_ref order_num purchase_order purchase_order_number po_number order_identifier invoice_no invoice_ref
			receipt_number receipt_no document_id document_no transaction_id confirmation_number purchase_number
			reference_no reference_number`, `The order's number
			Number of the order
			Order or invoice number
			The order's reference
			Identifier of the order
			Code under which the order is known`, nil),
		slotOf("customer", "string", `customer customer_name buyer name client ordered_by purchaser buyer_name client_name who_ordered name_of_customer ordering_customer sold_to
			customer_full_name purchaser_name ordering_party ordering_person account_holder bill_to bill_to_name
			client_full_name buyer_full_name billed_to who_buys shopper shopper_name ordered_by_name placed_by
			purchased_by sold_to_name`, `Who ordered
			Name of the customer
			The buyer's full name
			Who placed the order
			Person who buys the items
			To whom the goods are sold`, nil),
		{name: "date", typ: "string", format: "date", keys: words(`date order_date ordered_on invoice_date day date_of_order purchase_date bought_on placed_on
			date_ordered order_day ordered_date day_of_order transaction_date document_date issue_date issued_on date_of_purchase date_of_invoice
			date_placed purchased_on when_ordered order_placed_on date_of_document receipt_date`), desc: lines(`
			Date of the order
			When it was ordered
			The day of the purchase
			Date of the order or invoice
			On which day the order was placed
		`)},
		slotOf("city", "string", `city ship_to destination delivery_city town customer_city deliver_to place
			ship_to_city destination_city shipping_city city_of_delivery recipient_city delivery_town customer_town
			delivery_place shipping_destination town_of_customer buyer_city city_of_customer deliver_to_city city_name`, `Where it goes
			City of the customer
			Where the order is delivered
			Destination of the delivery
			Town to which it is sent
			The city`, nil),
		slotOf("total", "number", `total total_amount sum grand_total amount_due total_price amount total_sum price_total order_total to_pay value total_cost
			invoice_total order_sum sum_total total_due amount_total overall_total overall_amount full_amount full_price
			payable amount_payable amount_to_pay total_value order_amount order_value invoice_amount total_payable
			final_total`, `Sum of the order
			Total of the order
			What all of it costs
			The amount to be paid
			Grand total, without the currency
			Sum of all items as a number`, nil),
		slotOf("currency", "string", `currency currency_code
			price_currency currency_iso iso_currency currency_iso_code currency_of_order money_unit monetary_unit
			payment_currency currency_name currency_used currency_abbreviation iso_code order_currency invoice_currency`, `Three letters
			Currency of the prices
			Currency code
			Code of the currency, as EUR
			In which currency it is paid
			Currency of the order, three letters`, nil),
	}}
	goodsSlots := domain{missing: 0.03, slots: []slot{
		slotOf("product", "string", `product name item description product_name article title goods item_name what article_name product_title
			product_ordered ordered_product item_title item_label product_label goods_name name_of_product name_of_item
			ordered_item line_description item_description article_title product_description what_was_ordered merchandise`, `What was ordered
			Name of the product
			The item's name
			What is bought
			Article that was ordered
			Product on this line`, nil),
		slotOf("qty", "integer", `quantity qty count amount pieces units number how_many ordered_quantity number_of_pieces unit_count
			item_count item_quantity order_quantity quantity_ordered number_ordered qty_ordered piece_count product_count
			product_quantity line_quantity number_of_units units_ordered pcs how_many_pieces number_of_items item_qty
			product_qty line_qty`, `How many
			Number of pieces
			How many were ordered
			Quantity of this product
			The ordered quantity
			How many units of it`, nil),
		slotOf("price", "number", `price unit_price price_each cost_per_unit each cost price_per_item single_price item_price price_of_one
			price_per_piece unit_cost piece_price price_a_piece price_per_unit product_price cost_each cost_per_item
			unit_amount each_costs price_for_one rate_per_unit article_price list_price item_cost per_unit_price`, `Price of one
			Unit price
			Price per piece
			What one of them costs
			Cost of a single item
			Price of one unit, without the currency`, nil),
		slotOf("sku", "string", `sku article_number code product_code
			sku_code item_code item_number item_sku product_sku product_number article_no article_code part_number part_no
			catalogue_number stock_code item_id product_id item_no product_no`, `The product's number
			Article number
			Code of the product
			SKU of the item
			Number of the article in the catalogue
			The item's code`, nil),
	}}
	inner := told{has: map[string]bool{"product": true, "qty": true, "price": has["money"], "sku": has["sku"]}}
	build := func() object {
		g.style.prefix = ""
		outer := fill(d.forms(g, d.ask(g, t, g.between(1, 4)), t), r, t)
		asked := goodsSlots.ask(g, inner, 4)
		forms := goodsSlots.forms(g, asked, inner)
		var objects []object
		for _, it := range items {
			objects = append(objects, g.object(fill(forms, record{"product": it.product, "qty": it.qty, "price": it.price, "sku": it.sku}, inner)))
		}
		a := array(objects[0].schema, objects)
		if g.chance(0.15) {
			return g.wrapped(a, []string{"items", "lines", "products", "positions"}, strconv.Itoa(n))
		}
		g.style.prefix = ""
		at := property{key: g.style.key(g.named(words("items lines line_items products positions articles order_lines"))), schema: a.schema, value: a.value, parts: a.keys}
		if g.chance(0.7) {
			outer = append(outer, at)
		} else {
			outer = append([]property{at}, outer...)
		}
		if distinct(outer) {
			return g.object(outer)
		}
		return g.object([]property{at})
	}
	o := build()
	more := g.more(3, build)
	requests := lines(`
		Extract the order.
		Read the order.
		Order as JSON
		What was ordered?
		List the items.
		Parse this invoice.
		Find the line items.
		Enter this order into the system.
		<Extract|Get|Pull out> the <order details|ordered items|items of the order>.
		<Please |>read this <order|invoice|receipt|mail>.
		<Which|What> <items|products|goods> <were|have been> ordered?
		<Turn|Convert> this <order|invoice|receipt> <into|to> JSON.
		<Parse|Process|Digitise> this <order|receipt|delivery note|purchase order>.
		<What|How much> did the customer <order|buy>?
		<List|Show> the <products|articles> and <quantities|amounts>.
		<Fill in|Complete> the order form.
		<Enter|Book|Register> this <order|purchase>.
		Who ordered what?
		<Extract|List> <all|the> <order lines|line items|positions>.
		<Create|Make> an order <record|entry> from this <text|message|mail>.
		Order data, please.
		<Return|Output|Write> the order as <structured data|JSON>.
		What is in this <order|parcel|invoice>?
		<Find|Give me> the <customer|buyer> and the items.
		<Read out|Capture> the <invoice|receipt|order>.
		What has to be <sent|packed|delivered>?
		I need this <order|invoice> in our <system|database>.
		<Summarise|Summarize> the <order|purchase> as JSON.
		<Get|Collect> the data of <the|this> <invoice|order|receipt>.
		Prepare this order for <shipping|the warehouse|the shop>.
		Here is an <order|invoice>. <Extract|Find> the <items|details>.
		Items and prices, please.
		What was bought, and how many of each?
		<Please |>structure this <order|receipt|bill>.
	`)
	l := g.put(content, requests, o)
	l.More = more
	return l
}

// distinct reports whether no two properties have the same name.
func distinct(list []property) bool {
	seen := map[string]bool{}
	for _, p := range list {
		if seen[p.key] {
			return false
		}
		seen[p.key] = true
	}
	return true
}

var levels = []string{"debug", "info", "warning", "error", "critical"}

// logs are single log lines in several formats.
func logs(g *gen) Lesson {
	level := g.of(levels)
	spelt := level
	switch g.n(3) {
	case 0:
		spelt = strings.ToUpper(level)
	case 1:
		spelt = map[string]string{"debug": "DEBUG", "info": "INFO", "warning": "WARN", "error": "ERROR", "critical": "FATAL"}[level]
	}
	stamp := fmt.Sprintf("%04d-%02d-%02d", g.between(2022, 2027), g.between(1, 12), g.between(1, 28))
	clock := fmt.Sprintf("%02d:%02d:%02d", g.n(24), g.n(60), g.n(60))
	stamp += g.of([]string{"T", " "}) + clock
	if g.chance(0.3) {
		stamp += "Z"
	}
	r := record{
		"time": text(stamp), "level": {spelt, quote(level)}, "service": text(g.service()), "message": text(g.logText()),
		"user": text(g.madeUp(2) + g.digits(2)), "request": text(strings.ToLower(g.code())), "ms": number(g.between(1, 9000)),
		"status": number(g.between(200, 599)), "ip": text(fmt.Sprintf("%d.%d.%d.%d", g.n(256), g.n(256), g.n(256), g.n(256))),
	}
	pattern := g.say(lines(`
		{time} {level} {service}: {message}
		[{time}] [{level}] {service} - {message}
		{time} {service} {level} {message} user={user}
		{level} {time} {service} {message} ({ms} ms)
		{time} | {level} | {service} | {message}
		ts={time} level={level} service={service} msg="{message}" request_id={request}
		{time} {level} [{service}] {message} status={status} ip={ip}
		{service}[{request}]: {level}: {message}
		{time} {ip} {service} {status} {ms}ms {level} {message}
		<{level}> {service} {message} user={user} request={request}
		{time} [{service}] {level} - {message}
		{time} {level} {service} [{request}] {message}
		{level}: {message} ({service}, {time})
		{time} - {service} - {level} - {message}
		[{level}] {message} service={service} duration={ms}ms status={status}
		time="{time}" level={level} msg="{message}" component={service} user={user}
		{ip} [{time}] {service} "{message}" {status} {ms}ms
		{time} {service}: <{level}> {message} ip={ip}
		{time} | {service} | {level} | {message} | {ms} ms
		{level} [{service}] user {user} from {ip}: {message}
		{time} {level} req={request} user={user} status={status} took={ms}ms {message}
		{service} {level} {time} {message}; client {ip}, request {request}
	`))
	t := told{has: map[string]bool{}}
	for _, s := range slotsOf(pattern) {
		t.has[s] = true
	}
	d := domain{missing: 0.06, slots: []slot{
		slotOf("time", "string", `timestamp time ts logged_at datetime
			log_time event_time created_at occurred_at date_time log_timestamp when_logged time_stamp recorded_at
			written_at logged_time entry_time happened_at`, `When it was logged
			Time of the entry
			Timestamp of the log line
			When it happened
			Date and time
			The time as it is written in the line`, nil),
		{name: "level", typ: "string", choices: levels, keys: words(`level severity log_level
			loglevel lvl log_severity severity_level level_name message_level entry_level severity_name event_level`), desc: lines(`
			Severity of the entry
			How serious it is
			The log level
			Level of the message
			Which level the line has
		`)},
		slotOf("service", "string", `service component source module logger
			service_name app application app_name component_name logger_name source_service module_name emitted_by
			process_name program subsystem`, `Which service wrote it
			Name of the service
			Component that logged the line
			The program that wrote the entry
			Where the message comes from
			Name of the logger`, nil),
		slotOf("message", "string", `message msg text log_message event
			log_text message_text body content description details log_msg event_message what_happened message_body
			entry_text`, `What happened
			The message
			Text of the log entry
			What the line says
			What was logged
			Message without the other fields`, nil),
		slotOf("user", "string", `user username user_id login
			user_name login_name account account_name username_or_id actor logged_in_user user_login by_user affected_user`, `Who
			Name of the user
			The user's login
			Which user it was
			Account of the user
			User named in the line`, nil),
		slotOf("request", "string", `request_id request trace_id
			req_id request_identifier correlation_id trace request_ref request_number reqid transaction_id request_code`, `The request's id
			Id of the request
			The request that it belongs to
			Identifier of the request
			Trace or request id
			Request named in the line`, nil),
		slotOf("ms", "integer", `duration_ms latency_ms ms took_ms
			duration elapsed_ms duration_in_ms response_time_ms time_taken_ms milliseconds latency response_ms
			request_duration_ms request_time_ms`, `Milliseconds
			Duration in milliseconds
			How long it took
			How many milliseconds it took
			Latency in ms
			Time taken, in milliseconds`, nil),
		slotOf("status", "integer", `status status_code http_status code
			response_code http_code http_status_code response_status status_number http_response_code response_status_code
			statuscode return_code`, `HTTP status
			Status code
			The status of the response
			HTTP status as a number
			Code of the response
			Three digits of the status`, nil),
		slotOf("ip", "string", `ip client_ip remote_addr ip_address
			client_address remote_ip remote_address source_ip ipv4 client_ip_address from_ip peer_ip ip_addr caller_ip
			sender_ip origin_ip`, `Client's address
			IP address
			The client's IP
			Address of the client
			From which address it came
			IPv4 address in the line`, nil),
	}}
	props := fill(d.forms(g, d.ask(g, t, g.between(2, 6)), t), r, t)
	return g.put(expand(pattern, r), lines(`
		Parse the log line.
		Parse this log entry.
		What does the log say?
		Log line to JSON.
		Split this line into fields.
		Structure this log.
		<Read|Analyse|Break down> this <log line|log entry>.
		<Turn|Convert> the log <line|entry> <into|to> JSON.
		<Extract|Get> the fields of <this|the> log <line|entry|message>.
		What <happened|was logged> here?
		<Fill in|Return> the <log fields|fields of this log entry>.
		Log data, please.
	`), g.object(props))
}

func (g *gen) service() string {
	if g.chance(0.4) {
		return g.of([]string{"", "", "my-", "web-"}) + g.of(common)
	}
	return g.pick(services)
}

func (g *gen) logText() string {
	if g.chance(0.4) {
		return g.someWords(g.between(2, 4))
	}
	return g.pick(logTexts)
}
