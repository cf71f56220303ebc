package main

import (
	"bufio"
	"bytes"
	"errors"
	"iter"
	"strings"
	"testing"
)

// commits yields n commits, newest first, and then err if there is one.
func commits(n int64, err error) iter.Seq2[commit, error] {
	return func(yield func(commit, error) bool) {
		for i := range n {
			if !yield(commit{Version: n - 1 - i}, nil) {
				return
			}
		}
		if err != nil {
			yield(commit{}, err)
		}
	}
}

func TestHistoryOfManyCommitsIsWrittenInPages(t *testing.T) {
	for _, n := range []int64{0, 1, historyPage, 2*historyPage + 1} {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		if err := errors.Join(writeHistoryText(w, commits(n, nil)), w.Flush()); err != nil {
			t.Fatal(err)
		}
		pages := (n + historyPage - 1) / historyPage
		if got := strings.Count(out.String(), "\n"); int64(got) != n+pages {
			t.Errorf("%d commits: want %d lines, %d of them headers, got %d", n, n+pages, pages, got)
		}
	}
}

func TestHistoryIsWrittenUpToAnError(t *testing.T) {
	broken := errors.New("broken")
	for _, write := range []func(*bufio.Writer, iter.Seq2[commit, error]) error{writeHistoryText, writeHistoryJSON} {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		err := write(w, commits(3, broken))
		if flushErr := w.Flush(); flushErr != nil {
			t.Fatal(flushErr)
		}
		if !errors.Is(err, broken) || strings.Count(out.String(), "unknown")+strings.Count(out.String(), "null") < 3 {
			t.Errorf("want three commits and the error, got %v and\n%s", err, &out)
		}
	}
}
