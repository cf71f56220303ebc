package orders

var countries = []struct {
	code   string
	cities []string
}{
	{"NL", []string{"Ostervaal", "Nieuwhaven", "Lindermeer", "Grootwijk"}},
	{"DE", []string{"Tannfurt", "Bad Grünbach", "Seelingen", "Altmoor"}},
	{"FR", []string{"Montclair-le-Vieux", "Saint-Ormeau", "Valbrèze"}},
	{"SE", []string{"Björkvik", "Norrsund", "Älgamo"}},
	{"PT", []string{"Vila Cortiça", "São Romeiro", "Ponte d'Areia"}},
}

var products = []Product{
	{"KET-0110", "Brimholt kettle, 1.7 l", 3990},
	{"KET-0240", "Brimholt \"Duo\" kettle", 6450},
	{"LMP-0310", "Orvane desk lamp", 5295},
	{"LMP-0330", "Orvane floor lamp", 12900},
	{"CHR-1001", "Teskel folding chair", 2750},
	{"CHR-1040", "Teskel lounge chair", 34999},
	{"TBL-2005", "Marrowby side table", 8900},
	{"RUG-3100", "Fennig rug, 140 × 200", 15900},
	{"RUG-3150", "Fennig runner", 4950},
	{"CLK-4000", "Pellun wall clock", 2395},
	{"BAG-5200", "Quillo tote bag", 1805},
	{"MUG-6001", "Quillo mug, set of 4", 2199},
	{"NTB-7010", "Ardling notebook", 449},
	{"PEN-7100", "Ardling pen", 129},
	{"SRV-9000", "Gift wrapping", 0},
	{"CAB-8800", "Hollenmark cabinet, oak", 129900},
}

var (
	statuses = []string{"placed", "paid", "shipped", "shipped", "delivered", "delivered", "delivered", "cancelled"}
	carriers = []string{"Karrow Post", "Swiftlane", "Havnet"}
	channels = []string{"web", "app", "phone", "shop"}
	notes    = []string{"leave at the door", "ring twice", "après 18 h", "path C:\\in", "50% <off> & more"}
)
