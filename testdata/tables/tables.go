// Package tables embeds the sample table, so that tests and programs have a Delta table wherever they run. The files are
// made by deltacore/deltatest/orders, which also knows the rows of every version.
package tables

import (
	"embed"
	"io/fs"
)

// What the newest version of the sample table is.
const (
	OrdersVersion = 8
	OrdersRows    = 1000
)

//go:embed all:orders
var files embed.FS

// Orders returns the files of the sample table: invented orders with decimals, timestamps, dates, a struct, a list of structs
// and a map, partitioned by country, with appends, an update, a delete, a compaction and a checkpoint.
func Orders() fs.FS {
	orders, err := fs.Sub(files, "orders")
	if err != nil {
		panic(err) // the name is constant and valid
	}
	return orders
}
