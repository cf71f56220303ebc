// Package deltatest builds small Delta tables for tests, through the real log format and real Parquet files.
//
// A [Table] grows commit by commit in memory and can be written to a directory. What it writes is decided by the test
// and by nothing else: times and identifiers are fixed, so the same calls give the same bytes. It writes the log's JSON
// and Parquet by itself and uses none of the code that reads them, so that a reader cannot agree with its own mistake.
//
//	columns := deltatest.Columns("id long", "country string", "amount decimal(10,2)")
//	table := deltatest.New(columns, deltatest.Options{PartitionColumns: []string{"country"}})
//	table.Append(deltatest.Rows(columns, `{"id": 1, "country": "NL", "amount": "9.99"}`))
//	table.Checkpoint()
//	table.Commit(deltatest.Remove(table.Active()[0]))
//	table.CopyTo(store.PutAt) // or table.WriteDir(t.TempDir())
//
// Anything else (a damaged line, a half checkpoint, a file that is gone) is made by [Raw], [Table.Put], [Table.Truncate]
// and [Table.Drop]. A wrong call is a bug of the test and panics.
package deltatest
