package orders

import (
	"slices"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// History is a table of orders together with the rows that each of its versions holds.
type History struct {
	Table    *deltatest.Table
	Versions [][]Order // rows by version, in canonical order: files by time and path, rows as they stand in the file
	files    map[string][]Order
}

// What the sample table ends with.
const (
	SampleVersion = 8
	SampleRows    = 1000
)

// Sample builds the table that stands in testdata/tables/orders: appends, an update, a delete, a compaction, and a
// checkpoint at version 5. Its rows are known for every version.
func Sample() *History {
	h := New()
	h.commit()
	next := h.append(1, 400)
	next = h.append(next, 250)
	next = h.append(next, 200)
	h.rewrite("UPDATE", h.of("NL")[:1], ship)
	next = h.append(next, 100)
	h.Table.Checkpoint()
	h.rewrite("DELETE", h.of("DE")[1:2], dropCancelled)
	h.rewrite("OPTIMIZE", h.of("FR"), keep)
	h.append(next, SampleRows-len(h.Versions[h.Table.Version()]))
	return h
}

// New returns a history without commits.
func New() *History {
	return &History{files: map[string][]Order{}, Table: deltatest.New(Columns(), deltatest.Options{
		ID:               "0b0e9a52-5e1f-4b7c-9d7e-6f1a2c3d4e5f",
		Name:             "orders",
		PartitionColumns: []string{"country"},
		Configuration:    map[string]string{"delta.enableInCommitTimestamps": "true"},
		Protocol: action.Protocol{
			MinReaderVersion: 1, MinWriterVersion: 7,
			WriterFeatures: []string{"appendOnly", "inCommitTimestamp", "invariants"},
		},
		Start: first,
		Step:  7 * 24 * time.Hour,
	})}
}

// Generate builds a table of n orders, the numbers 1 to n, in commits of the given size.
func Generate(n, perCommit int) *History {
	h := New()
	for next := 1; next <= n; {
		next = h.append(next, min(perCommit, n-next+1))
	}
	return h
}

// Rows returns the rows of the newest version.
func (h *History) Rows() []Order { return h.Versions[len(h.Versions)-1] }

// append commits orders with n numbers from the given one and returns the number after them.
func (h *History) append(from, n int) (next int) {
	list := make([]Order, n)
	for i := range list {
		list[i] = Make(int64(from + i))
	}
	var actions []deltatest.Action
	for _, add := range h.write(list) {
		actions = append(actions, deltatest.Add(add))
	}
	h.commit(actions...)
	return from + n
}

// rewrite commits one file in place of files of one country, with what change makes of their rows.
func (h *History) rewrite(operation string, old []action.Add, change func([]Order) []Order) {
	actions := []deltatest.Action{h.Table.CommitInfo(operation)}
	dataChange := operation != "OPTIMIZE"
	var rows []Order
	for _, add := range old {
		rows = append(rows, h.files[add.Path]...)
		add.DataChange = dataChange
		add.ModificationTime = h.Table.CommitTime(h.Table.Version() + 1).UnixMilli()
		actions = append(actions, deltatest.Remove(add))
	}
	for _, add := range h.write(change(rows)) {
		add.DataChange = dataChange
		actions = append(actions, deltatest.Add(add))
	}
	h.commit(actions...)
}

// write writes one file for each country and remembers its rows.
func (h *History) write(list []Order) []action.Add {
	adds := h.Table.WriteFiles(Record(list))
	for _, add := range adds {
		h.files[add.Path] = slices.DeleteFunc(slices.Clone(list), func(o Order) bool {
			return o.Country != *add.PartitionValues["country"]
		})
	}
	return adds
}

func (h *History) commit(actions ...deltatest.Action) {
	h.Table.Commit(actions...)
	var rows []Order
	for _, add := range h.Table.Active() {
		rows = append(rows, h.files[add.Path]...)
	}
	h.Versions = append(h.Versions, rows)
}

// of lists the active files of a country.
func (h *History) of(country string) []action.Add {
	return slices.DeleteFunc(h.Table.Active(), func(a action.Add) bool { return *a.PartitionValues["country"] != country })
}

func keep(rows []Order) []Order { return rows }

// ship marks paid orders as shipped.
func ship(rows []Order) []Order {
	changed := slices.Clone(rows)
	for i, o := range changed {
		if o.Status == "paid" {
			changed[i].Status = "shipped"
		}
	}
	return changed
}

func dropCancelled(rows []Order) []Order {
	return slices.DeleteFunc(slices.Clone(rows), func(o Order) bool { return o.Status == "cancelled" })
}
