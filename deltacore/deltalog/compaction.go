package deltalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Compaction is a log file that adds up the commits First to Last (section 6). It saves requests and nothing else: the
// commits must all be there (L5), and it is passed over as soon as anything about it is odd.
type Compaction struct {
	First, Last int64
	File        File
}

// appendCompaction leaves out empty ones (L9), and those that spare no request: the last of their commits is read too.
func appendCompaction(list []Compaction, n logName, f File) []Compaction {
	if f.Size == 0 || n.through-n.version < 2 {
		return list
	}
	return append(list, Compaction{n.version, n.through, f})
}

func longestFirst(list []Compaction) {
	slices.SortFunc(list, func(a, b Compaction) int {
		return cmp.Or(cmp.Compare(b.Last-b.First, a.Last-a.First), cmp.Compare(a.First, b.First))
	})
}

// compactionsOf chooses compactions inside a run of commits, longer ones first, none of which overlap.
func (s listing) compactionsOf(from, to int64) []Compaction {
	var chosen []Compaction
	for _, c := range s.compactions {
		inside := from <= c.First && c.Last <= to
		if inside && !slices.ContainsFunc(chosen, func(o Compaction) bool { return c.First <= o.Last && o.First <= c.Last }) {
			chosen = append(chosen, c)
		}
	}
	slices.SortFunc(chosen, func(a, b Compaction) int { return cmp.Compare(a.First, b.First) })
	return chosen
}

// tailFile is a commit, or a compaction in the place of several.
type tailFile struct {
	File
	first     int64 // the first version it stands for; a commit's own
	compacted bool
}

// tail lists the files that make up the commits of a segment, newest first.
func (s Segment) tail() []tailFile {
	var list []tailFile
	compactions := s.Compactions
	for i := len(s.Commits) - 1; i >= 0; i-- {
		commit := s.Commits[i]
		for len(compactions) > 0 && compactions[len(compactions)-1].First > commit.Version {
			compactions = compactions[:len(compactions)-1]
		}
		if n := len(compactions); n > 0 && commit.Version <= compactions[n-1].Last {
			c := compactions[n-1]
			list = append(list, tailFile{c.File, c.First, true})
			i -= int(c.Last - c.First)
			continue
		}
		list = append(list, tailFile{commit, commit.Version, false})
	}
	return list
}

// uncompacted returns the commits for which no compaction stands, ascending.
func (s Segment) uncompacted() []File {
	var commits []File
	for _, f := range slices.Backward(s.tail()) {
		if !f.compacted {
			commits = append(commits, f.File)
		}
	}
	return commits
}

// commit returns the commit of a version of the segment's tail.
func (s Segment) commit(version int64) File { return s.Commits[version-s.Commits[0].Version] }

// checkedCompaction is a compaction that was read whole, or why it is not used.
type checkedCompaction struct {
	compaction Compaction
	head       headResult // of the compaction
	last       headResult // of its last commit
	odd        error
}

// readCompactions reads the compactions of a segment, in parallel, and takes what they say about the table. Those that are
// not used are taken out of the segment.
func (l Log) readCompactions(ctx context.Context, s Segment, h *head) (Segment, error) {
	if len(s.Compactions) == 0 {
		return s, nil
	}
	var good []Compaction
	o := exec.Options[checkedCompaction]{
		Workers: l.workers(), Budget: l.Budget, Size: func(c checkedCompaction) int64 { return int64(len(c.head.text)) },
	}
	check := func(ctx context.Context, c Compaction, emit func(checkedCompaction) error) error {
		r, err := l.checkCompaction(ctx, s, c)
		if err != nil && !passable(err) {
			return commitError(err, c.File)
		}
		r.compaction, r.odd = c, err
		return emit(r)
	}
	for r, err := range exec.Ordered(ctx, each(s.Compactions), o, check) {
		if err != nil {
			return s, err
		}
		if r.odd != nil {
			l.warn("passing over " + r.compaction.File.path() + " and reading its commits: " + r.odd.Error())
			continue
		}
		good = append(good, r.compaction)
		h.take(r.head)
		h.take(r.last)
	}
	s.Compactions = good
	return s, nil
}

// checkCompaction reads a compaction to its end, so that nothing of a broken one is ever used, and holds its last commit
// against it: the last word of that commit about a file must be the compaction's too. So one that another table left behind
// at the same place, or that was made of other commits, is found.
func (l Log) checkCompaction(ctx context.Context, s Segment, c Compaction) (checkedCompaction, error) {
	compacted, commit := words{}, words{}
	head, err := l.readWhole(ctx, headTask{file: c.File, version: c.Last, keep: c.File.Size <= maxKept/4}, compacted.takeOnce(l.Root))
	if err != nil {
		return checkedCompaction{}, err
	}
	last, err := l.readWhole(ctx, headTask{file: s.commit(c.Last), version: c.Last}, commit.take(l.Root))
	if err != nil {
		return checkedCompaction{}, err
	}
	for k, isAdd := range commit {
		if said, known := compacted[k]; !known || said != isAdd {
			return checkedCompaction{}, deltaerr.New(deltaerr.Corrupt, "it does not agree with the last commit that it stands for")
		}
	}
	return checkedCompaction{head: head, last: last}, nil
}

// words holds whether the last word about a file is that it is added.
type words map[key]bool

// take takes the actions of a commit, whose removes come before its adds (A6).
func (w words) take(root storage.URI) func(action.Action) error {
	return func(a action.Action) error {
		if f, ok := fileActionOf(root, a); ok {
			w[f.fileKey] = w[f.fileKey] || f.add != nil
		}
		return nil
	}
}

// takeOnce takes the actions of a compaction, which has one word about a file.
func (w words) takeOnce(root storage.URI) func(action.Action) error {
	return func(a action.Action) error {
		f, ok := fileActionOf(root, a)
		if !ok {
			return nil
		}
		if _, repeated := w[f.fileKey]; repeated {
			return deltaerr.New(deltaerr.Corrupt, "it says two things about "+f.path)
		}
		w[f.fileKey] = f.add != nil
		return nil
	}
}
