// Package pruning answers two questions: what does a predicate text mean for these columns, and can rows for which it is
// true be in here, given what is known about the values?
//
// [Parse] reads a text into a [Predicate], which knows names and literals only. [Predicate.Bind] gives it columns: every
// literal becomes a [Value] of its column's type, or the comparison is rewritten so that it is decided exactly. The
// resulting [Bound] is a tree that can be evaluated row by row (package rowfilter) or asked whether a piece of data may be
// skipped ([Bound.Decide]). A piece is whatever has [Evidence]: a file, a row group, a page, a partition's values.
//
// The language is a condition of SQL: = == != <> < <= > >= between a column and a literal, IN, BETWEEN, LIKE, IS NULL, each
// with its NOT; AND, OR, NOT, parentheses, boolean columns by themselves, TRUE, FALSE, NULL. Columns are paths into structs,
// a.b.c, with backticks where a name is not a plain word. Literals are numbers, 'texts', TRUE, FALSE, NULL, DATE '2024-01-31',
// TIMESTAMP '2024-01-31 10:00:00.5Z' and X'00FF'. [Predicate.Bind] tells what they mean for a column's type.
//
// Logic is SQL's three-valued one; a row is kept only where the predicate is true. Skipping only ever saves work: whatever
// is not known means "keep", and the exact filter runs at the end.
package pruning
