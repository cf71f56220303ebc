package parquetio

// chunkBytes reads the bytes of a column chunk forward, some ahead of what is asked for.
type chunkBytes struct {
	source *source
	end    int64 // nothing is read behind this offset
	ahead  int64 // bytes to read at a time

	start int64 // offset of the first byte in buf
	buf   pageBuffer
}

// exactly returns n bytes from off on. They are good until the next call.
func (b *chunkBytes) exactly(off, n int64) ([]byte, error) {
	got, err := b.some(off, n)
	if err == nil && int64(len(got)) < n {
		return nil, tooShort(off+int64(len(got)), off+n)
	}
	return got, err
}

// some returns n bytes from off on, fewer at the end.
func (b *chunkBytes) some(off, n int64) ([]byte, error) {
	n = max(0, min(n, b.end-off))
	have := b.buf.b
	if off >= b.start && off+n <= b.start+int64(len(have)) {
		return have[off-b.start : off-b.start+n], nil
	}
	kept := 0
	size := min(max(n, b.ahead), b.end-off)
	if off >= b.start && off < b.start+int64(len(have)) {
		kept = copy(have, have[off-b.start:])
	}
	to := b.buf.resize(int(size), kept)
	b.start = off
	if err := b.source.ReadAt(to[kept:], off+int64(kept)); err != nil {
		b.buf.b = to[:0]
		return nil, err
	}
	return to[:n], nil
}
