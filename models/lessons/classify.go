package lessons

import (
	"strconv"
	"strings"
)

// A class is a value of an enumeration, and sentences that mean it.
type class struct {
	names []string // what schemas call it
	texts []string
	// frames are sentences about one of things, {x}, which say the same of all.
	frames, things []string
}

// sentence says something that means the class. In training some of it is said
// of anything, so that the frame counts too.
func (c *class) sentence(g *gen) string {
	if len(c.frames) > 0 && g.chance(0.6) {
		x := g.pick(c.things)
		if g.training() && g.chance(0.3) {
			x = g.of([]string{"the ", "the ", "my ", "our ", "a "}) + g.someWords(g.between(1, 2))
		}
		return title(strings.ReplaceAll(g.say(c.frames), "{x}", x))
	}
	return g.say(c.texts)
}

var categories = []class{
	{words(`
		billing payment invoicing finance accounting invoices payments money billing_issue billing_question
		payment_problem charges refunds refund_request payment_issue bills fees costs billing_and_payments
		billing_inquiry payments_and_refunds invoice_question billing_problem`), lines(`
		I was charged twice this month.
		My invoice shows the wrong amount.
		The payment with my card did not go through.
		I want my money back.
		Please send me the invoice for March.
		Why did the price of my plan go up?
		The refund has not arrived on my account.
		There is a fee on my bill that I do not know.
		My credit card was declined.
		Can I pay by bank transfer?
		The tax on the receipt is wrong.
		You took the money but I got no receipt.
		<I was|We were> <overcharged|charged too much|billed too much> <last month|this month|again|for the upgrade>.
		<You|Your company> <charged|debited|billed> <me|us|my card> <twice|two times|more than once> for the same <order|month|service|thing>.
		The <total|amount|sum|price> on <my|the|our> <invoice|bill|receipt> <does not match|differs from|is higher than> <the offer|what I agreed to|the quote>.
		<I have still not received|We never got|I am still missing|We are still waiting for> <an invoice|a receipt|the bill> <for the last payment|for my purchase|for this year>.
		<When|How soon> will <I|we> get <my|our|the> <refund|money back|money>?
		<How|Where> can <I|we> <change|update|replace> <my|our|the> <credit card|payment method|bank details|billing address>?
		<My|The> <direct debit|payment|bank transfer|card payment> <was returned|was refused|bounced|failed> <again|last week|although there is enough money>.
		<Your|The> <reminder|second reminder|payment reminder> <is wrong|makes no sense|surprised me>, <I have paid|the bill is paid|we paid weeks ago>.
		The <coupon|voucher|discount code|gift card> <was not deducted|was not applied|did not lower the price> <at checkout|on my bill|from the total>.
		<Do|Could> you <accept|take> <payment by cheque|PayPal|bank transfer|American credit cards|cash>?
		<Can|May|Could> <I|we> pay <in instalments|by direct debit|once a year|monthly|in dollars|later>?
		Is <VAT|sales tax|the tax> <included in|part of|added to> the price?
		<Please|Could you> put <our|my> <VAT number|tax number|company name|purchase order> on the <invoice|bill|receipt>.
		<I|We> <cancelled|ended|stopped> the <subscription|plan|membership> and <still got charged|still got a bill|had to pay>< again| for another month>.
		<You|Your system> <renewed|extended> my subscription and took <the annual fee|a whole year's fee|the money> <from my card|from my bank account> without asking.
		Why <am I|are we> <paying|charged|billed> more than <the advertised price|last year|our colleagues|new customers>?
		<I|We> <want|demand|ask for|would like> a <full refund|partial refund|refund>.
		<I|We> <ask|asked> for <a refund|my money back|a credit note> <and got nothing|but nothing was paid|weeks ago>.
		<My|Our> bank <says|tells me> that <you|your company> <took|withdrew|collected> <the money|the fee|a payment> <twice|too early|on the wrong day>.
		<The|Your> <free trial|trial month|trial> <was not free|ended with a charge on my card|cost me money>.
		I <found|see|noticed> an <unknown|unexpected|extra|unexplained> <charge|fee|debit|transaction> on my <card|bank statement|credit card statement>.
		What <is this fee|is this charge|is the second debit> for?
		<Please|Kindly> <issue|write|prepare> <a corrected invoice|a new invoice|a credit note>.
		<My|The> invoice is <made out to|in the name of|addressed to> the wrong <company|person|department>.
		<The|An> instalment <is due|was due|has been due> and I can't <pay|pay it> <with my card|online|on your payment page>.
		<Can|Could> <the due date|the payment date> <of the bill|of my invoice|of the instalment> be <moved|changed|put off>?
		<I|We> <paid|have paid> <by card|by bank transfer|with PayPal|in cash> but <the bill is still open|the invoice is still marked as unpaid|you say nothing came>.
		How much <does|will> <the premium plan|the upgrade|a second licence|the yearly subscription> cost <us|me>?
		<Is|Was> there <a fee|a charge|a surcharge|an extra cost> <for paying by card|for cancelling|for late payment>?
		<The|Your> <exchange rate|currency> <on my bill|on the invoice|of the charge> <is wrong|was wrong|can't be right>.
		<I got|I received|We received> <two invoices|two bills|the same bill twice> for one <order|month|purchase>.
		<Overcharged|Double charge|Charged twice|Billed twice>, <please refund|want my money back|refund please>.
		<invoice|bill|receipt> <missing|wrong|not correct>, <please resend|please check|please correct>
		refund <not received|still open|never came>
		<I|We> <returned|sent back> <the goods|everything> and <still have no refund|the money has not come back|got only half of the money>.
		<Our|My> accounting department <needs|asks for|is missing> <all invoices of last year|the receipt|a copy of the bill>.
		<The|Your> price list <says something else|is lower> than <my bill|the invoice|what I paid>.
		<My|The> <deposit|down payment> <was not deducted from the bill|has not been paid back|is missing on the invoice>.
		<Who|Which department> <deals with|handles|is responsible for> <unpaid bills|refunds|payments|invoices>?
		<Why|Since when> do <I|we> have to pay <a late fee|interest|a service charge|a booking fee>?
		<I|We> <dispute|do not accept|object to> <this charge|the late fee|this bill>.
		<The|Your> payment page <does not accept|rejects|refuses> <my card|my credit card|our bank card>.
		<Please|Can you> stop <charging my card|the monthly debits|taking money from my bank account>.
		<I|We> can't afford <these charges|the higher price|such fees>, <why are you charging so much|please refund me>.
		<My|Our> <voucher|gift card> <was refused|was not applied> and the <unexplained|extra> debits were not refunded.
		<Your|The> reminders <came although|were sent although|came after> <I paid by cheque|the bank cards were charged|the American card was debited>.
		Your shop will refuse <my American cards|a cheque from my bank>, <how do I pay|what else can I pay with>?
	`), lines(`
		There is something wrong with {x}.
		I have a question about {x}.
		{x} is too high.
		{x} is not correct.
		Please check {x}.
		I do not understand {x}.
		I did not agree to {x}.
		Why was {x} changed?
		{x} was booked twice.
		I need a copy of {x}.
		Please correct {x}.
		I can't find {x} in my bank statement.
		Who can explain {x} to me?
		I have paid {x} already.
		{x} was taken from my card.
		Please cancel {x} and refund me.
		<I want to|I'd like to|We want to|I have to> <dispute|query|talk about|complain about> {x}<| on my bill| on our statement>.
		<Could|Can> you <explain|break down|itemise|justify> {x}<| for me| to our accountant>?
		<You|Your system> <booked|debited|charged> {x} <twice|again|two times|by mistake>.
		{x} <does not match|differs from> <the contract|the offer|the quote|my records|our books>.
		{x} <was|has been> <charged|debited|withdrawn|booked> <by mistake|without my consent|too early|to the wrong card>.
		<According to|In> my bank statement {x} <was|has been> <paid|debited> <last week|long ago|twice>.
		<How|By when> <do|must> <I|we> <pay|settle> {x}?
		<How|Where> <was|is> {x} <calculated|worked out|shown on the invoice>?
		{x} <appears|shows up|is listed> <twice|two times> on my <statement|credit card bill|account statement>.
		<My accountant|Our bookkeeper|Our accounting team|My bank> <has|had> a question about {x}.
		<Please|Kindly> <refund|reimburse|pay back|credit> {x}.
		Does {x} <include VAT|include tax|contain the sales tax>?
		<I|We> <refuse to|will not|do not want to> pay {x}.
		{x} <is|seems> <far too high|much too high|higher than agreed|higher than last month>.
		<Can|Could> {x} be <refunded|paid in instalments|reduced|deducted from the next bill>?
		<We were|I was> never <told|informed> <about|of> {x} <when we paid|before paying|before I was charged>.
		<I|We> <transferred|paid> {x} <weeks ago|on time|by bank transfer> <and you still ask for money|but you sent a reminder>.
		<Please|Could you> <send|mail|email> <me|us> <a breakdown|a statement|an invoice copy|proof> <for|of> {x}.
		{x} <has not been|was never|was not> <credited|booked|shown> <on my invoice|in my billing history|on the bill>.
		<There is|I see|I found> <a mistake|an error|a wrong figure> in {x}, <you charged too much|the sum is wrong|please correct my bill>.
		<Why|For what reason> <did you charge|have you charged|do you bill me for> {x}?
		<Billing|Payment|Invoice> <question|problem|issue>: {x}.
		{x}: <please refund|charged twice|wrong amount|not on my invoice|too high>
		<When|On which day> <will|does> {x} <fall due|become due|get debited>?
		<I think|It seems|I believe> {x} <was calculated wrongly|contains the wrong tax|is in the wrong currency>.
		<The price|The sum|The money> for {x} <was|has been> <taken|withdrawn> from the wrong <bank account|card>.
	`), lines(`
		my invoice
		the bill
		the last payment
		the refund
		the fee
		the amount
		the tax on the bill
		the monthly price
		the charge on my card
		the receipt
		the discount
		the bank transfer
		the instalment
		the subscription fee
		the price of my plan
		the direct debit
		the yearly fee
		the annual fee
		the monthly charge
		the last invoice
		the final bill
		the late fee
		the booking fee
		the service charge
		the cancellation fee
		the setup fee
		the reminder fee
		the interest charge
		the VAT on the invoice
		the sales tax
		the deposit
		the down payment
		the renewal fee
		the licence fee
		the membership fee
		the total on my invoice
		the credit note
		the payment reminder
		the card payment
		the PayPal payment
		the first instalment
		the second instalment
		the overdue amount
		the outstanding balance
		the balance due
		the unpaid bill
		the bank debit
		the surcharge
		the quarterly bill
		the extra charge
		the exchange fee
		the standing order
		my last bill
		the coupon discount
		the voucher amount
		the last transaction
		the price on the invoice
		the premium fee
		the cost of the upgrade
		the advance payment
		our monthly invoice
		the credit card fee
	`)},
	{words(`
		technical bug software_issue malfunction technical_problem defect error technical_issue tech_support bugs
		system_error bug_report technical_support software_bug it_support crash fault software_problem technical_fault
		errors technical_difficulty glitch`), lines(`
		The app crashes when I open it.
		I see an error message on the screen.
		The page does not load.
		The export to a file fails.
		The button does nothing when I click on it.
		After the update nothing works any more.
		The program freezes all the time.
		Search gives no results although there are some.
		The video has no sound.
		It says internal server error.
		The printer is not recognised.
		The synchronisation stops half way.
		<The|Your|This> <app|program|software|tool> <keeps crashing|crashes again and again|crashes on startup|closes by itself>.
		<I|We> <get|keep getting|always get> <a timeout|an error message|a strange error|an unknown error> when <I|we> <save|upload a file|open the page|start the app>.
		<The|Your> <website|page|site|dashboard> <is blank|stays white|only shows a white page|does not load> <in my browser|on my phone|since the update>.
		<After|Since> the <latest|last|new> <update|release|version> <everything is slow|the menu is gone|nothing loads|the app lags|the screen flickers>.
		<I can't|I cannot|I am unable to|We are unable to> <install|update|start|open> the <software|app|program|driver>.
		<The|My> <installation|update|download|upload|sync> <stops|hangs|gets stuck|fails> <half way|at the end|every time|with an error>.
		<My|The> <files|photos|contacts|notes> <are not synced|do not sync|are not synchronised> <between my devices|to the tablet|with the server>.
		<There is|I found|We found> a <bug|glitch|defect|software error> in <the search|the editor|the report page|your app>.
		<The|Your> <server|system|service|site> <is down|seems to be down|is not reachable|does not respond>.
		<Clicking|Pressing|Tapping> <the button|on save|the icon|the link> <does nothing|has no effect|leads to an error|freezes the screen>.
		<The|Every> <drop-down menu|dialog|window|form> <is unresponsive|does not open|can't be closed|is cut off>.
		<I|We> see <nothing but|only> <a black screen|a blank page|an empty window|a spinning wheel>.
		<The|Your> <API|interface|connection> <returns an error|answers with a timeout|sends broken data|fails all the time>.
		<The|Our> <printer|scanner|camera|microphone> is <not detected|not recognised|no longer found> <by the software|by the app|since the update>.
		<The|My> <data|entries|settings|changes> <are not saved|disappear after saving|vanish when I restart the app>.
		<The|All> <images|pictures|charts|icons> <are not displayed|do not load|look broken|are missing on the page>.
		<The|Your> app <drains the battery|eats all the memory|makes my phone hot|slows down my laptop>.
		<The|A> <file|document|PDF> <can't be opened|is damaged after the download|opens with an error>.
		<Videos|Sound and video|Calls> <stutter|lag|break off|have no sound> <in your app|in the browser|since the last update>.
		The <export|import|backup|report> <produces an empty file|never finishes|runs into a timeout|stops with an error>.
		<The|Your> <letters|special characters|umlauts> <are shown as question marks|look broken|turn into strange signs> <on the screen|in the export>.
		Is <the server|your service|the system|the website> <down|broken|offline|having problems>?
		<Why|How come> does <the app|the program|the page> <freeze|crash|hang|restart> <all the time|when I scroll|so often|when I type>?
		<It|The app> <shows|says|displays> "<something went wrong|unexpected error|connection lost|page not found>".
		<How|What> can I <do|try> <when|if> <the app freezes|the screen stays black|the program does not start>?
		<The|Our> <website|page|app> <looks broken|does not work|is displayed wrongly> <in Firefox|on the iPhone|on Android|in Chrome|on my tablet>.
		<crash|freeze|error|blank screen> <on startup|when saving|after the start screen|when opening a file>
		<app|page|site|upload> <not working|broken|not loading|very slow>
		<The|Your> <search|filter|sorting> <returns nothing|gives wrong results|ignores what I type|throws an error>.
		<The|My> device <loses the connection|does not connect|disconnects> <every few minutes|all the time|since the firmware update>.
		<The|Your> <push notifications|notifications|alerts> <do not work|come too late|stopped working> <on my phone|since the update|in the app>.
		<I|We> <tried|have tried> <another browser|a restart|reinstalling it> <and still get the error|but the app still crashes|but the bug is still there>.
		<Reinstalling|Restarting|Rebooting> <did not help|does not help|changed nothing>, <the error is still there|it still crashes|the app still hangs>.
		<The|Your> <plugin|add-on|extension> <conflicts with|breaks|is not compatible with> <the new version|my browser|our system>.
		<The|My> <keyboard|mouse|touchscreen> <does not react|is not working|is ignored> <in the program|in the editor|in full-screen mode>.
		<Half of|Part of> the <page|text|table> is <missing|not visible|cut off|covered by a menu>.
		<There are|I see> <broken links|dead links|script errors> <on your site|on the start page|in the menu>.
		<The|Your> <script|macro|automation|integration> <fails|throws an exception|stops with a stack trace|no longer runs>.
		<Everything|The page|Typing> <is so slow|lags|takes forever to load> <since the update|in the new version|on my computer>.
		<A|Another> <bug|glitch|software bug>: <the cursor jumps|the text overlaps|the window is empty|the menu flickers>.
		<The|Our> <database|server> <reports|returns|shows> <an internal error|a timeout|a connection error>.
		<The|Your> <installer|setup> <says|complains> that <a file is missing|the disk is full|the version is not supported>.
		<I|We> get <bugs|stutter|lag|errors> <while printing|while I install it|on all Windows machines>.
		<The|Our> Bluetooth <malfunction|fault> <blocks|is blocking> the <printer|scanner>, <it is unusable|it stops responding|it is not reacting>.
		<Special|Foreign> characters like umlauts <disappeared|are not shown correctly> <in the videos|on the screen>.
		<The|This> driver is unable to <start|resend the page|read barcodes|run here>.
	`), lines(`
		{x} crashes.
		{x} does not work.
		{x} is broken.
		{x} freezes after a minute.
		{x} shows an error.
		{x} stopped working after the update.
		{x} does not respond.
		{x} is terribly slow.
		I get an error message from {x}.
		{x} hangs when I start it.
		{x} does not load.
		There is a bug in {x}.
		{x} fails with code 500.
		{x} keeps restarting.
		Nothing happens when I open {x}.
		{x} shows a blank screen.
		{x} <keeps crashing|crashes again and again|crashes all the time|crashes on startup>.
		{x} <hangs|gets stuck|freezes|locks up> <every few minutes|when I save|since the last update|for no reason>.
		{x} <is|has become> <unresponsive|very slow|unusable because it lags|full of bugs>.
		{x} <gives|shows|throws|returns> <a timeout|an exception|an internal error|a strange error message|an unknown error>.
		{x} <lags|stutters|flickers|jumps> <so badly that I can't work|on my laptop|since the update|on every device>.
		{x} <stays|remains|is> <blank|white|black|empty> <after loading|in my browser|on my computer>.
		<I|We> <get|see|have> <errors|timeouts|crashes|glitches> <in|with> {x}.
		<There must be|I found|We noticed|I want to report> a <bug|glitch|defect|malfunction> in {x}.
		<Since|After> the <update|new release|last patch> {x} <does not start|crashes|fails|is broken|misbehaves>.
		{x} <fails|stops|breaks> <with an error|with a timeout|with an exception|without any message>.
		<How|What> can I <fix|repair|do about> {x}<| when it crashes|, it keeps failing>?
		{x} <does not|doesn't|won't> <start|open|react|run|work> <any more|on my phone|on Windows|in Chrome|at all>.
		{x} <stopped|has stopped> <responding|loading|working|reacting> <last night|this morning|out of the blue|suddenly>.
		<Why|How come> does {x} <crash|freeze|hang|fail> <all the time|so often|on my tablet>?
		<My|Our> <computer|laptop|phone> <freezes|crashes|restarts> <when|as soon as> I <use|open|start> {x}.
		<Technical|Software|System> <problem|issue|fault|error> <with|in> {x}.
		{x} <has|seems to have> <a bug|a glitch|a memory leak|a technical problem|a defect>.
		{x}: <error|crash|bug|timeout|not working>
		<I|We> <can't|cannot> <use|run|load> {x} <because of an error|because it crashes|due to a bug>.
		{x} <worked|ran> <yesterday|before the update|fine last week> and now <it only shows an error|it crashes|it is broken>.
		{x} <loads|reacts|works> <very slowly|only every second time|only after a restart>.
		<It looks like|I think|It seems> {x} is <down|broken|offline|faulty>.
		{x} <closes|quits|restarts> <by itself|without warning|unexpectedly>.
		{x} <is not compatible|does not work|crashes> <with|under> <the new system|the latest version|my operating system>.
		<Restarting|Reinstalling|Rebooting> <did not help|does not help>, {x} <still fails|still crashes|is still broken>.
		<The log|The console|The screen> <shows|is full of> errors from {x}.
	`), lines(`
		the app
		the program
		the start page
		the search
		the export
		the website
		the upload
		the printer driver
		the video player
		the save button
		the mobile app
		the import of files
		the screen
		the calendar page
		the server
		the new version
		the desktop app
		the dashboard
		the plugin
		the installer
		the browser extension
		the chat window
		the sync
		the backup tool
		the report page
		the settings page
		the main menu
		the scanner
		the camera
		the microphone
		the touchscreen
		the router
		the tablet
		the software
		the editor
		the map view
		the download page
		the file manager
		the database
		the API
		the widget
		the drop-down menu
		the preview
		the spell checker
		the contact form
		the web page
		the home screen
		the firmware
		the Bluetooth connection
		the toolbar
		the media player
		the spreadsheet
		the PDF viewer
		the add-on
		the search box
		your website
		your app
		the latest version
		the beta version
		the photo gallery
		the upload of pictures
		the video call
		the online editor
		the report generator
	`)},
	{words(`
		account login access sign_in user_account profile authentication account_access login_problem account_issue
		password password_reset sign_in_problem user_management accounts credentials login_issue account_help
		account_management user_access logins account_problem`), lines(`
		I can't log in.
		I forgot my password.
		My account is locked.
		The link to reset my password does not arrive.
		Please delete my account.
		I want to change my email address.
		Somebody else has used my account.
		The code for signing in is not accepted.
		How do I change my user name?
		I no longer have access to my profile.
		Two-factor sign-in asks for a phone that I lost.
		<I|We> <can't|cannot|can no longer|could not> <log in|sign in|log on> <any more|since yesterday|to the portal|with the new password>.
		<I|My wife|My colleague> <forgot|has forgotten|lost> the <password|user name|PIN|login>.
		<I|We> <never got|did not get|still wait for> the <email|link|mail> <to reset the password|for the new password|to confirm my account>.
		<My|Our> <account|login|profile> <was|has been> <blocked|locked|suspended|disabled|deactivated><| for no reason| after too many attempts>.
		<Please|Could you please|Kindly> <unlock|reopen|reactivate|restore> my <account|login|user account>.
		Where <do|can> I <change|reset|choose> <my|a new> <password|PIN|user name|login name>?
		<How|Where> <do|can> I <delete|close|remove> my <account|profile|user account>?
		<I|We> <think|fear|believe> my <account|login|profile> <was hacked|has been hacked|was taken over|is used by a stranger>.
		<Somebody|Someone|A stranger> <logged into|signed in to|got into> my <account|profile>.
		<The|My> <verification code|security code|one-time code|sign-in code> <never arrives|is always rejected|is not accepted|has expired>.
		<I|We> <lost|no longer have|changed> <my phone|the phone|my number> and can't <pass two-factor sign-in|get the sign-in code|confirm my identity>.
		<Your|The> <system|login page|site> <says|claims> that my <password|user name|email> is <wrong|unknown|not registered|invalid>.
		<Please|Could you> <change|update|correct> the <email address|name|phone number|birthday> in my <profile|account|user data>.
		<I|We> want to <merge|combine|join> my two <accounts|profiles|logins>.
		<I|We> <would like|want|need> to <add|invite|remove> <a user|a colleague|a second user> <to|from> our <account|team account>.
		<Can|Could> <I|we> have <two logins|a second login|more users> <for|in> <one account|the same account>?
		<I|We> <registered|signed up> <last week|with my email> and can't <activate the account|confirm the account|log in>.
		<The|Your> <registration|sign-up> <form|page> says my <email|user name> is already <taken|in use|registered>.
		<I am|I was> <logged out|signed out|thrown out of my account> <all the time|every few minutes|after each click>.
		<My|The> <password|PIN|login> <expired|has expired|no longer works|is rejected>.
		<My|Our> new <colleague|employee|assistant> <has no login|needs access|can't sign in|needs an account>.
		<I|We> <do not have|no longer have|lost> <the rights|permission|access> to <the admin area|our team account|my own profile>.
		<Please|Kindly> <remove|delete|erase> all my <personal data|user data> and <close|delete> the account.
		<I|My son|My father> <typed|entered> the wrong <password|PIN|code> <too often|three times> and is <now locked out|blocked>.
		<How|Where> do I <turn on|set up|switch off> two-factor <sign-in|authentication|login>?
		<login|password|account|sign-in> <not working|blocked|locked|lost>, <please reset|please unlock|need access>
		locked out <of my account|of the portal|after a password change>
		<forgot|lost> <password|user name|login>
		<Which|What> <email address|user name> <did I register with|belongs to my account|is my login>?
		<I|We> <get|got> <a mail|a message|a warning> about <a sign-in|a login|an attempt to log in> that was not <me|mine|us>.
		<My|The> <employer|company> <changed|took over> my <email address|mail domain>, <how do I keep my account|so I can't log in|please update my login>.
		<I|We> <want|need> to <transfer|hand over> my account to <my daughter|a colleague|somebody else>.
		<My|The> <profile picture|display name|user name> <can't be changed|is not mine|should be replaced> in my <account settings|profile>.
		<The|Your> <reset link|activation link|sign-in link> <has expired|does not arrive|has been used already>.
		<I|We> <see|can see> <another person's|somebody else's> <profile|account|data> when I <log in|sign in>.
		<Single sign-on|Sign-in with Google|The fingerprint login> <does not let me in|sends me back to the login page|asks for a password I never had>.
		<I|We> have <no access|lost access|no longer access> to my <old email address|mailbox> and <can't reset the password|can't confirm the login>.
		<Please|Could you> <send|give> me a <new password|temporary password|new access code|link to log in>.
		<Am I|Are we> <still registered with you|registered twice|allowed to share a login>?
		<I|We> never <opened|created|asked for> <an account|a profile|a login> <with you|on your site>, please <delete|close> it.
	`), lines(`
		I forgot {x}.
		I want to change {x}.
		Please reset {x}.
		I can't find {x} any more.
		{x} is not accepted.
		{x} is locked.
		How do I change {x}?
		I want you to delete {x}.
		Somebody has stolen {x}.
		{x} was blocked after three attempts.
		I can't sign in with {x}.
		Please unlock {x}.
		I need to update {x}.
		{x} has expired and I am locked out.
		You have the wrong data in {x}.
		<I|We> <can't|cannot|could not> <get into|log in with|sign on with> {x}<| any more| since yesterday>.
		<I|We> <lost|no longer have|have no> <access to|control of> {x}.
		<Please|Could you|Can you> <unlock|reset|restore|reactivate> {x} <for me|again>.
		<How|Where> <can|could> I <reset|restore|change|renew> {x}?
		{x} <is|was|has been> <blocked|suspended|disabled|deactivated> <and I can't log in|so I can't sign in|for no reason>.
		{x} <no longer lets me in|does not work when I log in|does not get me into my account>.
		<The|Your> <login page|sign-in page|system> <rejects|does not accept|does not know|refuses> {x}.
		<Someone|Somebody|A stranger|A hacker> <uses|has used|has changed|got hold of> {x}.
		<I|We> <think|believe|fear> {x} <was hacked|has been hacked|was stolen|is used by a stranger>.
		<I|We> <would like|want|have> to <change|delete|reset> {x} <for security reasons|because I was hacked|and can't find the settings>.
		<I|We> <do not|don't|can't> remember {x}.
		<I|We> <entered|typed> {x} <correctly|three times|again and again> but <I can't log in|the login fails|I was not let in>.
		{x} <is|was> <wrong|unknown|invalid|not recognised>, says the <login page|sign-in form>.
		<The email|The link|The mail> for <resetting|recovering|confirming> {x} <never arrives|does not arrive|has expired>.
		<Is|Perhaps you can tell me: is> {x} <still valid|locked|deleted|blocked>?
		<What|How> <happens to|about> {x} when I <close my account|delete my profile|change my email address>?
		<Please|Kindly> <remove|delete|erase> {x} <from your system|for good|and confirm it>.
		<My colleague|My wife|My son|My boss> <can't sign in with|is locked out of|has lost> {x}.
		{x}: <forgotten|locked|can't log in|please reset|expired>
		<Login|Access|Account|Sign-in> <problem|issue|trouble> <with|because of> {x}.
		<Since|After> <I moved|the password change|my marriage> {x} <is not accepted|needs to be changed|is out of date>.
		<I|We> <need|want> <help|some help> with {x}, <I am locked out|the login fails|I can't sign in>.
		<Can|Could> <you|someone> <confirm|tell me|check> <whether|if> {x} <is locked|was changed|has been hacked>?
		<Every time|Whenever> I <log in|sign in>, {x} <is refused|is asked for twice|is rejected>.
		<I|We> never <changed|gave away|shared> {x}, <yet|but> <I am locked out|someone logged in>.
	`), lines(`
		my password
		my account
		my user name
		my login
		my profile
		the access code
		my PIN
		my sign-in link
		my email address in the profile
		my security question
		my second account
		my log-in data
		my user profile
		my passcode
		my username
		my login name
		my admin account
		my user ID
		my customer login
		my one-time code
		the recovery code
		my backup code
		my security key
		my sign-in email
		my old password
		my new password
		my temporary password
		the password for the portal
		my online account
		my team account
		my business account
		my shared login
		my fingerprint login
		my email login
		my work profile
		my company profile
		my trial account
		my guest account
		my member account
		the admin login
		my secret question
		my account name
		my two-factor code
		my verification code
		my login token
		my access key
		my member login
		my customer profile
		the login of my colleague
		the account of my wife
		my student account
		my display name
		my personal account
		my password and user name
		the portal login
		my login email
		my web account
		my family account
	`)},
	{words(`
		shipping delivery logistics parcel shipment transport package shipping_issue delivery_problem delivery_issue
		order_delivery parcels fulfilment freight courier dispatch orders_and_delivery shipping_and_delivery tracking
		delivery_question shipments shipping_question parcel_service`), lines(`
		My parcel has not arrived.
		The package was delivered to the wrong address.
		Where is my order?
		The box was open and damaged on arrival.
		The tracking number does not work.
		The courier did not ring.
		Delivery takes much longer than promised.
		One of the items was missing in the box.
		Can you deliver on Saturday?
		The shipment is stuck at customs.
		I got somebody else's parcel.
		<My|Our|The> <parcel|package|order|delivery> <is late|is overdue|should have been here last week|has been delayed>.
		<The|Your> <courier|driver|postman|delivery man> <left it at the wrong door|never came|threw the box over the fence|did not find our house>.
		<Tracking|The tracking page|The tracking link> <has not changed for days|shows no movement|says it is still at the depot|says delivered, but nothing is here>.
		<Where|In which depot> is my <parcel|package|shipment|delivery><| now| at the moment>?
		<When|On which day> <will|does> my <order|parcel|delivery|package> <arrive|come|get here|ship>?
		<The|My> <box|carton|parcel|package> <was crushed|was torn open|was soaking wet|arrived empty|was badly packed>.
		<I|We> <received|got> <the wrong item|someone else's order|only half of the order|two parcels instead of one>.
		<One|Part> of <my|our> <order|delivery|shipment> <is missing|was not in the box|never arrived|was left out>.
		<The|Your> <delivery|shipping> <took too long|took three weeks|is far too slow|was a day late>.
		<Do|Can|Could> you <deliver|ship|send> <to Norway|abroad|to a post office box|to islands|to a neighbour|to my workplace>?
		<Can|Could|May> <I|we> <change|correct|update> the <delivery address|shipping address|delivery date> <of my order|of the parcel|before it is sent>?
		<Can|Could|May> <I|we> <pick up|collect> the <parcel|order|package> <myself|at the depot|at your warehouse|at a parcel shop>?
		<The|My> parcel was <handed to|given to|left with> <a stranger|a neighbour I do not know|the wrong family>.
		<Our|My> <shipment|container|pallet|parcel> <is held|is stuck|got stuck|was stopped> <at customs|at the border|in the harbour|in the depot>.
		<It|The tracking> says <delivered|handed over|signed for>, but <nobody rang|there is no parcel|I have not received anything>.
		<I was|We were> at home all day and <nobody delivered the parcel|the courier did not come|the driver left only a card>.
		Has my <order|parcel|package> <been sent|been shipped|left your warehouse> <yet|already>?
		<Which|What> <courier|carrier|delivery service|shipping company> do you use?
		How long does <delivery|shipping> <take|usually take> <to Spain|to the countryside|by sea|with express>?
		How many days <does|will> <express shipping|delivery to the island|shipping abroad> take?
		<Please|Kindly> <send|ship> the <goods|parcel|order|package> to <my new address|our office|our other address>.
		<Please|Could you> <leave|put|drop> the <parcel|package|box> <in the garage|at the back door|with the neighbour|in front of the door>.
		<The|My> <glass|plates|bottles|mirror> in the <box|parcel|package> <broke on the way|arrived in pieces|did not survive the transport>.
		<parcel|package|order|delivery> <lost|not here yet|damaged|late>, <please trace it|where is it|please send a new one>
		<not delivered|wrong address|never arrived>, <tracking shows nothing|courier does not answer|please check with the carrier>
		<The|Your> <warehouse|depot|carrier> <sent|shipped|dispatched> my <order|parcel> to <another town|the wrong country|my old flat>.
		<The|My> parcel <went back|was returned|was sent back> to <the sender|you|the warehouse> <although I was at home|without any reason|by mistake>.
		I <missed|was not home for> the <delivery|courier>, can you <send it again|bring it tomorrow|arrange a new delivery>?
		<There was|I found> <no card|no note|only a card> in my <letter box|mailbox>, <where is the parcel|who has my package>?
		<Please|Could you> <hold|keep|store> <my order|the delivery|the parcel> <until I am back from my holiday|at the depot|at the warehouse>.
		<The|Your> truck <could not get through the gate|blocked our street|came with the wrong pallet>.
		<We are|I am> still <waiting|looking out> for <the courier|the freight|the rest of the delivery|the second package>.
		<I|We> <need|would like> <a tracking number|a tracking link|the name of the carrier> for my <order|parcel|shipment>.
		<The|My> <fridge|sofa|bed|table> was <left on the pavement|not carried upstairs|scratched in transport|delivered to the wrong floor>.
		<My|Our> <order|shipment> was <split into|sent in> two <parcels|boxes> and only one <came|arrived|has been delivered>.
		<The|Your> courier <wants|asked for> a <signature|code> at the door and <I was out|nobody was home>.
		<How|Where> do I <send back|return> a parcel that <was damaged on the way|came to me by mistake|belongs to a neighbour>?
		<The|My> <seal|tape|wrapping> of the <box|parcel> was <torn|broken|open> <on arrival|when the courier came>.
		<Delivery|Shipping|Transport> <problem|issue>: <box damaged|parcel lost|wrong address|nothing arrived>.
		<Nobody|No one> <at the depot|at the post office|in the parcel shop> can <find|hand over> my <parcel|package>.
		<Two|Some> of the <bottles|plates|windows|mirrors> did not survive the <transport|trip>.
		The <wardrobe|mirror> I tracked <has disappeared|was easily scratched in the lorry>.
	`), lines(`
		{x} has not arrived.
		{x} is late.
		{x} is lost.
		Where has {x} gone?
		When will {x} arrive?
		{x} was damaged on the way.
		{x} was left in the rain.
		{x} went to my neighbour.
		{x} has been on the way for three weeks.
		{x} came to the wrong house.
		The driver did not bring {x}.
		{x} is still at the depot.
		{x} was sent to my old address.
		I am waiting for {x}.
		I can't track {x}.
		{x} came without its contents.
		{x} <never|still has not|hasn't> <arrived|reached me|turned up|come>.
		<Where on earth|In which depot|In which warehouse> is {x}?
		{x} <got lost|disappeared|went missing> <in the post|on the way|in the depot|in transport>.
		{x} <arrived|came|reached us> <broken|damaged|in pieces|wet|too late|in a torn box>.
		{x} <got stuck|hangs|stopped> <at customs|at the border|in the warehouse|at the sorting centre>.
		<The courier|The driver|The postman|The carrier> <lost|dropped|damaged|never brought> {x}.
		<When|On what day> <can|will|should> <we|I> <expect|get|receive> {x}?
		<I|We> <have not|haven't|never> <received|got> {x} <yet|so far|from the courier>.
		<Can|Could> you <track|trace|locate|find> {x}<| for me|, please>?
		<Tracking|The tracking page|The courier> <says|claims> {x} <was delivered|arrived yesterday|left the depot>, but <nothing came|I got nothing>.
		<Please|Could you|Can you> <send|deliver|ship> {x} to <my new address|my office|another address|a parcel shop>.
		Has {x} been <sent|shipped|dispatched|handed to the courier> <yet|already>?
		{x} <was|got> <delivered|brought|taken> to <the wrong house|another street|a stranger|the wrong floor>.
		<Somebody else|A neighbour|A stranger> <signed for|accepted|took> {x} <at the door|from the courier>.
		{x} <did not|didn't> <come|arrive> <on the promised day|with the courier|with the rest of the delivery>.
		<The|Your> <driver|courier> <left|dropped> {x} <in the rain|on the street|at the wrong door|in the hall>.
		<The tracking number|The tracking link|The tracking code> of {x} <does not work|is unknown to the carrier|shows nothing>.
		<May|Can> I <pick up|collect> {x} <at the depot|from the warehouse|at the post office>?
		<Delivery|Shipping> of {x} <is late|takes too long|was promised for last week|failed again>.
		{x} <was|got> <returned to the sender|sent back by the carrier|sent to my old flat|loaded on the wrong truck>.
		{x}: <not delivered|lost in transit|damaged on arrival|where is it|no tracking>
		<I was|We were> <out|away> when the courier <came|rang> with {x}.
		<How|Why> does it take so long to <deliver|ship|send> {x}?
		<Which|What> <courier|carrier|delivery service> <brings|delivers|transports> {x}?
		<Who|Which neighbour> <signed for|accepted|received> {x}?
		<I|We> <stayed|waited> at home <all day|the whole morning> for {x} and <no courier came|nobody delivered>.
	`), lines(`
		my parcel
		the package
		my order
		the delivery
		the box
		the shipment
		the second parcel
		the letter
		my new chair
		the shoes I ordered
		the book I ordered
		the goods
		the crate
		our pallet
		the replacement
		my package
		the parcel
		my shipment
		my delivery
		our order
		the second box
		the container
		the freight
		the envelope
		the small packet
		my replacement
		the spare part I ordered
		the lamp I ordered
		the birthday present I ordered
		my new sofa
		the table I bought online
		the other half of my order
		the rest of my order
		the express parcel
		the registered letter
		the return parcel
		my last order
		the consignment
		the carton
		my new mattress
		the coat I ordered
		the missing box
		our delivery
		the last package
		the bicycle I ordered
		the big box
		the sample you sent
		the washing machine
		my new fridge
		the suitcase I ordered
		the tracked parcel
		the first shipment
		the courier package
		the heavy crate
		the second delivery
		the order for my office
		the wardrobe
		the carpet I ordered
		the dress I ordered
		the mirror
	`)},
	{words(`
		feature_request suggestion idea wish feature improvement proposal enhancement feature_suggestion new_feature
		enhancement_request feature_idea wishlist suggestions ideas improvement_request product_idea feature_wish
		user_suggestion new_idea feature_requests product_suggestion`), lines(`
		It would be great to have a dark mode.
		Please add support for more languages.
		I wish I could sort the list by date.
		Could you add a calendar view?
		A way to export all data would help.
		I suggest a bigger font.
		Please let us choose the colours.
		I would love to see a mobile version.
		An undo button would be useful.
		Have you thought of adding tags?
		<It would be|It'd be|It might be> <great|nice|helpful|useful|cool> <if I could|if we could> <change the colours|sort the list by name|save a search|print the calendar>.
		<Please|Could you|Can you> <add|build in|introduce> <a night mode|a search by tag|a Polish version|more shortcuts|an undo button> <in the next version|some day|in a future release>.
		<I|We> <wish|would love it if> <there was|you had|the app had> <a way to|an option to> <sort by price|export all notes|share a list|print labels>.
		One <suggestion|idea|proposal|wish>: <let users|allow us to|why not> <choose the font|rename folders|pin a note|change the layout>.
		<How about|What about|Have you thought about> <a version for tablets|a widget|a chat|more templates|a quick search>?
		<I|We> <suggest|propose|recommend> <adding|building|offering> <a calendar|a map|a timer|an archive|a print button>.
		<My|Our> <wish|idea|suggestion> for the <next|coming|new> version <is|would be> <a bigger font|a list view|an offline mode|a filter>.
		<Are|Were> you <planning|thinking of> <a mobile version|support for Linux|an API|a Spanish version|a plug-in for browsers>?
		<An option|A setting|A switch> to <hide the menu|turn off the sounds|change the font size|sort by date> <would be handy|would help|would be great|is what I wish for>.
		<It would help|It would make life easier|We would save time> if <the app|the program|your tool> <could|was able to> <read barcodes|send reminders|remember filters|copy whole folders>.
		<Why not|Why don't you> <add|offer|include> <a dark theme|a spell checker|keyboard shortcuts|an import from Excel>?
		<The|Your> <app|tool|program> <could use|would profit from|needs> <a better search|more languages|a compact view|a tree view>.
		<I miss|We miss|I am missing> an option <to sort|to filter|to group|to print> the <list|table|notes>.
		<Other|Competing> <apps|tools|products> <have|offer> <a split screen|drag and drop|colour themes|voice input>, <please add it|could you add it too|I wish you had it>.
		<Wish|Wishlist|Idea|Suggestion>: <dark mode|bigger buttons|more themes|calendar view|drag and drop>
		<feature request|suggestion|idea>: <please add tags|an option to sort by size|export to Excel|a zoom function>
		<please|would you> <make it possible|allow us> to <share folders|choose a colour|hide columns|work offline>
		<Would|Could> it be possible to <have|get|add> <a chart view|two columns|a second toolbar|a read-only mode>?
		<Please|Kindly> <support|consider supporting> <more file types|right-to-left languages|screen readers|more currencies in the table>.
		<I|We> <would like|would love|'d like> <the app|the program|your tool> to <remember my filters|show the weather|speak the text aloud|draw charts>.
		<You|Your team> <should|could|might> <add|think about|consider> <a favourites list|a history of changes|an automatic save|custom themes>.
		<I|We> <have|had> an idea <for|how to improve> <your app|the next version|the start page>: <show the last files first|add a map|let us group notes>.
		<It|This> <is a pity|is a shame> that <there is no|you do not offer a> <dark theme|week view|shortcut for copying|bin for deleted notes>, <please add one|could you build one>.
		<An improvement|A small improvement|A possible enhancement> would be <a larger preview|a sort button|to show the date|a counter for words>.
		<Integration|A link|A bridge> with <my calendar|other tools|a spreadsheet> would be <a great addition|most welcome|a nice feature>.
		Are there <plans|any plans> for <a desktop version|a dark mode|more templates|an export to Excel>?
		<I|We> <could do|would work> much faster <with|if you added> <keyboard shortcuts|bulk editing|a quick search|macros>.
		<Let|Please let> us <choose|pick|set> <our own colours|the font|the order of the columns|the start page>.
		<A|An optional> <reminder function|progress bar|live chat|comment function> <would be lovely|would be a good feature|is on my wishlist>.
		<Could|Can> the <list|table|menu> <be made|become> <sortable|wider|configurable|collapsible>?
		<For|In> <a future|the next> <version|release>, <please think of|I would like|I wish for> <more icons|a guest mode|bigger thumbnails|a kanban board>.
		<I|We> <vote|voted> for <a dark mode|voice control|offline maps|the new calendar view> as the next feature.
		<The|Your> search <should|could> also <find|look through> <attachments|comments|tags>, that would be a <nice improvement|great feature>.
		<New|Small> feature <wanted|wish|idea>: <colour labels|automatic backup|swipe to delete|voice notes>.
		<Enhancement|Improvement>: <show totals in the table|add a copy button|remember the window size|allow longer notes>.
		<Support for|A version in> <Portuguese|Arabic|Czech|Turkish> would be <nice|great|a real improvement>.
		<It|The app> would be <even better|perfect|more useful> with <a timer|a map view|templates|an offline mode>.
		<Dear developers|Hello team>, <please consider|how about|could you add> <a quick filter|a sleep timer|a list of recent files>?
		<I|We> <want|need> <more options|more settings> for <the layout|printing|sorting|the export>, <could you add them|please add some>.
		<Maybe|Perhaps> you <could|can> <add|offer|build> <a simple view for beginners|a bigger cursor|a compare function> <one day|in the next release>.
		<Better|More usable> reminders, <a way to read barcodes|easier steps for printing|videos that play in the list> <would be an improvement|would be nice>.
	`), lines(`
		Please add {x}.
		It would be nice to have {x}.
		I would like to have {x}.
		Could you offer {x}?
		I miss {x}.
		Have you considered {x}?
		Other programs have {x}.
		Are you planning {x}?
		{x} would be a great addition.
		My idea: {x}.
		I propose {x}.
		What about {x} in the next version?
		We would use {x} every day.
		{x} would make my work easier.
		It would help us to have {x}.
		I suggest {x}.
		<It would be|It'd be> <great|lovely|cool|useful|helpful> to <have|get|see> {x}< in the app| in the next version| some day|>.
		<Could|Can|Would> you <add|build|introduce|include|implement> {x}<| please| in a future release| one day>?
		<I|We> <wish|really wish> <there was|you had|the app had|we had> {x}.
		<I|We> <would love|'d love|would like> <to see|to get|to use> {x} <in the next release|in the new version|in your app>.
		<Suggestion|Feature request|Wish|Idea|Proposal>: {x}<| please| for the next version>.
		<Please|Kindly> <consider|think about> <adding|building|offering> {x}.
		<How about|What do you think of|Why not add> {x}<| as a new feature| in the next release>?
		<I|We> <propose|suggest|recommend> <adding|to add|that you add> {x}.
		<The app|Your program|The tool> <would be better|would be perfect|would be more useful> with {x}.
		{x} <is missing|is what I miss|is all that is missing> <in your app|in the current version>, <please add it|could you add it>.
		{x} <would|could> <help us a lot|save us time|be a nice feature|be a real improvement>.
		Are there <any plans|plans> <for|to add|to offer> {x}?
		<Will|Could> there <ever be|be> {x} in <a later version|the app|the next release>?
		<My|Our> <feature request|wish|suggestion|dream> <is|would be> {x}.
		<You|Your team> <should|could> <think about|add|consider> {x} <as an option|as a new feature|for the next version>.
		<Other|Many|Most> <apps|tools|products> <already offer|come with|have> {x}, <yours does not yet|please add it too|so why not yours>.
		<I|We> <vote|would vote> for {x} <as the next feature|in the next version>.
		<An|One> <idea|improvement> <for|from> <our team|the users>: {x}.
		<I'm|I am|We are> <missing|hoping for|wishing for> {x} <in the next update|in your product|as a feature>.
		<With|If we had> {x} <we could work faster|my work would be easier|the app would be perfect>, <so please add it|that is my suggestion>.
		<Any chance|Is there a chance> of <getting|seeing|adding> {x}<| in a future version>?
		<On|At the top of> my <wishlist|wish list>: {x}.
		{x} would be <cool|handy|nice|awesome|welcome>.
		<Please|Do> <put|add> {x} <on your list|on the roadmap|to the next version>.
		<Users|My colleagues|Our customers> <ask for|wish for|would like to have> {x}.
		<A feature|An addition|An improvement> <I would like|we wish for|I suggest>: {x}.
	`), lines(`
		a dark mode
		a calendar view
		an undo button
		more languages
		larger fonts
		tags for notes
		a mobile version
		shortcuts for the keyboard
		an offline mode
		a search by date
		a filter for lists
		more colours
		templates for letters
		voice input
		a night theme
		an export to PDF
		a dark theme
		a print button
		a week view
		a map view
		a live chat
		a search by tag
		a spell checker
		a progress bar
		a tool for reports
		a reminder function
		a weekly summary
		a way to sort the list
		a way to print labels
		a bulk edit mode
		a drag and drop function
		an import from Excel
		an archive for old notes
		a bin for deleted files
		a guest mode
		a zoom function
		a read-only mode
		a favourites list
		a split screen
		a compact view
		a comment function
		a backup in the cloud
		a desktop version
		a widget for the home screen
		an app for tablets
		a Polish translation
		a counter for words
		a timer
		a history of changes
		a team view
		an API for developers
		a plug-in for browsers
		a colour picker
		a barcode scanner
		a quick search
		a tree view
		a kanban board
		a mode for screen readers
		a shortcut for saving
		a sort option
		a link to my calendar
		an automatic save
		a list of recent files
		a chart view
	`)},
	{words(`
		question general other inquiry information general_question misc inquiries general_inquiry general_enquiry
		enquiry information_request other_question miscellaneous questions everything_else something_else info
		general_information faq none_of_these`), lines(`
		What are your opening hours?
		Do you have a shop in the city?
		How long does the guarantee last?
		Which size should I take?
		Who is the right person to talk to?
		Do you offer discounts for schools?
		Is there a manual?
		Where are your products made?
		Do you have job openings?
		Can I visit your office?
		<When|At what time|On which days> <are you open|do you open|does your shop open|do you close>?
		<Where|In which town> <is your office|is your shop|are you located|is your nearest branch>?
		Do you have a <shop|branch|dealer|showroom> <in the north|near the station|in my region|in Scotland>?
		<Who|Whom> <can I ask|should I contact|do I talk to> about <a job|a cooperation|a visit|your school programme>?
		<Which|What> <model|size|colour> <would you recommend|is best|do you suggest> for <a beginner|a child|a small kitchen|outdoor use>?
		<What|Which> <material|wood|fabric> <are your bags|are the chairs|is the table> made of?
		<How long|For how many years> <is the warranty|is the guarantee|does the guarantee last> <for your chairs|on your machines|in general>?
		Is your <shop|office|museum> <open|closed> <on Sunday|on holidays|in the summer|at lunchtime>?
		<Do|Can> you <offer|give> <guided tours|courses|training|workshops> for <groups|schools|beginners|families>?
		<May|Could> <I|we> <visit|tour|see> your <factory|workshop|office|showroom>?
		Are you <hiring|looking for staff|looking for trainees> at the moment?
		<I|We> <would like|want> to <know|learn> <more about your company|what you do|who founded your company|how your products are made>.
		<Where|How> <can|do> I <find|get> <a manual|a user guide|your catalogue|a brochure|the instructions>?
		Will you <be at|come to> <the fair|the trade fair|the book fair> this <year|spring|autumn>?
		<What|Which> is the difference between <the two models|the small and the big one|your courses>?
		Are your products <vegan|made in Europe|safe for children|recyclable>?
		<I am|We are> <writing an article|writing a school report|doing a study> about <your company|your industry> and have <some questions|a few questions>.
		<Just|Only> a <quick|short|general> question: <are dogs allowed in the shop|do you speak French|is there a car park|are you a family business>?
		Is there <parking|a car park|a bus stop> <near your shop|at your office|in front of the store>?
		Does your <staff|team> speak <French|Polish|Italian|sign language>?
		<How|Where> can I <subscribe to|sign up for|read> your <newsletter|blog|magazine>?
		<Could|Can> you <send|give> me <some information|a brochure|some general information> about <your company|your courses|your products>?
		How many <people work for you|staff do you have|branches do you have>?
		<Who|Which person> is your <press contact|head of marketing|contact person for schools>?
		<Since when|How long> have you been <in business|in this town|making furniture>?
		Would it be possible to <meet someone from your team|get some advice|talk to an adviser> in person?
		<opening hours|parking|directions> <for the shop|for your office>?
		question: <do you sell spare parts|is the shop open today|do you buy used books>?
		<What|Which> <languages|brands|sizes> do you <offer|sell|have> in your <shop|school|catalogue>?
		<Do|Would> you <sponsor|support> <sports clubs|local schools|young artists>?
		I <wonder|was wondering|would be curious> <where your coffee comes from|how you make the chocolate|whether the lamp is suitable for gardens>.
		Can the <chair|tent|ladder> <carry|hold> <two people|an adult|a tall person>?
		<Where|How> do I <apply|send an application> for <an internship|a job|a traineeship>?
		Is the <course|workshop|tour> suitable for <children|beginners|older people>?
		<Do|Could> you <know|recommend> a <dealer|partner|craftsman> in <my area|our region>?
		What is the <right|best> way to <clean the leather|store the wine|care for wool>?
		<Please|Could you> <tell me|let me know> <who leads your company|where your head office is|what your company does>.
		<Will the shop be open|Does the shop open> <at Easter|on Christmas Eve|over the holidays>?
		<What|Which> are the <house rules|visiting hours|terms for schools>?
		<Is|Was> there a <minimum age|dress code|waiting list> for <the course|the tour|the workshop>?
		Can you name a craftsman who <tested|works with> your <lamps|gardens|windows>?
		I applied for a job and <was|am> wondering <who reads it|when you answer|how it is classified>.
		Do you show <gardens|luxury machines|how steps are formed> on your <tours|open days>?
	`), lines(`
		Do you have {x}?
		Where can I find {x}?
		Can you tell me about {x}?
		I would like to know more about {x}.
		What can you tell me about {x}?
		Is there any information on {x}?
		Who can I ask about {x}?
		I am looking for {x}.
		I am interested in {x}.
		Please send me information about {x}.
		What are {x}?
		How do I find out about {x}?
		A short question about {x}.
		<Could|Can|Would> you <tell me more|tell us something|give me some information> about {x}?
		<We|Both of us> <would like|'d like|want> to <know|learn|hear> <more|something> about {x}.
		<I have|We have|Just> a <quick|general|short|simple> question <about|on|regarding> {x}.
		<Where|How> <can|do|could> <I|we> <find|get> <information|details|something to read> <on|about> {x}?
		<Who|Which person> <can|could> <tell me about|inform me about|answer a question about> {x}?
		<Do you have|Could you send me> <some information|a leaflet|a page> <on|about> {x}?
		<I am|I'm|We are> <curious|just curious> about {x}.
		<What|How much> <is there to know|can you say> about {x}?
		<Information|Info|Details> <on|about> {x}, please.
		<A|One> <general|quick> <inquiry|enquiry|question> <about|regarding> {x}.
		Is there <a page|some information|a brochure|an article> about {x} <on your site|that I could read>?
		<I|We> <read|heard> about {x} and <would like to know more|have a question|want to hear more>.
		<Whom|Who> <should|do|can> I <contact|call|write to> <about|regarding> {x}?
		<Please|Kindly> <inform me|tell me|send me something|let me know> about {x}.
		<I|We> <could not|couldn't|did not> find <anything|much|any information> about {x} <on your site|on the web>.
		<My|Our> question <is|was> about {x}.
		<Can|May> I <ask|ask you> <something|a question> about {x}?
		<I'd|I would> be <glad|happy|thankful> for <some information|any information|a few words> about {x}.
		<We|I> <need|want> some <background|general information|facts> <on|about> {x} <for a school project|for an article|out of interest>.
		<General|Other> <question|inquiry|enquiry>: {x}.
		question <about|on|regarding> {x}
		<Someone|A friend|A neighbour> told me about {x}, <can you tell me more|is that right|what is it about>?
		<Whom|Who> in your <team|company|office> <knows|could tell me> <more about|something about> {x}?
		<Before I decide|Before I visit you|Out of interest>, <can you tell me|I would like to hear|please tell me> something about {x}.
		Is somebody <free|there|available> to talk <to me|with us> about {x}?
		<I am|We are> <looking for|after|searching for> information <on|about> {x}.
	`), lines(`
		your opening hours
		a shop in my town
		your office
		a catalogue
		your products
		a manual
		the guarantee
		job openings
		guided tours
		your team
		a brochure
		your partners
		the size chart
		your holidays
		training courses
		the history of your company
		your company
		your head office
		your address
		your privacy policy
		your mission
		your founder
		your nearest branch
		your showroom
		your newsletter
		your blog
		your school programme
		your sales team
		a local dealer
		a partner near me
		a user guide
		a free sample
		a demo
		a webinar
		an internship
		a job at your company
		the warranty
		the material of your bags
		the origin of your coffee
		your factory
		the car park at your shop
		a guided visit
		a meeting with an adviser
		your range of products
		your work with schools
		the next open day
		the museum in your building
		a contact person
		your summer programme
		your stand at the fair
		the press office
		your view on the environment
		your latest certificate
		the best model for beginners
		the difference between the models
		the dress code
		your workshop
		your magazine
		a course for beginners
		the shop in the city
		your region
		your charity work
		the way to your office
	`)},
}

var urgencies = []class{
	{words(`
		high urgent critical top very_high immediate asap blocker high_priority emergency very_urgent pressing at_once
		now severe crucial top_priority extremely_urgent highest immediately`), lines(`
		This is urgent!
		We can't work until this is solved.
		Please help immediately.
		I need an answer today.
		It has to be solved within the hour.
		All our customers are affected.
		Please treat this with top priority.
		This can't wait.
		Everything stands still here.
		I need help right now.
		This is an emergency.
		We lose money every minute.
		It must be fixed today.
		Please answer at once.
		The whole company is waiting.
		Time is running out.
		As soon as possible, please!
		We have a deadline in an hour.
		Please hurry.
		Production is down.
		It is of the highest importance.
		<This|It> is <very|extremely|really|super|most> urgent<|!|, please hurry>
		<Please, please|Kindly|You must> <help|answer|reply|react|act> <at once|immediately|right away|straight away|without delay|instantly>.
		<I really|We> need <a solution|an answer|help|a reply|someone> <right now|this minute|within the hour|immediately|today>.
		<We|I> <can't|cannot> <work|continue|do anything> <at all|any more> until <this is solved|you help us|it is fixed>.
		<Everything|All work|Our whole office> <has stopped|has come to a halt|is blocked|stands still> <because of this|since this morning|right now>.
		<Most|All of> our <customers|users|employees|colleagues> are <affected|blocked|waiting|stuck><| right now| by this>.
		<ASAP|URGENT|Urgent|EMERGENCY>, <please|please help|please answer>!
		<asap|urgent|top priority|emergency> <please|pls>
		<As|Please answer as> <soon as possible|fast as you can|quickly as possible>!
		<It|This> <can't|cannot|must not> wait <until tomorrow|any longer|another hour|at all>.
		<That|This> <has to be|must be|needs to be> <solved|fixed|sorted out|dealt with> <today|immediately|at once|before tonight|within the hour>.
		<This|It> <blocks|is blocking|is a blocker for> <our entire team|the whole company|our launch|all our work>.
		We are losing <money|customers|business> <every minute|with every hour|while you read this>.
		<Top|Highest|Maximum> <priority|urgency><|, please|!| for us>
		<This|It> is <critical|crucial|of vital importance> <for us|for our business|for tomorrow morning>.
		<Our|The> deadline is <today|tonight|in two hours|in one hour>.
		<I|We> <have|must have> <an answer|a solution> <before noon|by tonight|by the end of today|within two hours>.
		<Call|Phone|Ring> <me|us> <immediately|back at once|right now|as soon as you read this>.
		<Drop|Leave> everything else, <please|this comes first|this is critical>.
		<There is|There's> no time <to lose|to waste|left>.
		<Hurry|Please hurry|Hurry up>, <time is running out|it is very urgent|every minute counts>!
		<Every|Each> <minute|second|hour> counts<| now| here>.
		<It|This> is an <absolute|real> emergency<|!| for us>
		<I am|We are> <desperate|under extreme pressure|in great trouble>, <help now|please answer today|it can't wait>.
		<Please|Kindly> <escalate|pass on> this <immediately|at once> to <your best people|your manager|someone who can help>.
		<Severe|Critical|Serious> <impact|problem> <for|on> <all our users|the whole company|our business>.
		<Nobody|No one> <here|in the company> can work <right now|at the moment|any more>.
		<We|I> <need|want> <this|it> <solved|done|fixed> <today|now|immediately>, not <tomorrow|next week>.
		<Immediate|Instant|Urgent> <help|action|attention|reply> <needed|required|is needed>.
		<Please|You must> treat this as <urgent|an emergency|critical|your top priority>.
		The situation is <critical|very serious|getting worse by the minute>.
		<Our|The> <launch|presentation|event> <starts|begins> in <an hour|a few hours>, <so please hurry|help us now>.
		<Waiting|Further waiting|A delay> is <not possible|no option|impossible> <for us|in this case>.
		<I|We> <have to|must> <insist on|ask for> an <immediate|instant> <answer|solution|reply>.
		<It|This> is <more than|beyond> urgent<|, act now|, answer today>.
		<Stop|Stop everything>, <this is critical|this is urgent|we need help now>.
		<We|I> <need|expect> <your help|a reaction> <this very hour|within minutes|in the next hour>.
		<Whoever reads this|Dear team>, <answer immediately|please act now|this is extremely urgent>.
		<Please|Kindly> do not <wait|delay|put this off>, it is <urgent|critical|an emergency>.
		Our <business|factory|shop|hospital> <stands still|can't operate|is paralysed> <because of it|until it is solved>.
		<Highly|Very|Extremely> <urgent|critical|time-critical> <matter|case|request>.
		<We|I> <can't|cannot> <afford|risk> <any delay|to wait|another day>.
		Now, <please|not later|not tomorrow>!
		I need <this|it> <yesterday|now|by tonight>, <it is that urgent|please hurry|no joke>.
		<With|Highest importance, with> the request for <an immediate answer|immediate help|a reply today>.
		<A|This> <blocker|severe fault>, <help now|time-critical>, <I am telling you|the whole team waits>!
	`), nil, nil},
	{words(`
		medium normal moderate standard average regular normal_priority medium_priority mid middle intermediate usual
		ordinary moderately_urgent fairly_urgent standard_priority middling mid_level`), lines(`
		Please look into it this week.
		An answer in the next days would be good.
		It is annoying, but we can work.
		I would like to have this solved soon.
		Please get back to me when you can this week.
		It disturbs our work a little.
		Please fix it in the next few days.
		Some time this week would be fine.
		It is not dramatic, but it should be solved.
		We found a way around it for now.
		It would be good to have it by Friday.
		A reply within two days is enough.
		It bothers us now and then.
		It matters, but it is no emergency.
		<Please do|Could you|Kindly> <look into it|have a look|deal with it|take care of it> <this week|in the next few days|in the coming days|within a few days>.
		<An answer|A reply|A solution> <this week|in a few days|within three days|by the end of the week> <would be fine|would be good|is soon enough|will do>.
		<It|This> is <not an emergency|not critical|not a catastrophe>, but <it should be solved soon|please do not forget it|we would like it fixed this week>.
		<It|This> is <annoying|a nuisance|a bit awkward|inconvenient>, but <we can continue|we can work with it|not critical|we manage for now>.
		<Normal|Standard|Medium|Regular|Usual> <priority|urgency><|, please| is fine| will do>.
		<normal|medium|standard> priority <please|is ok>
		<I|We> would <appreciate|like|welcome> <an answer|a reply|a fix> <in the next days|this week|by Thursday|some time this week>.
		<I|We> <have|found> a workaround, but <it should be fixed this week|a proper solution soon would be good|we need a solution in some days>.
		<Some|A few> of our <users|colleagues|customers> are <affected|bothered>, <most can work|others are not|but work goes on>.
		<It|This> <slows us down|bothers us|disturbs us> <a little|somewhat|a bit>, but <nothing is blocked|we can go on|work goes on>.
		<Please|Kindly> <answer|reply|get back to me> <within a few days|in the course of the week|within the usual time|by the end of the week>.
		<There is|There's> some time, but <not too much|please do it this week|do not leave it for weeks>.
		<It|This> <would be nice|would be good> to <have it solved|get an answer|hear from you> <before the weekend|by Friday|within the week>.
		<Moderately|Fairly|Reasonably> <urgent|important><|, not critical|, a few days are fine|, this week is fine>.
		<Not|It is not> <critical|an emergency> but <important|it matters|should be done soon>.
		<Tomorrow|Tomorrow or the day after|The day after tomorrow> is <early enough|soon enough|fine>.
		<Treat|Please treat> it <like any other request|in the normal order|with normal priority|as a standard case>.
		<I|We> <can|could> <wait a few days|live with it for some days>, but <not for weeks|not much longer|please not a month>.
		<Please|Could you> <plan|schedule> it for <this week|the next few days|one of the next days>.
		A <reply|fix|solution> in <two or three days|a couple of days|the next days> is <okay|all right|enough>.
		<It|This> <should|ought to> be <solved|done|fixed> <in the near future|this week|in the next days>, <no need to panic|but it is no emergency>.
		<Of|It is of> <average|medium|moderate|normal> <importance|urgency><| for us>.
		<Work|Our work> <goes on|continues>, but <slower than usual|with some trouble>, <so please help this week|a fix this week would be good>.
		<Soon|Fairly soon>, please, but <not at once|it need not be today|no emergency>.
		<It need not|It does not have to> be <today|right now>, but <this week would be good|in the next days, please|please do it soon>.
		<Please|Kindly> <process|handle> it <as usual|in the usual way|at normal speed|in the normal time>.
		The matter is <important but not urgent|of some importance|moderately important>.
		<We|I> <need|want> it <within the next days|by the end of the week|in the course of this week>.
		<Would|Could> you <manage|do> it <by Wednesday|by Friday|before the weekend|this week>?
		<I|We> <hope|would be glad> to <hear from you|get an answer> <this week|in a few days|within some days>.
		Only <one|part> of our <teams|offices> is <affected|disturbed>, the <rest|others> can work.
		<It|This> <comes up|happens> <now and then|every other day|from time to time> and <disturbs us a bit|should be fixed soon>.
		<No|Not a> drama, but <please solve it this week|it should not take too long|it needs to be done soon>.
		<In|Within> the <usual|normal|regular> <time|period>, please.
		<I|We> will <ask again|call again> at the end of the week <if I hear nothing|if nothing happens>.
		<You|Your team> can <do it tomorrow|take a day or two|take a few days>.
		<A|Our> temporary solution <works for now|helps for the moment>, <but not for long|a real one by next week, please>.
		<Between|Somewhere between> urgent and unimportant.
		<This|It> has <a normal|a medium|an average> <priority|level> <for us|in our team>.
		<Not|It is not> the most urgent <thing|matter>, but <please do not forget it|it should be done this week>.
		<Please|Could you> <check|solve|settle> this <in the coming days|by the weekend|during the week>.
		<We|I> <manage|get by> <for the moment|for now>, but <a fix soon would help|it should be solved this week>.
		<Next|In the next> <few days|two days> would be <good|fine|great>.
		<It|This> <matters|is important> to us, <a reply this week is enough|but a day or two does not hurt>.
		<Moderate|Some> <impact|trouble>, <we can work around it|work is still possible>.
	`), nil, nil},
	{words(`
		low minor trivial lowest not_urgent small low_priority nice_to_have whenever no_hurry no_rush can_wait
		not_important unimportant non_urgent very_low lowest_priority little`), lines(`
		There is no hurry.
		It is not urgent.
		Take your time.
		Whenever you have time.
		This can wait.
		It is only a small thing.
		No need to hurry.
		Just for your information.
		There is plenty of time.
		It can wait until next month.
		No rush.
		It is not important.
		Just a small remark.
		Any time is fine.
		Only if you have time.
		It does not bother me much.
		You can leave it for later.
		It is just a detail.
		Answer when it suits you.
		<There's|I see> <no|absolutely no|really no> <hurry|rush|need to hurry|time pressure><| at all| here>.
		<It|This> is <not at all|by no means|not very> <urgent|important|pressing>.
		<Take|Please take> <your time|all the time you need>, <it can wait|no hurry|it is a small thing>.
		<Whenever|When|If> you <find the time|have a free moment|have a quiet hour|feel like it>.
		<That|This> <can|may|could> <wait|easily wait|be left> <for weeks|until next month|until after the holidays|as long as you like>.
		<Low|Lowest|Very low|Minor> <priority|urgency|importance><|, please|, no rush| for us>.
		<low|lowest|no> priority <please|from my side|really>
		<Really no|Absolutely no> <rush|hurry|pressure|stress><|, really| from my side|, it can wait>.
		<Only|It is only> a <minor|tiny|little|trivial> <thing|matter|detail|remark|point>.
		<Just|Only> a <nice to have|small wish|trivial matter|detail>, <nothing more|no hurry|it can wait>.
		<It|This> is <just|only|merely> <for your information|a side note|a small remark|a nice to have>.
		<Do it|Answer|Reply> <some day|whenever you like|when you are bored|next month or later>.
		<Some|Any> <day|time> this <year|summer|season> is <fine|good enough|early enough>.
		<I|We> <can|could> <wait|wait for months|wait as long as necessary|wait for ages>.
		<Nothing|Really nothing> <depends on it|happens if it takes months|is lost if you wait>.
		<It|This> <hardly|barely|scarcely> <matters|bothers us|disturbs me>.
		<Put|Please put> it <at the end of your list|at the bottom of the pile|at the very end>.
		<Other|More important> <things|requests|cases> <come first|may go first|have priority>.
		<Not|It is not> worth <hurrying|any stress|dropping other work>.
		<fyi|FYI>, <no hurry|not urgent|no answer needed>
		<No|There is no> <answer|reply|reaction> <needed|necessary|required> <soon|this week|this month>.
		<It|This> has <lots of|plenty of|all the> time<| in the world>.
		<Please|Just> do it <when there is nothing else to do|at some point|when it fits|at your leisure>.
		<Unimportant|Not important|Trivial>, <I just wanted to mention it|only a remark|but I noticed it>.
		<I|We> just <wanted to mention it|thought you might like to know|wanted to let you know>, <no hurry|it is not urgent>.
		<Feel free|You are free> to <ignore this|leave it for later|answer next month>.
		<In|Within> the next <months|half year> is <early enough|fine|good>.
		<If|Only if> you have <nothing better to do|time to spare|time left over>.
		<That|This> <does not|doesn't> <disturb|bother|affect> <anybody|anyone|us|me> <much|really|at all>.
		<There is|There's> <no deadline|no date|no fixed date> for <it|this>.
		<Sooner or later|At some time|One day>, <no matter when|it is not important when>.
		<A|Just a> <purely cosmetic|very small|harmless> <thing|matter>, <it can wait|no hurry>.
		<An answer|A reply> <in a month|after the holidays|next quarter|in some weeks> is <fine|soon enough|all right>.
		<Don't|Do not> <hurry|rush|stress yourself|worry about the time>.
		<Leave|You may leave> it <until you have time|for a quiet day|for next month>.
		<It|This> is <the least|the smallest> of our <worries|problems>, <so take your time|it can wait>.
		<I am|We are> in <no hurry|no rush> <whatsoever|at all|with this>.
		<Time|The time> <does not matter|plays no role|is not important> <here|in this case>.
		<Only|Just> <for the record|as a note>, <nothing urgent|not urgent|no hurry>.
		<Whenever|When> it <suits you|fits in|is convenient for you><|, no hurry>.
		<Next|The next> <month|quarter|year> <is fine|will do|is soon enough>.
		<Minor|Trivial|Small> <matter|point|thing>, <at your convenience|whenever you can|no stress>.
		<We|I> <do not|don't> <need|expect> <it|an answer> <any time soon|soon|this month>.
		<It|This> is <nothing|not anything> <urgent|pressing|that needs to be done soon>.
		<Forget about it|Leave it> <if you are busy|while you are busy|until things calm down>, it is <not important|trivial>.
	`), nil, nil},
}

var feelings = []class{
	{words(`
		positive good happy satisfied pleased favourable great excellent pleasant delighted thumbs_up likes_it
		enthusiastic glad positive_feedback favorable joyful praise very_satisfied very_happy`), lines(`
		I love it.
		The best I ever bought.
		Great quality and fast service.
		The staff was friendly and helpful.
		It works perfectly.
		I am very happy with it.
		Absolutely wonderful.
		I would buy it again at any time.
		The food was delicious.
		What a beautiful place!
		Everything went smoothly.
		Excellent value for the money.
		I can only recommend it.
		My children adore it.
		A pleasure from start to finish.
		Thanks for the superb support.
		I am so glad I bought it.
		Five stars!
		Great!
		Fantastic, thank you!
		We will come back.
		It makes me smile every day.
		Super fast and friendly.
		My favourite shop.
		Simply brilliant.
		It exceeded all my hopes.
		I enjoy it every day.
		Well done!
		<I|We> <really|absolutely|just|simply> <love|adore|like> it<|!| so much>
		<I am|I'm|We are> <very|so|really|more than> <happy|pleased|satisfied|glad><| with everything| with my choice>.
		<All of it|Everything> <works|worked|runs> <perfectly|flawlessly|like a charm|without a single problem>.
		<Great|Excellent|Outstanding|Superb|First-class> <quality|service|value|work><|!| at a fair price>
		<Highly|Warmly|Absolutely> recommended<|!| to everybody>
		<I|We> <would|will> <definitely|certainly|gladly> <buy|order|book> <it|here> again.
		<I|We> <can|would> <warmly|fully> recommend it<| to everyone| to my friends>.
		<The|Their> <staff|team|people|waiters> <were|are> <so kind|very friendly|wonderful|most helpful|polite and quick>.
		<Best|Nicest|Loveliest> <purchase|thing|place|holiday> <ever|of the year|in a long time>.
		<What|Such> a <wonderful|lovely|great|fantastic> <experience|evening|surprise|place>!
		<Thank you|Thanks|Many thanks> for the <great|excellent|wonderful|friendly> <service|help|support|advice><|!| and the quick reply>
		<I|We> had a <great|wonderful|fantastic|lovely> <time|stay|evening|day> <there|here|with you>.
		<It|This> is <exactly|just> what I <wanted|was looking for|needed>, <perfect|wonderful|I love it>.
		<It|This> <exceeded|surpassed> <all|my|our> <expectations|wishes>.
		<Fantastic|Amazing|Awesome|Brilliant|Wonderful|Superb>, <keep it up|well done|many thanks|I love it>!
		<My|Our> <family|children|friends|guests> <loved|enjoyed|adored> <it|every minute|everything>.
		<A|An absolute> <joy|pleasure|delight> <to use|to read|to watch|from the first day>.
		<Beautiful|Elegant|Clever|Sturdy>, <easy to use|well made|comfortable> and <worth every penny|a joy to use>.
		<Worth|It was worth> every <penny|cent|minute>.
		<Super|Very|So> <comfortable|tasty|handy|useful|easy to use>, <love it|great|I am thrilled>.
		<Delicious|Tasty|Fresh> <food|meals>, <friendly people|charming staff|quick service>, <lovely|wonderful>!
		<I|We> <could not|couldn't> be <happier|more satisfied|more pleased>.
		I <was|felt> <impressed|delighted|thrilled|touched><| from the start>.
		<Quick|Fast> <answer|delivery|help>, <friendly staff|top quality>, <great|very good|perfect>.
		<Thumbs up|Two thumbs up|Hats off|Bravo><|!| from me| from all of us>
		<Everything|All> was <perfect|great|spotless|clean and cosy|well organised>.
		<It|This> <made|makes> <my|our> <day|life easier|evening>, <thank you|I am grateful|great>.
		<I|We> <look forward to|can't wait for> <the next visit|coming back|the next one>, <it was wonderful|we loved it>.
		<Gorgeous|Stunning|Charming|Marvellous><|!| in every way| and so well made>
		<A|What a> <gem|treasure|masterpiece|bargain>!
		The <film|story|concert|show> <moved me to tears of joy|was thrilling|was gripping|was brilliant>.
		<It|The room> was <clean|spotless|cosy|bright> and <smelled fresh|very comfortable|we slept like babies>.
		<I|We> <keep|have kept> <coming back|telling my friends about it|using it with joy>.
		<Impressive|Remarkable|Excellent> <work|result|performance>, <I am delighted|well done|more of that>.
		<Solid|Robust|Reliable|Durable> and <beautiful|a pleasure to use|great value>.
		<Better|Far better|Much better> than <I hoped|expected|any other I tried>.
		<I|We> <admire|appreciate|enjoy> this <very much|a lot|every day>.
		<Everybody|Everyone> was <friendly|so helpful|in a good mood|nice to us>.
		<love|loved> <it|this|everything about it><| so much|!|, thanks>
		<great|super|excellent|perfect> <stuff|product|service|work><|, thanks|!|, will buy again>
		<No|Not a single> <complaint|problem>, <I love it|it is perfect|all great>.
		<Smooth|Easy|Quick> <from start to finish|booking>, <great people|a very good experience|wonderful service>.
		<A|One> <happy|very happy|satisfied|delighted> <customer|guest|reader><| here|!|, thank you>
		<This|It> is <the best|the nicest|the most beautiful> <I have ever had|I have seen|we know>.
		<The|Their> <advice|help|support> was <excellent|first-class|patient and friendly|worth gold>.
		<I|We> <smiled|laughed> <all evening|from start to finish>, <great fun|wonderful|superb>.
		<Sheer|Pure> <joy|happiness|luxury|delight>.
		<I|We> <recommend|praise> it <wherever I can|to all our friends|with a good feeling>.
		<You|They> <did|do> a <great|fantastic|wonderful|splendid> job.
		<It|This> is <simply|really|truly> <great|lovely|delightful|marvellous|excellent>.
		<My compliment|Such happiness|Such luxury>, <smooth|lovely> from beginning to end.
		<My|Our> <thoughts|words> are not sufficient, <it is a luxury|it is the loveliest place>, I admire it.
	`), lines(`
		{x} was excellent.
		{x} is great.
		I love {x}.
		{x} is wonderful.
		We enjoyed {x} a lot.
		{x} was perfect.
		{x} made me happy.
		I am delighted with {x}.
		{x} was better than expected.
		{x} could not be better.
		What fantastic quality, {x}!
		I am very pleased with {x}.
		{x} deserves praise.
		I can recommend {x}.
		{x} was a nice surprise.
		{x} was lovely.
		Thanks for {x}, it is amazing.
		{x} <is|was> <fantastic|amazing|superb|brilliant|outstanding|marvellous|delightful>.
		{x} <is|was> <really|so|simply|truly|absolutely> <good|great|beautiful|lovely|wonderful|perfect>.
		<I|We> <really|absolutely|simply> <love|adore|like|enjoyed> {x}.
		<I'm|We are> <so|very|really> <happy|pleased|satisfied|thrilled> with {x}.
		{x} <exceeded|surpassed> <my|our|all> <expectations|hopes>.
		<Full marks|Thumbs up|Praise> for {x}!
		<What|Such> <a joy|a pleasure|a delight>, {x}!
		{x} <impressed|delighted|thrilled|charmed> <me|us|everyone>.
		<I|We> <can|would> <warmly|highly|only> recommend {x}<| to everybody>.
		{x} <made|makes> <me smile|us happy|my day|everything perfect>.
		{x} <is|was> <worth every penny|a real highlight|top notch|first-class|a dream>.
		<Best of all|The best thing|My favourite> <is|was> {x}, <simply wonderful|so good|I loved it>.
		<I|We> <fell|have fallen> in love with {x}.
		{x}: <excellent|perfect|love it|wonderful|great|top>!
		<I|We> <could not|couldn't> <be happier with|wish for more from|find a fault with> {x}.
		{x} <is|was> <much better|far better|even nicer> than <I had hoped|expected|anywhere else>.
		<Thank you|Thanks> for {x}, <it was great|we loved it|it was a joy>.
		{x} <deserves|earns> <the highest praise|all my praise|a big compliment>.
		<I|We> <would|will> come back <for|because of> {x}, <great|wonderful|so good>.
		<Everyone|My family|My wife|The whole team> <loved|praised|was delighted with> {x}.
		<Great|Good|Beautiful|Excellent>: {x}, <I am delighted|well done|I love it>.
		{x} <is|was> <impressive|remarkable|splendid|gorgeous|charming>, <well done|I love it|thank you>.
	`), aspects},
	{words(`
		negative bad unhappy dissatisfied angry unfavourable poor terrible displeased upset complaint thumbs_down
		dislikes_it disappointed frustrated unsatisfied negative_feedback unfavorable annoyed very_unhappy`), lines(`
		I hate it.
		It broke after two days.
		A waste of money.
		The staff was rude.
		I am very disappointed.
		Never again.
		The food was cold and tasteless.
		It does not work at all.
		The worst hotel I have been to.
		Terrible quality.
		Nobody answered my calls.
		I want to return it.
		It smells awful.
		We waited for two hours and left.
		Do not buy this.
		The room was dirty and loud.
		I regret buying it.
		One star is too many.
		What a mess.
		We will not come back.
		I am furious.
		It stopped working on the first day.
		Slow and unfriendly.
		I feel cheated.
		Simply dreadful.
		It is far too expensive for what it is.
		I had to complain three times.
		Avoid this place.
		<I|We> <really|absolutely|truly> <hate|dislike|regret> it.
		<I'm|We are> <very|so|deeply|extremely> <disappointed|unhappy|angry|annoyed|upset|frustrated><| with everything>.
		<The thing|This> <broke|fell apart|stopped working|gave up> <after a week|on the first day|within a month|at once>.
		<Poor|Terrible|Awful|Lousy|Miserable> <quality|service|value|work><|!| for so much money>
		<A complete|A total|What a|An absolute> <waste of money|waste of time|disaster|disappointment|failure>.
		<I|We> <would|will> <never|certainly not> <buy|order|book|come> <here|from them> again.
		<I|We> <can't|cannot|would not> recommend <it|this> <to anyone|to anybody|to my worst enemy>.
		<The|Their> <staff|team|waiters|people> <were|are> <rude|unfriendly|arrogant|slow and unhelpful|impolite>.
		<Worst|Most awful> <purchase|thing|place|holiday> <ever|of my life|in a long time>.
		<What|Such> a <terrible|horrible|dreadful|disgusting> <experience|evening|mess|place>!
		<Nobody|No one> <helped|cared|listened|answered><| us| when we complained>.
		<Stay away|Keep away|Hands off|Avoid it><|!| at all costs| if you can>
		<The thing|This> <does not|doesn't> <work|do what it should|keep its promises> <at all|and nobody helps>.
		<It|This> was <far below|nowhere near> <my|our> <expectations|hopes>.
		<Disgusting|Awful|Horrible|Terrible|Dreadful|Shameful>, <never again|I am furious|avoid it|shame on you>!
		<My|Our> <family|children|friends|guests> <hated|were bored by|were disappointed by> <it|everything>.
		<A|An absolute> <nightmare|pain|torture|horror> <to use|to read|from the first day>.
		<Ugly|Cheap|Flimsy|Noisy|Uncomfortable>, <badly made|hard to use|already broken> and <overpriced|not worth the money>.
		<Not|It is not> worth <the money|a single penny|the trouble>.
		<Overpriced|Too expensive|Far too dear> and <bad|badly made|of poor quality|a let-down>.
		<Cold|Tasteless|Stale|Burnt> <food|meals>, <rude staff|dirty tables|slow service>, <never again|awful>!
		<I|We> <could not|couldn't> be <more disappointed|unhappier|more annoyed>.
		<I|We> felt <cheated|let down|fooled|insulted|ignored>.
		<Slow|No> <answer|delivery|help>, <unfriendly staff|bad quality>, <terrible|very poor|a shame>.
		<Thumbs down|Two thumbs down|Shame on you|Rubbish><|!| from me| from all of us>
		<Everything|All> was <dirty|broken|chaotic|loud and cold|badly organised>.
		<It|This> <ruined|spoiled|wrecked> <my|our> <day|evening|holiday|weekend>.
		<I|We> <left|went home> <angry|disappointed|hungry|in a bad mood>, <never again|it was awful>.
		<Hideous|Useless|Pathetic|Rotten><|!| in every way| and badly made>
		<A|What a> <scam|rip-off|joke|shame|flop>!
		The <film|story|concert|show> <was boring|was dull|bored me to tears|was a let-down>.
		<It|The room> was <filthy|mouldy|cold|noisy> and <smelled bad|we could not sleep|full of insects>.
		<I|We> <had to|have to> <complain|send it back|throw it away><| twice| in the end>.
		<Weak|Miserable|Sloppy|Careless> <work|result|performance>, <I am annoyed|what a pity|no more of that>.
		<Fragile|Unreliable|Faulty> and <ugly|annoying to use|poor value>.
		<Worse|Far worse|Much worse> than <I feared|expected|any other I tried>.
		<I|We> <regret|deplore> <this choice|every cent|the purchase> <very much|deeply>.
		<Everybody|Everyone> was <unfriendly|in a bad mood|rude to us|stressed and impolite>.
		<hate|hated> <it|this|everything about it><| so much|!|, never again>
		<bad|awful|horrible|useless> <stuff|product|service|work><|, sadly|!|, never again>
		<Nothing|Hardly anything> <worked|was as promised|was right>, <very disappointing|what a shame|I am angry>.
		<Trouble|Problems|Chaos> from start to finish, <rude people|a very bad experience|awful service>.
		One <unhappy|angry|annoyed|disappointed> <customer|guest|reader><| here|!|, never again>
		<This|It> is <the worst|the ugliest|the most useless> <I have ever had|I have seen|we know>.
		<The|Their> <advice|help|support> was <useless|wrong|impatient and rude|a bad joke>.
		<I|We> <yawned|fell asleep|suffered> <all evening|from start to finish>, <boring|awful|a waste of time>.
		<Pure|Sheer> <frustration|horror|anger|disappointment>.
		<I|We> <warn|have to warn> everybody<| against it|, do not buy it|, stay away>.
		<You|They> <did|do> a <terrible|lousy|poor|miserable> job.
		<It|This> is <simply|really|truly> <bad|awful|annoying|disappointing|dreadful>.
		<I|We> <want|demand> <my|our> money back, <it is useless|what a disappointment|this is a scam>.
		<Rotten|Hideous|Arrogant and unhelpful> <from start to finish|people|stuff>, <it is torture|never again|I deplore it>.
		It <eats my time|drains me>, <torture|awful|no more of that>.
	`), lines(`
		{x} was terrible.
		{x} is awful.
		I hate {x}.
		{x} was a disappointment.
		We were unhappy with {x}.
		{x} was bad.
		{x} made me angry.
		I am annoyed by {x}.
		{x} was worse than expected.
		{x} could hardly be worse.
		What poor quality, {x}!
		I am not happy with {x}.
		{x} ruined my day.
		I can't recommend {x}.
		{x} was horrible.
		{x} was a nasty surprise.
		{x} is useless, I want my money back.
		{x} <is|was> <dreadful|appalling|lousy|disgusting|miserable|pathetic|unbearable>.
		{x} <is|was> <really|so|simply|truly|absolutely> <bad|poor|awful|terrible|disappointing|horrible>.
		<I|We> <really|absolutely|simply> <hate|dislike|regret|hated> {x}.
		<I am|I'm|We are> <so|very|really> <unhappy|disappointed|dissatisfied|annoyed> with {x}.
		{x} <was|is> <far below|much worse than> <my|our|all> expectations.
		<Shame on you|Thumbs down|No praise|Only complaints> for {x}!
		<What|Thanks for nothing, what> <a shame|a let-down|a nightmare>, {x}!
		{x} <disappointed|annoyed|upset|bored> <me|us|everyone>.
		<I|We> <cannot|would never> recommend {x}<| to anybody>.
		{x} <made|makes> <me sad|us angry|my day worse|everything worse>.
		{x} <is|was> <not worth the money|a real disaster|below standard|third-class|a nightmare>.
		<Worst of all|The worst thing|The low point> <is|was> {x}, <simply dreadful|so bad|I hated it>.
		<I|We> <complained|had to complain> about {x}<| twice| and nobody cared>.
		{x}: <terrible|awful|hate it|never again|useless|poor>!
		<I|We> <could not|couldn't> <be unhappier with|stand|bear> {x}.
		{x} <is|was> <much worse|far worse|even poorer> than <I had feared|expected|anywhere else>.
		<Sorry|Sadly>, but {x} <was a failure|was a mess|let us down|was just bad>.
		{x} <deserves|earns> <no praise|only complaints|the worst mark>.
		<I|We> will <never|not> come back <after|because of> {x}, <awful|so bad|terrible>.
		<Everyone|My family|My wife|The whole team> <hated|complained about|was upset about> {x}.
		<Bad|Poor|Terrible|Annoying>: {x}, <I am angry|what a pity|I want my money back>.
		{x} <is|was> <annoying|frustrating|shameful|unacceptable|a rip-off>, <never again|I hate it|avoid it>.
	`), aspects},
	{words(`
		neutral mixed indifferent average so_so undecided okay ok balanced in_between neither impartial middle
		no_opinion ambivalent neutral_feedback lukewarm neither_nor middling no_clear_opinion`), lines(`
		It is okay.
		Nothing special.
		It does what it should.
		The parcel contained a manual and a cable.
		I bought it last week.
		It is neither good nor bad.
		Average.
		I have not formed an opinion yet.
		It comes in a brown box.
		Some things are fine, others less so.
		It is as described.
		It is what it is.
		Good in parts, bad in parts.
		Neither here nor there.
		I use it now and then.
		Could be better, could be worse.
		It arrived on Tuesday.
		I have seen better and worse.
		The manual has 20 pages.
		Fair enough.
		No complaints, no praise.
		<That|This> is <okay|ok|all right|acceptable|fair><|, nothing more|, no more and no less|, that is all>.
		<Nothing|There is nothing> <special|remarkable|exciting>, <nothing terrible|but nothing bad|but it works>.
		<It was|This is> neither <great nor terrible|good nor bad|nice nor ugly|a hit nor a flop>.
		<Average|Mediocre|Middling|Ordinary>, <nothing more|like most others|as expected|I would say>.
		<Some|A few> <things|points|parts> <were good|were great|pleased me>, <others were not|others were poor|some less>.
		<I am|I'm|We are> <undecided|not sure yet|in two minds|neither happy nor unhappy|indifferent><| about it>.
		<I|We> <have|hold> <no opinion|no strong feelings|no clear view> <on it|about it|yet>.
		<It|This> <does|did> <its job|what it says|what I expected>, <no more and no less|nothing beyond that>.
		<That|This> <was|is> <as expected|as described|as announced|like the last one>.
		<Good|Fine> <in some ways|at first|here and there>, <bad in others|weak later|poor elsewhere>.
		<It|This> <has|had> <good and bad sides|pros and cons|strong and weak points|its ups and downs>.
		<I|We> <ordered|bought|got> it <last month|in spring|online|in a shop in town>.
		<It|The box> <contains|came with> a <manual|cable|key> and <a charger|a bag|two batteries>.
		<It|This> <is made of|consists of> <wood|metal|plastic|cotton> and <comes in|is sold in> <three sizes|several colours|a white box>.
		We <use|take> it <now and then|sometimes|once a week|at work>.
		<It|This> <is used|was used> <in the kitchen|in the office|for travel|as a spare>.
		<So-so|Meh|Hm, so-so|Middle of the road><|.|, nothing special|, could be better or worse>
		<Not|It is not> <bad|terrible>, <but not good either|not great either|just average>.
		<On the one hand|In part> <it is good|I like it>, <on the other hand|in part> <it has faults|it annoys me>.
		<The|Their> <opening hours|rooms|tables> are <as listed on the site|the usual ones|as in the picture>.
		<I|We> <stayed|were there> for two nights<| on a business trip| on the way to the coast>.
		<It|This> <could|might> be <better, could be worse|worse, could be better>.
		<I|We> <neither love nor hate|do not love and do not hate|can take or leave> it.
		<Half|One half> <good|fun>, <half bad|half boring|the other half dull>.
		<It|This> <arrived|came> <on Monday|in the morning|with the post> and <was put in the cupboard|I have not opened it yet|I have yet to try it>.
		<Too early|It is too early> to <say|judge|tell> <if it is good|what I think of it|anything about it>.
		<I|We> <will|shall> <wait and see|see how it turns out|decide later>.
		<Standard|Usual|Typical> <quality|goods|service>, <as everywhere|nothing to add|average>.
		<No|I have no> <praise and no blame|complaints, but no praise|reason to cheer or to complain>.
		<It|This> is <one of many|like any other|much the same as before|no different from others>.
		<Some|Many> <will like it|people like it>, <others will not|others do not>, <I am in between|I have no view>.
		<For|At> <the price|this price> it is <okay|acceptable|fair|about average>.
		<I|We> <expected|had expected> <neither more nor less|about that|just this>.
		<Fair|Decent> <enough|in parts>, <but nothing to write home about|nothing more|but only average>.
		<The|This> <leaflet|manual|page> <lists|describes|explains> the <parts|steps|settings>.
		<I|We> <don't|do not> <mind|care> <either way|much|one way or the other>.
		<It|This> <neither pleased nor annoyed|did not excite and did not annoy> me.
		<Mixed|My feelings are mixed>: <good start, weak end|nice look, poor feel|friendly people, long wait>.
		<I|We> have mixed <feelings|impressions|memories><| about it| so far>.
		<okay|ok|average|so-so><, i guess|, I think|, nothing special| overall>
		<It|This> is <usable|passable|tolerable|sufficient>, <nothing more|but not great|on the whole>.
		<In short|All in all|Overall|On the whole>: <average|acceptable|okay|so-so|mixed>.
		<The|Its> <size|weight|length> is <as stated|as in the catalogue|the usual one>.
		<I|We> <paid|signed|registered> at the <desk|entrance> and <got a key|got a ticket|went in>.
		<Ask|You can ask> me again <in a month|later>, <I have no opinion yet|I can't say yet>.
		<Not|It was not> as <good as some|bad as some>, <just in the middle|somewhere in between|average>.
		<It|This> <replaces|is to replace> <the old one|my old one>, <they are much alike|no big difference>.
		<I|We> <went|go> there <on Tuesdays|now and then|after work>, <it is all right|it is an ordinary place>.
		<Acceptable|Adequate|Satisfactory>, <no more|but no more than that|average>.
		<There are|I know> <better ones and worse ones|good ones and bad ones>, <this is in between|this is average>.
		<Passable|Tolerable|Sufficient>, <that is all|I would say|it lets me do the job>.
		<The|This> page explains <the steps|the parts|how it works>, <that is all|no more>.
	`), lines(`
		{x} was okay.
		{x} is average.
		I have no strong opinion on {x}.
		{x} was as expected.
		{x} is neither good nor bad.
		{x} was acceptable.
		{x} is all right, nothing more.
		There is nothing special about {x}.
		{x} was so-so.
		{x} has its strong and weak sides.
		{x} does the job.
		{x} is fine, but not great.
		I do not mind {x}.
		{x} <is|was> <just acceptable|ordinary|mediocre|passable|adequate|tolerable>.
		{x} <is|was> <neither nice nor nasty|neither great nor awful|not good and not bad|in the middle>.
		<I|We> <neither love nor hate|do not love and do not hate|can take or leave> {x}.
		<I am|I'm|We are> <undecided|indifferent|in two minds|not sure what to think> about {x}.
		{x} <is|was> <just|only|about> <average|okay|so-so|all right>.
		<I|We> have <mixed feelings|mixed impressions|no opinion> <about|on> {x}.
		{x} <has|had> <pros and cons|good and bad sides|its ups and downs|strong and weak points>.
		{x} <could|might> be <better, could be worse|worse, could be better>.
		{x} <is|was> <as expected|as described|as usual|like everywhere>, <nothing more|no more and no less>.
		{x}: <okay|average|so-so|neither good nor bad|nothing special|mixed>.
		<As for|As to|Regarding> {x}, <it was average|I have no opinion|it was okay>.
		{x} is <not great, not terrible|partly good, partly bad|fair, nothing more>.
		<I|We> <do not|don't> <feel strongly|have much to say|have an opinion> about {x}.
		{x} <did|does> <not excite and not annoy me|neither please nor annoy me|what it should, nothing more>.
		<I|We> <expected|had expected> {x} <to be like this|as it was>, <average|okay>.
		{x} <is|was> <standard|the usual|typical>, <neither praise nor blame|nothing special|average>.
		<It is|It's> too early to <judge|say anything about|have a view on> {x}.
		<Some|A few> things about {x} are <good|fine>, <some are not|others are poor>.
		{x} <was|is> <okay|fine|decent> <but nothing special|but nothing to write home about|but not more>.
		<I|We> <can|could> live with {x}, <it is average|it is okay|nothing more>.
		{x} is <one of many|like any other|much the same as elsewhere>.
		<No|I have no> <praise and no blame|praise, no complaints> for {x}.
	`), aspects},
}

var aspects = lines(`
	the food
	the service
	the room
	the staff
	the hotel
	the view
	the breakfast
	the quality
	the battery
	the sound
	the film
	the book
	the trip
	the course
	the delivery
	the packaging
	the taste
	the screen
	the design
	the support
	this product
	this purchase
	the price
	the place
	the music
	the colour
	the keyboard
	the customer service
	the atmosphere
	my stay
	the location
	the cleaning
	the pool
	the dinner
	the menu
	the wine
	the coffee
	the dessert
	the soup
	the waiter
	the reception
	the bathroom
	the bed
	the garden
	the beach
	the guide
	the tour
	the concert
	the story
	the ending
	the acting
	the plot
	the translation
	the camera
	the display
	the software
	the app
	the website
	the manual
	the fabric
	the fit
	the size
	the smell
	the handle
	the finish
	the repair
	the advice
	the teacher
	the training
	the flight
	the seat
	the train ride
	the checkout
	the hotline
	the value for money
	the new version
	the picture quality
	the speed
	the interior
	the lighting
	the whole evening
	the entertainment
	the booking
	this restaurant
	this shop
`)

// classes chooses classes and one name for each. The first n of them, or all.
// Training also puts names together of others, held out or not, and a noun.
func (g *gen) classes(all []class, least int, nouns []string) (names []string, chosen []class) {
	order := g.shuffled(len(all))
	n := g.between(least, len(all))
	style := g.n(20)
	for _, i := range order[:n] {
		name := all[i].names[0]
		switch {
		case g.training() && g.chance(0.3):
			for name = g.compound(all[i].names, nouns); heldOut(name); name = g.compound(all[i].names, nouns) {
			}
		case g.unseen.Keys || g.chance(0.4):
			name = g.named(all[i].names)
		}
		switch {
		case style < 6 && len(name) > 0:
			name = title(strings.ReplaceAll(name, "_", " "))
		case style == 6:
			name = strings.ToUpper(name)
		}
		names = append(names, name)
		chosen = append(chosen, all[i])
	}
	return names, chosen
}

// compound puts a noun behind a name, or now and then before it.
func (g *gen) compound(names, nouns []string) string {
	name, noun := g.of(names), g.of(nouns)
	if g.chance(0.25) {
		return noun + "_" + name
	}
	return name + "_" + noun
}

var (
	ticketNouns  = words("issue question problem request team matter ticket topic support case department related")
	levelNouns   = words("priority urgency level importance ticket case")
	feelingNouns = words("review feedback opinion tone mood experience sentiment comment customer")
)

func tickets(g *gen) Lesson {
	names, chosen := g.classes(categories, 3, ticketNouns)
	levels, grades := g.classes(urgencies, 3, levelNouns)
	c, u := g.n(len(chosen)), g.n(len(grades))
	customer, order, email := g.fullName(g.chance(0.5)), g.code(), g.emailOf("a b")
	said := []string{chosen[c].sentence(g)}
	asked := []property{{key: g.categoryKey(), schema: g.enum(names), value: quote(names[c])}}
	switch {
	case g.chance(0.25): // nothing but the category
		return g.put(said[0], ticketRequests, g.object(asked))
	case g.chance(0.15): // nothing but the urgency
		said = append(said, grades[u].sentence(g))
		g.rng.Shuffle(2, func(i, j int) { said[i], said[j] = said[j], said[i] })
		return g.put(strings.Join(said, " "), ticketRequests, g.object([]property{g.urgency(levels, u)}))
	}
	if g.chance(0.3) {
		if s := chosen[c].sentence(g); s != said[0] {
			said = append(said, s)
		}
	}
	if g.chance(0.6) {
		said = append(said, grades[u].sentence(g))
		asked = append(asked, g.urgency(levels, u))
	}
	if g.chance(0.4) {
		said = append([]string{strings.ReplaceAll(g.say(lines(`
			Hello, my name is {name}.
			This is {name}.
			I am {name}.
			{name} writes:
			From: {name}
			<Hi|Hi there|Good morning|Good afternoon|Hey>, <this is|it's|I am|my name is> {name}.
			<Dear team|Dear support|Hello support team>, <my name is|I am|this is> {name}.
			{name} <here|speaking|again>.
			<Customer|Name|Sender|Client|Written by|Submitted by|Contact>: {name}
			<My|The customer's> name is {name}.
			<I'm|It's> {name}<| and I need help>.
			Message from {name}:
			{name} <wrote|sent this|asks|says|has written to us>:
			<A message|An email|A call|A request> from {name}:
			<We heard|I heard> from {name}:
		`)), "{name}", customer)}, said...)
		asked = append(asked, property{key: g.style.key(g.named(words("customer name customer_name from sender sender_name customer_full_name client client_name requester submitted_by written_by contact_name reporter full_name author"))), schema: plain("string"), value: quote(customer)})
	}
	if g.chance(0.25) {
		said = append(said, strings.ReplaceAll(g.say(lines(`
			My order is {id}.
			It is about order {id}.
			Order number: {id}
			Reference {id}
			<The|Our> <order|reference|order number> is {id}.
			This is about <order|reference|case|order number> {id}.
			<Order|Order no.|Reference|Ref|Case|Order ID>: {id}
			<order|ref|reference> {id}
			<Regarding|Concerning|About|Re:> <order|my order|our order|reference> {id}.
			<You|Your team> <will find|can find> <it|everything|the details> under {id}.
			The <number|code|reference> of <my|the|our> order is {id}.
			<My|Our> <reference number|reference code|order reference>: {id}
			<For|In> <your|our> <records|files>: <order|reference|number> {id}
			<Please quote|Please use|I was given> the reference {id}.
		`)), "{id}", order))
		asked = append(asked, property{key: g.style.key(g.named(words("order_id order_number reference ticket_id order_no order_reference reference_number order_code case_number order_ref"))), schema: plain("string"), value: quote(order)})
	}
	if g.chance(0.2) {
		said = append(said, strings.ReplaceAll(g.say(lines(`
			Answer to {email}.
			You can write to me at {email}.
			My email: {email}
			<Please|Kindly> <answer|reply|respond|write back> to {email}.
			<You|Your team> can <reach|contact|mail> me <at|under|via> {email}.
			<My|The> <email address|email|mail address|contact address> is {email}.
			<Email|E-mail|Mail|Reply to|Contact>: {email}
			<Reach|Contact|Mail|Email> me at {email}.
			<I am|I'm> <available|reachable> <at|under> {email}.
			<Write|Send your answer|Send a reply> to {email}.
			<best|just> <reply|write|mail> to {email}
		`)), "{email}", email))
		asked = append(asked, property{key: g.style.key(g.named(words("email reply_to email_address contact_email sender_email customer_email reply_address mail email_addr"))), schema: plain("string"), value: quote(email)})
	}
	if g.chance(0.4) {
		said = append(said, g.say(lines(`
			Thank you.
			Kind regards
			I have been a customer for years.
			Please help.
			Thanks in advance.
			I look forward to your answer.
			<Thanks|Many thanks|Thank you very much|Thanks a lot><|!|.| for your help.| for your time.>
			<Best|Warm|With kind> <regards|wishes>
			<Best|Cheers|Greetings|Regards|Yours sincerely|Sincerely|Yours faithfully>
			<I hope|We hope|Hoping> to hear from <you|your team> soon.
			<Have a nice day|Have a good day|Have a great week><!|.>
			<Hope|I hope> you can help<| me| us>.
			<Looking|I am looking> forward to <your reply|your answer|hearing from you>.
			<Let|Please let> me know<| what you think| what to do>.
			<I|We> have used your <service|site|products> for years.
			<thx|thanks|ty>
		`)))
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), ticketRequests, g.object(asked))
}

// urgency asks for one of levels.
func (g *gen) urgency(levels []string, u int) property {
	return property{key: g.levelKey(), schema: g.enum(levels), value: quote(levels[u])}
}

var ticketRequests = lines(`
		Classify the ticket.
		Sort this support request.
		What kind of request is it?
		Which team should get this?
		Read the support ticket.
		Support ticket:
		Categorise the message.
		Triage this.
		<Classify|Categorise|Categorize|Label|Sort|Triage> <this|the following> <ticket|message|request|email|support ticket>.
		<Which|What> <category|class|label|type> <fits|suits|matches> <this message|the ticket|this request>?
		<Assign|Route|Forward> <this|the> <message|ticket|request> to the right <team|category|department|queue>.
		<What|Tell me what> <is this ticket about|does the customer want|is the customer's problem|does this customer write about><?|, please?>
		<Put|Sort> the <ticket|message|email> into <a category|the right category|one of the classes>.
		<Incoming|New|Open|Next> <ticket|message|request|support email>:
		<Customer|Support|User> <message|email|request|chat|feedback>:
		<Read|Look at|Analyse|Analyze> the <message|customer's message|email|request> and <classify it|fill in the fields|label it>.
		<Determine|Find|Identify|Choose> the <category|type|right label> of the <ticket|message|request>.
		<How|Where> should <this|the> <ticket|request|message> be <filed|classified|sorted|handled>?
		<Help desk|Helpdesk|Service desk|Hotline> <ticket|entry|message>:
		<Please|Kindly> <classify|sort|triage|label> <this|the message below|the ticket below>.
		<Extract|Get|Note> the <key facts|details|ticket data> <of|from> this <message|ticket|request>.
		<classify|triage|label> <this|the ticket|the message>:
		Ticket <text|message|body>:
		<The|A> customer <wrote|writes|says|sent us this>:
		<Fill in|Complete> the <ticket form|form|ticket> <from|for> this <message|email|request>.
		<From|In> our <inbox|mailbox|contact form>:
		How is the <submitted|new> <ticket|message> to be classified?
	`)

// classed are short texts, one after the other, that are to be put into the
// same classes.
func classed(g *gen) Lesson {
	key, all, nouns, requests := g.categoryKey(), categories, ticketNouns, ticketRequests
	if g.chance(0.4) {
		key, all, nouns, requests = g.feelingKey(), feelings, feelingNouns, reviewRequests
	}
	names, chosen := g.classes(all, 2, nouns)
	levels, grades := g.classes(urgencies, 2, levelNouns)
	schemas := []string{g.enum(names), g.enum(levels)}
	levelKey := g.levelKey()
	kind := g.n(10) // both, the urgency alone, or the class alone
	var out []Lesson
	for range g.between(4, 9) {
		c, u := g.n(len(chosen)), g.n(len(grades))
		class := property{key: key, schema: schemas[0], value: quote(names[c])}
		level := property{key: levelKey, schema: schemas[1], value: quote(levels[u])}
		said := []string{chosen[c].sentence(g)}
		asked := []property{class}
		switch {
		case kind < 2:
			said, asked = append(said, grades[u].sentence(g)), append(asked, level)
		case kind < 4:
			said, asked = []string{grades[u].sentence(g)}, []property{level}
		case g.chance(0.3):
			said = append(said, chosen[c].sentence(g))
		}
		content := strings.Join(said, " ")
		if g.chance(0.2) {
			content = g.say(requests) + "\n" + content
		}
		o := g.object(asked)
		out = append(out, Lesson{Chat: []Message{{"user", content}}, Schema: o.schema, Answer: o.value, Keys: o.keys})
		out[len(out)-1].Schema = out[0].Schema
	}
	l := out[0]
	l.Others = out[1:]
	return l
}

func (g *gen) categoryKey() string {
	return g.style.key(g.named(words(`
		category topic type department kind class ticket_type area subject label request_type issue_type ticket_category
		group ticket_topic inquiry_type case_category case_type request_category request_kind ticket_kind ticket_class
		message_category message_type team queue support_category support_area problem_type routing classification
		category_name assigned_team enquiry_type issue_category main_topic contact_reason theme`)))
}

func (g *gen) feelingKey() string {
	return g.style.key(g.named(words(`
		sentiment label mood polarity feeling tone opinion attitude verdict review_sentiment class emotion rating_class
		overall_sentiment sentiment_label customer_mood customer_sentiment sentiment_class mood_label emotional_tone
		tone_of_voice general_mood review_mood review_tone judgement satisfaction how_they_feel overall_opinion
		overall_mood customer_feeling reaction impression feedback_type text_sentiment writer_mood sentiment_type`)))
}

func (g *gen) levelKey() string {
	return g.style.key(g.named(words(`
		urgency priority severity importance urgency_level how_urgent priority_level level priority_class how_important
		urgency_rating importance_level severity_level ticket_priority ticket_urgency urgency_class criticality
		how_pressing priority_rating urgency_label issue_severity case_priority request_priority time_pressure
		response_priority`)))
}

// mix puts properties into another order.
func (g *gen) mix(list []property) {
	g.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

func sentiment(g *gen) Lesson {
	names, chosen := g.classes(feelings, 2, feelingNouns)
	c := g.n(len(chosen))
	said := []string{chosen[c].sentence(g)}
	for g.chance(0.4) && len(said) < 3 {
		said = append(said, chosen[c].sentence(g))
	}
	asked := []property{{key: g.feelingKey(), schema: g.enum(names), value: quote(names[c])}}
	if g.chance(0.4) {
		p := g.thing()
		said = append([]string{strings.ReplaceAll(g.say(lines(`
			I bought the {p}.
			Review of the {p}:
			About the {p}:
			The {p} arrived today.
			{p}:
			<Yesterday I|We> <bought|ordered|tried|tested|got> the {p}<| online| for my father| in town>.
			<Short review|Feedback|Opinion|Comment> <on|about> the {p}:
			<My|Our> <review|opinion|verdict|thoughts> <of|on> the {p}:
			<This|It> is about the {p}.
			<I|We> <have|own|use> the {p}<| at home| at work| for a month now>.
			<Product|Item|Article|Bought>: {p}
			<I have been|My family has been> using the {p}<| for some weeks| every day>.
			The {p} <came|was delivered|got here> <yesterday|last week|this morning>.
			<Regarding|Concerning|As for> the {p}:
			<Verified purchase|Purchased|Reviewed item>: {p}
		`)), "{p}", p)}, said...)
		if strings.HasSuffix(said[0], p) { // else nobody could say where its name ends
			said[0] += g.of([]string{".", "\n", ";", " -"})
		}
		asked = append(asked, property{key: g.style.key(g.named(words("product item subject about product_name reviewed_product article item_name reviewed_item bought purchased_product"))), schema: plain("string"), value: quote(p)})
	}
	if g.chance(0.25) {
		n := g.between(1, 5)
		said = append(said, strings.ReplaceAll(g.say(lines(`
			{n} stars.
			I give it {n} stars.
			{n} out of 5.
			{n}/5
			<I|We> <give|gave> <it|this> {n} <stars|points> out of 5.
			<My|Our> <rating|score>: {n} <out of 5|of 5|stars|points>.
			<Rating|Stars|Score|Points>: {n}
			<That|This> <makes|gets|is> {n} of 5 <stars|points> <from me|from us>.
			{n} <stars|points> <from me|from us|of 5|in total>.
			<Overall|In total|All in all>: {n}/5
			{n} of 5<.| stars.| points.>
		`)), "{n}", strconv.Itoa(n)))
		asked = append(asked, property{key: g.style.key(g.named(words("stars rating points score star_rating number_of_stars points_given review_score"))), schema: plain("integer"), value: strconv.Itoa(n)})
	}
	g.mix(asked)
	return g.put(strings.Join(said, " "), reviewRequests, g.object(asked))
}

var reviewRequests = lines(`
		What is the sentiment?
		Classify the review.
		Is this positive or negative?
		How does the writer feel?
		Sentiment of this text:
		Rate the mood of the text.
		Review:
		<What|Which> <is the sentiment|sentiment has|mood has> <of |>this <review|text|comment>?
		<Classify|Label|Judge|Rate|Determine> the <sentiment|mood|tone|feeling> of this <review|text|comment|feedback|message>.
		How does <the customer|the author|the reviewer|this person> <feel|feel about it>?
		<Is|Was> the <writer|customer|author|reviewer|guest> <happy|satisfied|pleased> or not?
		<Sentiment|Mood|Tone|Opinion> <of|in> <this|the> <comment|review|message|post>:
		<Customer|Guest|User|Reader> <review|feedback|comment|opinion>:
		<Read|Look at|Analyse|Analyze> <this|the> <review|comment|feedback> and <classify it|label it|fill in the fields>.
		<Tell me|Say|Decide> <how the writer feels|what the mood is|whether the review is good or bad>.
		<Review|Comment|Feedback|Post> <text|by a customer|from our site>:
		<Which|What> <feeling|opinion|attitude> does the <text|review|comment> <express|show|reveal>?
		<Sort|Put> the <review|comment|opinion> into <a class|the right class|a category>.
		<sentiment|mood>?
		<classify|label> the <sentiment|mood|review>:
		<A|The> <customer|guest|buyer> <wrote|writes|says|left this comment>:
		<Detect|Recognise|Recognize|Find> the <sentiment|mood|tone|attitude>.
		<Tell me|Say> what the <verdict|opinion of the writer> is.
		<Say|Note> what <thoughts|feelings> the text <explains|shows>.
	`)
