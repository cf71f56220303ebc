// Package orders makes the rows of the sample table: invented orders of an invented shop, each of them decided by its
// number alone, with the text that a reader must produce for it. It knows nothing of readers.
package orders

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Columns is the schema of the table, which is partitioned by country.
func Columns() *schema.Struct {
	return deltatest.Columns(
		"order_id long not null",
		"ordered_at timestamp not null",
		"customer_id integer not null",
		"country string not null",
		"city string",
		"status string",
		"amount decimal(12,2)",
		"express boolean",
		"deliver_on date",
		"parcel struct<carrier:string,weight_kg:double>",
		"items array<struct<sku:string,product:string,quantity:integer,price:decimal(10,2)>>",
		"attributes map<string,string>",
	)
}

// Order is one row. Amounts are in cents.
type Order struct {
	ID         int64
	OrderedAt  time.Time
	Customer   int32
	Country    string
	City       string
	Status     string
	Cents      int64
	Express    bool
	DeliverOn  time.Time // zero: null
	Parcel     *Parcel   // nil: null
	Items      []Item
	Attributes []Attribute // nil: null
}

// Parcel is how an order was sent.
type Parcel struct {
	Carrier  string
	WeightKG float64
}

// Item is a line of an order.
type Item struct {
	Product
	Quantity int32
}

// Product is something that the shop sells.
type Product struct {
	SKU   string
	Name  string
	Cents int64
}

// Attribute is an entry of the map column.
type Attribute struct{ Key, Value string }

// first is the time of the first order.
var first = time.Date(2025, 3, 1, 6, 0, 0, 0, time.UTC)

// Make returns the order with a number, counted from 1.
func Make(id int64) Order {
	r := rand.New(rand.NewPCG(2025, uint64(id)))
	country := countries[weighted(r)]
	o := Order{
		ID:        id,
		OrderedAt: first.Add(time.Duration(id)*24*time.Minute + time.Duration(r.IntN(20*60*1e6))*time.Microsecond),
		Customer:  int32(1000 + r.IntN(400)),
		Country:   country.code,
		City:      country.cities[r.IntN(len(country.cities))],
		Status:    statuses[r.IntN(len(statuses))],
		Express:   r.IntN(5) == 0,
	}
	for range 1 + r.IntN(4) {
		item := Item{products[r.IntN(len(products))], int32(1 + r.IntN(3))}
		o.Items = append(o.Items, item)
		o.Cents += item.Cents * int64(item.Quantity)
	}
	o.addDelivery(r)
	o.addAttributes(r)
	return o
}

func (o *Order) addDelivery(r *rand.Rand) {
	if o.Status == "placed" || o.Status == "cancelled" {
		return
	}
	o.DeliverOn = o.OrderedAt.Truncate(24*time.Hour).AddDate(0, 0, 1+r.IntN(6))
	o.Parcel = &Parcel{Carrier: carriers[r.IntN(len(carriers))], WeightKG: float64(100+r.IntN(18_000)) / 1000}
}

func (o *Order) addAttributes(r *rand.Rand) {
	switch r.IntN(4) {
	case 0:
		o.Attributes = []Attribute{}
	case 1:
		o.Attributes = []Attribute{{"channel", channels[r.IntN(len(channels))]}}
	case 2:
		o.Attributes = []Attribute{
			{"channel", channels[r.IntN(len(channels))]},
			{"note", notes[r.IntN(len(notes))]},
		}
	}
}

// weighted picks a country; the first ones have more orders.
func weighted(r *rand.Rand) int { return min(r.IntN(len(countries)), r.IntN(len(countries))) }

// AppendJSON appends the row as delta_lake writes it by default: no spaces, columns in the order of the schema, decimals as
// text with their full scale, six digits of a second.
func (o Order) AppendJSON(b []byte) []byte {
	b = fmt.Appendf(b, `{"order_id":%d,"ordered_at":"%s","customer_id":%d,"country":%q,"city":%q,"status":%q`,
		o.ID, o.OrderedAt.Format("2006-01-02T15:04:05.000000Z"), o.Customer, o.Country, o.City, o.Status)
	b = fmt.Appendf(b, `,"amount":"%s","express":%t`, cents(o.Cents), o.Express)
	if o.DeliverOn.IsZero() {
		b = append(b, `,"deliver_on":null`...)
	} else {
		b = fmt.Appendf(b, `,"deliver_on":"%s"`, o.DeliverOn.Format(time.DateOnly))
	}
	if o.Parcel == nil {
		b = append(b, `,"parcel":null`...)
	} else {
		weight := strconv.FormatFloat(o.Parcel.WeightKG, 'f', -1, 64)
		b = fmt.Appendf(b, `,"parcel":{"carrier":%q,"weight_kg":%s}`, o.Parcel.Carrier, weight)
	}
	b = o.appendItems(b)
	return append(o.appendAttributes(b), '}')
}

func (o Order) appendItems(b []byte) []byte {
	b = append(b, `,"items":[`...)
	for i, item := range o.Items {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `{"sku":%q,"product":%q,"quantity":%d,"price":"%s"}`,
			item.SKU, item.Name, item.Quantity, cents(item.Cents))
	}
	return append(b, ']')
}

func (o Order) appendAttributes(b []byte) []byte {
	if o.Attributes == nil {
		return append(b, `,"attributes":null`...)
	}
	b = append(b, `,"attributes":{`...)
	for i, a := range o.Attributes {
		if i > 0 {
			b = append(b, ',')
		}
		b = fmt.Appendf(b, `%q:%q`, a.Key, a.Value)
	}
	return append(b, '}')
}

func cents(n int64) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }
