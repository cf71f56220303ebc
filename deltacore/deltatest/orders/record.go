package orders

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// Record builds a record of orders on the Go heap: nobody needs to release it.
func Record(list []Order) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.NewGoAllocator(), deltatest.ArrowSchema(Columns()))
	for _, o := range list {
		appendOrder(b, o)
	}
	return b.NewRecordBatch()
}

func appendOrder(b *array.RecordBuilder, o Order) {
	b.Field(0).(*array.Int64Builder).Append(o.ID)
	b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(o.OrderedAt.UnixMicro()))
	b.Field(2).(*array.Int32Builder).Append(o.Customer)
	b.Field(3).(*array.StringBuilder).Append(o.Country)
	b.Field(4).(*array.StringBuilder).Append(o.City)
	b.Field(5).(*array.StringBuilder).Append(o.Status)
	b.Field(6).(*array.Decimal128Builder).Append(decimal128.FromI64(o.Cents))
	b.Field(7).(*array.BooleanBuilder).Append(o.Express)
	if o.DeliverOn.IsZero() {
		b.Field(8).AppendNull()
	} else {
		b.Field(8).(*array.Date32Builder).Append(arrow.Date32FromTime(o.DeliverOn))
	}
	appendParcel(b.Field(9).(*array.StructBuilder), o.Parcel)
	appendItems(b.Field(10).(*array.ListBuilder), o.Items)
	appendAttributes(b.Field(11).(*array.MapBuilder), o.Attributes)
}

func appendParcel(b *array.StructBuilder, p *Parcel) {
	if p == nil {
		b.AppendNull()
		return
	}
	b.Append(true)
	b.FieldBuilder(0).(*array.StringBuilder).Append(p.Carrier)
	b.FieldBuilder(1).(*array.Float64Builder).Append(p.WeightKG)
}

func appendItems(b *array.ListBuilder, items []Item) {
	b.Append(true)
	item := b.ValueBuilder().(*array.StructBuilder)
	for _, i := range items {
		item.Append(true)
		item.FieldBuilder(0).(*array.StringBuilder).Append(i.SKU)
		item.FieldBuilder(1).(*array.StringBuilder).Append(i.Name)
		item.FieldBuilder(2).(*array.Int32Builder).Append(i.Quantity)
		item.FieldBuilder(3).(*array.Decimal128Builder).Append(decimal128.FromI64(i.Cents))
	}
}

func appendAttributes(b *array.MapBuilder, attributes []Attribute) {
	if attributes == nil {
		b.AppendNull()
		return
	}
	b.Append(true)
	for _, a := range attributes {
		b.KeyBuilder().(*array.StringBuilder).Append(a.Key)
		b.ItemBuilder().(*array.StringBuilder).Append(a.Value)
	}
}
