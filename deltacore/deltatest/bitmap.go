package deltatest

import (
	"encoding/binary"
	"slices"
)

// Bitmap says how the rows of a deletion vector are laid out (protocol D6, D7). The zero value is what writers make today.
type Bitmap struct {
	Native  bool // the array layout of old Spark versions instead of the portable one
	Swapped bool // big-endian, as the inline example of the protocol's text; Native only
	Runs    bool // run containers
}

// Data returns the bytes of a vector that holds the rows, which are distinct.
func (b Bitmap) Data(rows ...int64) []byte {
	rows = slices.Sorted(slices.Values(rows))
	if b.Native {
		return b.native(rows)
	}
	out := binary.LittleEndian.AppendUint32(nil, 1681511377)
	highs := parts(rows, 32)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(highs)))
	for _, p := range highs {
		out = binary.LittleEndian.AppendUint32(out, uint32(p.key))
		out = append(out, b.bitmap32(p.low)...)
	}
	return out
}

// native gives every 32 bits up to the greatest row a bitmap, even an empty one.
func (b Bitmap) native(rows []int64) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if b.Swapped {
		order = binary.BigEndian
	}
	highs := parts(rows, 32)
	count := int64(0)
	if len(highs) > 0 {
		count = highs[len(highs)-1].key + 1
	}
	out := order.AppendUint32(nil, 1681511376)
	out = order.AppendUint32(out, uint32(count))
	for high := range count {
		var low []int64
		if highs[0].key == high {
			low, highs = highs[0].low, highs[1:]
		}
		bitmap := b.bitmap32(low)
		out = order.AppendUint32(out, uint32(len(bitmap)))
		out = append(out, bitmap...)
	}
	return out
}

// part is the rows that share their upper bits, without those.
type part struct {
	key int64
	low []int64
}

func parts(rows []int64, bits int) []part {
	var list []part
	for _, row := range rows {
		key, low := row>>bits, row&(1<<bits-1)
		if n := len(list); n == 0 || list[n-1].key != key {
			list = append(list, part{key: key})
		}
		last := &list[len(list)-1]
		last.low = append(last.low, low)
	}
	return list
}

// bitmap32 writes a 32-bit bitmap of the Roaring format: a header, the containers' keys and sizes, their offsets (which
// bitmaps with few run containers leave out), and the containers.
func (b Bitmap) bitmap32(rows []int64) []byte {
	containers := parts(rows, 16)
	var out []byte
	if b.Runs && len(containers) > 0 {
		out = binary.LittleEndian.AppendUint32(nil, uint32(12347|(len(containers)-1)<<16))
		flags := make([]byte, (len(containers)+7)/8)
		for i := range containers {
			flags[i/8] |= 1 << (i % 8)
		}
		out = append(out, flags...)
	} else {
		out = binary.LittleEndian.AppendUint32(nil, 12346)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(containers)))
	}
	var bodies [][]byte
	for _, c := range containers {
		out = binary.LittleEndian.AppendUint16(out, uint16(c.key))
		out = binary.LittleEndian.AppendUint16(out, uint16(len(c.low)-1))
		bodies = append(bodies, b.container(c.low))
	}
	if !b.Runs || len(containers) >= 4 {
		at := len(out) + 4*len(containers)
		for _, body := range bodies {
			out = binary.LittleEndian.AppendUint32(out, uint32(at))
			at += len(body)
		}
	}
	return append(out, slices.Concat(bodies...)...)
}

func (b Bitmap) container(low []int64) []byte {
	switch {
	case b.Runs:
		return runContainer(low)
	case len(low) > 4096:
		bits := make([]byte, 8192)
		for _, x := range low {
			bits[x/8] |= 1 << (x % 8)
		}
		return bits
	}
	var out []byte
	for _, x := range low {
		out = binary.LittleEndian.AppendUint16(out, uint16(x))
	}
	return out
}

// runContainer is the number of runs, then the start of each and how many values follow it.
func runContainer(low []int64) []byte {
	var runs []run
	for _, x := range low {
		if n := len(runs); n > 0 && runs[n-1].to == x {
			runs[n-1].to++
			continue
		}
		runs = append(runs, run{x, x + 1})
	}
	out := binary.LittleEndian.AppendUint16(nil, uint16(len(runs)))
	for _, r := range runs {
		out = binary.LittleEndian.AppendUint16(out, uint16(r.from))
		out = binary.LittleEndian.AppendUint16(out, uint16(r.to-r.from-1))
	}
	return out
}
