package main

import (
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func TestCountReadsTheCheapestColumn(t *testing.T) {
	for _, c := range []struct {
		columns, partitions []string
		want                string
	}{
		{[]string{"id long", "day date"}, []string{"day"}, "day"},
		{[]string{"text string", "id long", "flag boolean"}, nil, "flag"},
		{[]string{"items array<long>", "price decimal(10,2)", "text string"}, nil, "price"},
	} {
		if got := cheapest(deltatest.Columns(c.columns...), c.partitions); !slices.Equal([]string{c.want}, got) {
			t.Errorf("%q: want %s, got %q", c.columns, c.want, got)
		}
	}
}
