// Package deltacore reads one immutable version of a Delta table as Arrow record batches.
//
// [Open] finds a version, [Table.Scan] plans a read of it, [Scan.Batches] yields its rows. A [Table] never changes: a newer
// version is another value, which [Table.Refresh] opens. Who follows a table asks [Table.Look] what is new, goes over
// [Table.Commits], reads each with [Table.ScanCommit] and goes on from [Table.AtCommit].
//
// # The path of a batch
//
//	storage    bytes at a path below the table root
//	deltalog   listing → segment → protocol, metadata → reconciled active files
//	scanplan   files in canonical order, without those that a predicate rules out → tasks, partitions, ranges
//	exec       files opened ahead, then their units decoded in parallel: results in order, within a byte budget
//	parquetio  footer → row groups → physical batches, guarded
//	datafile   physical batch → the table's columns and types, partition values, missing columns, rows that match
//	variant    binary and shredded values of variant columns → JSON
//
// # What is not obvious
//
//   - The canonical order of a version's files is (modificationTime, path bytes as in the log). Positions depend on it: it
//     must not depend on workers, on the checkpoint that was read, or on the host.
//   - A unit of work is a file, or a row group where files are cut ([scanplan.Options].Cuts). A file is open from when its
//     footer is read until its last unit is done, and holds a permit all the while. Permits are given out in canonical
//     order: else files behind the one whose rows are next could hold all of them.
//   - A range owns the row group whose first column's first page begins in it. The range that ends where the log says that the
//     file ends owns what lies behind it too: the log may be wrong.
//   - A buffer's memory is the capacity of its slice, up to twice what arrow-go's Buffer.Cap says: arrowdata.Bytes.
//   - A log path is decoded exactly once, in storage.ResolvePath. Stores take decoded paths.
//   - Protocol and metadata come from the segment that was chosen, never from behind its checkpoint (protocol R1).
//   - arrow-go reads truncated data as a clean end of file: parquetio compares rows with the footer after each row group.
//   - arrow-go takes a page without values for the end of a column chunk: parquetio hides such pages from it.
//   - Spark before 3.0 wrote dates before 1582-10-15 in another calendar, and later versions may have done so: datafile asks the
//     footer and converts (protocol Q6).
//   - arrow-go reads INT96 through int64 nanoseconds, which end in 2262: parquetio presents the 12 bytes, datafile converts.
package deltacore
