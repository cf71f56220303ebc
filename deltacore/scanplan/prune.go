package scanplan

import (
	"slices"
	"strings"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Columns is what a table says about its columns, as far as it matters to where their values are found.
type Columns struct {
	Schema    *schema.Struct
	Partition []string // names of the partition columns, as the schema spells them
	Mapping   schema.Mapping
}

// Pruner says which files can hold a row for which a predicate is true: by their partition values, then by what the log
// says about their rows. It keeps whatever is not known. It is immutable once it is in use, and safe for concurrent use.
type Pruner struct {
	// Skipped counts what is skipped, and statistics that cannot be used; nil: nobody is told.
	Skipped *Skipped
	// Explain is told of every file that is skipped, by several goroutines. nil: nobody is told.
	Explain func(Explanation)

	where    *pruning.Bound
	sources  []source // by the columns' numbers in where
	mapping  schema.Mapping
	columns  []partitionColumn // of where
	leaves   []deltalog.Leaf
	full     []bool // by leaf: it is never null, nor is a struct around it
	evidence sync.Pool
}

type partitionColumn struct {
	schema.Field

	as pruning.Type
}

// source is where the evidence about a column is found: a number in one of the pruner's lists, or nowhere.
type source struct {
	partition bool
	n         int
}

const nowhere = -1

// NewPruner makes a pruner for a predicate of the table's columns. Partition values and statistics are found by physical
// names where the table maps its columns (CM4). A partition column has no statistics, whatever the files say.
func NewPruner(where *pruning.Bound, c Columns) (*Pruner, error) {
	p := &Pruner{where: where, mapping: c.Mapping}
	p.evidence.New = func() any { return &fileEvidence{pruner: p} }
	for _, column := range where.Columns {
		fields, err := c.Schema.Resolve(column.Path)
		if err != nil {
			return nil, err
		}
		p.sources = append(p.sources, p.find(fields, column.Type, c.Partition))
	}
	return p, nil
}

// find says where the evidence about a column is found. What is counted of structs is counted of their members.
func (p *Pruner) find(fields []schema.Field, t pruning.Type, partition []string) source {
	last := fields[len(fields)-1]
	if len(fields) == 1 && slices.Contains(partition, last.Name) {
		p.columns = append(p.columns, partitionColumn{last, t})
		return source{partition: true, n: len(p.columns) - 1}
	}
	if _, is := last.Type.(*schema.Struct); is {
		return source{n: nowhere}
	}
	leaf, full := deltalog.Leaf{Type: t}, true
	for _, f := range fields {
		leaf.Path = append(leaf.Path, p.mapping.PhysicalName(f))
		full = full && !f.Nullable
	}
	p.leaves, p.full = append(p.leaves, leaf), append(p.full, full)
	return source{n: len(p.leaves) - 1}
}

// Selection makes the log leave out what the pruner skips, while it is read. check comes first, so that what is refused does
// not depend on the predicate; nil checks nothing.
func (p *Pruner) Selection(check func(deltalog.ActiveFile) error) deltalog.Selection {
	return deltalog.Selection{
		Leaves: p.leaves,
		Keep: func(f deltalog.ActiveFile) (bool, error) {
			if check != nil {
				if err := check(f); err != nil {
					return false, err
				}
			}
			return p.Keep(f), nil
		},
	}
}

// Exclusion is a Selection of the same files that counts no skipped one: not everything that it is asked about is to be read.
func (p *Pruner) Exclusion() deltalog.Selection {
	return deltalog.Selection{
		Leaves: p.leaves,
		Keep: func(f deltalog.ActiveFile) (bool, error) {
			_, d := p.look(f)
			return !d.Skip, nil
		},
	}
}

// Keep says whether a file may hold a row for which the predicate is true.
//
// A partition value that cannot be read keeps its file, whatever else is known: the error is raised where it is read. So does
// a column that is never null of which the statistics count nulls, unless the predicate excludes the file without it.
func (p *Pruner) Keep(f deltalog.ActiveFile) bool {
	reason, d := p.look(f)
	if !d.Skip {
		return true
	}
	p.Skipped.Add(reason, 1, 0, 0)
	if p.Explain != nil {
		p.Explain(Explanation{strings.Clone(f.Location.Key()), WholeFile, reason, Statement(d.Because)})
	}
	return false
}

// look decides about a file. It counts statistics that cannot be used.
func (p *Pruner) look(f deltalog.ActiveFile) (Reason, pruning.Decision) {
	e := p.evidence.Get().(*fileEvidence) //nolint:forcetypeassert // it holds nothing else
	defer p.evidence.Put(e)
	if !e.read(f.Add.PartitionValues) {
		return ByPartition, pruning.Decision{}
	}
	reason, d := p.decide(e, f.Statistics)
	e.statistics = nil
	if f.Statistics.Odd() {
		p.Skipped.Unusable(ByStatistics, 1)
	}
	return reason, d
}

func (p *Pruner) decide(e *fileEvidence, s *deltalog.Statistics) (Reason, pruning.Decision) {
	if len(p.columns) > 0 || len(p.leaves) == 0 {
		if d := p.where.Decide(e); d.Skip {
			return ByPartition, d
		}
	}
	if s == nil || len(p.leaves) == 0 {
		return ByStatistics, pruning.Decision{}
	}
	e.statistics = s
	return ByStatistics, p.where.Decide(e)
}

// fileEvidence is what the log says about a file.
type fileEvidence struct {
	pruner     *Pruner
	partition  []pruning.Bounds
	statistics *deltalog.Statistics // nil: not looked at
}

// read reads the partition values that the predicate refers to. It says whether all can be read.
func (e *fileEvidence) read(values map[string]*string) bool {
	e.partition = e.partition[:0]
	for _, c := range e.pruner.columns {
		b, ok := c.bounds(e.pruner.mapping.PartitionText(c.Field, values))
		if !ok {
			return false
		}
		e.partition = append(e.partition, b)
	}
	return true
}

// Bounds implements [pruning.Evidence].
func (e *fileEvidence) Bounds(column int) pruning.Bounds {
	switch s := e.pruner.sources[column]; {
	case s.partition:
		return e.partition[s.n]
	case s.n == nowhere || e.statistics == nil:
		return pruning.Bounds{}
	default:
		return e.ofLeaf(s.n)
	}
}

// ofLeaf is what the statistics say of a leaf. Of nulls where there are none they say nothing (S5).
func (e *fileEvidence) ofLeaf(n int) pruning.Bounds {
	b := e.statistics.Bounds(n)
	if nulls, _ := b.Nulls.Get(); nulls > 0 && e.pruner.full[n] {
		return pruning.Bounds{}
	}
	return b
}

// MayHold implements [pruning.Evidence].
func (e *fileEvidence) MayHold(int, pruning.Value) bool { return true }

// bounds is what the value of a partition column says: all rows have it. Counts are those of one row, since what
// holds of one holds of all. ok is false for a value that cannot be read, or not be there.
func (c partitionColumn) bounds(text *string) (b pruning.Bounds, ok bool) {
	parsed, err := schema.ParsePartition(c.Field, text)
	if err != nil || parsed.Null && !c.Nullable {
		return b, false
	}
	b.Rows, b.Nulls = pruning.Exactly(1), pruning.Exactly(0)
	if parsed.Null {
		b.Nulls = pruning.Exactly(1)
		return b, true
	}
	if v, ok := parsed.Value(c.as); ok && !v.IsNaN() {
		b.Min, b.Max, b.NaNs, b.Constant = v, v, pruning.Exactly(0), true
	}
	return b, true
}
