package parquetio

import (
	"errors"
	"fmt"
)

const maxPageHeader = 16 << 20

// Numbers of parquet.thrift.
const (
	pageTypeData       = 0
	pageTypeDictionary = 2
	pageTypeDataV2     = 3

	anyEncoding    = -1
	deltaByteArray = 7
)

// pageHeader is what matters here of a PageHeader of parquet.thrift.
type pageHeader struct {
	kind     int64
	size     int64 // of the body as stored
	unpacked int64 // of the body
	checksum *uint32

	has    int64 // field number of the header for its kind, 0 for none
	values int64 // of a page of data, or of a dictionary

	encoding, defEncoding, repEncoding int64 // of the values, and of the levels in version 1

	// Of version 2.
	nulls, rows          int64
	defLength, repLength int64
	isPlain              bool // not compressed
}

// The fields of a PageHeader that say more of its kind.
const (
	fieldData       = 5
	fieldDictionary = 7
	fieldDataV2     = 8
)

func (h pageHeader) isData() bool       { return h.kind == pageTypeData || h.kind == pageTypeDataV2 }
func (h pageHeader) isDictionary() bool { return h.kind == pageTypeDictionary }

// check refuses what cannot be true of any page. room is the number of bytes that its column chunk has for the body.
func (h pageHeader) check(room int64) error {
	want := map[int64]int64{pageTypeData: fieldData, pageTypeDataV2: fieldDataV2, pageTypeDictionary: fieldDictionary}
	switch {
	case h.size < 0 || h.size > room:
		return fmt.Errorf("the header claims %d bytes, the column chunk has %d more", h.size, room)
	case h.unpacked < 0:
		return fmt.Errorf("the header claims %d bytes unpacked", h.unpacked)
	case want[h.kind] != 0 && want[h.kind] != h.has:
		return errors.New("the header does not say what is in the page")
	case h.values < 0 || h.values > maxInt32 || h.rows < 0 || h.nulls < 0:
		return fmt.Errorf("the header claims %d values, %d nulls, %d rows", h.values, h.nulls, h.rows)
	case h.defLength < 0 || h.repLength < 0 || h.kind == pageTypeDataV2 && h.defLength+h.repLength > min(h.size, h.unpacked):
		return errLevels
	}
	return nil
}

const maxInt32 = 1<<31 - 1

// pageHeader reads one; errThriftEnd when it goes on behind the bytes.
func (w *walker) pageHeader() (pageHeader, error) {
	h := pageHeader{kind: -1, size: -1, unpacked: -1}
	err := w.fields(0, func(id int64, wire byte) (bool, error) {
		switch {
		case wire == wireI32 && id <= 4:
			v, err := w.zigzag()
			h.set(id, v)
			return true, err
		case wire == wireStruct && id == fieldData:
			h.has = id
			return true, w.numbers(1, map[int64]*int64{1: &h.values, 2: &h.encoding, 3: &h.defEncoding, 4: &h.repEncoding}, nil)
		case wire == wireStruct && id == fieldDictionary:
			h.has = id
			return true, w.numbers(1, map[int64]*int64{1: &h.values, 2: &h.encoding}, nil)
		case wire == wireStruct && id == fieldDataV2:
			h.has = id
			return true, w.numbers(1, map[int64]*int64{
				1: &h.values, 2: &h.nulls, 3: &h.rows, 4: &h.encoding, 5: &h.defLength, 6: &h.repLength,
			}, func(id int64, wire byte) { h.isPlain = h.isPlain || id == 7 && wire == wireFalse })
		}
		return false, nil
	})
	return h, err
}

func (h *pageHeader) set(id, v int64) {
	switch id {
	case 1:
		h.kind = v
	case 2:
		h.unpacked = v
	case 3:
		h.size = v
	case 4:
		sum := uint32(v)
		h.checksum = &sum
	}
}

// fields goes over the fields of a structure. take reads the value of a field, or returns false for one that is passed over.
func (w *walker) fields(depth int, take func(id int64, wire byte) (bool, error)) error {
	var id int64
	for {
		var wire byte
		var err error
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return err
		}
		taken, err := take(id, wire)
		if err == nil && !taken {
			err = w.value(wire, thriftField{}, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// numbers reads the i32 and i64 fields of a structure that are asked for. other sees the rest.
func (w *walker) numbers(depth int, into map[int64]*int64, other func(id int64, wire byte)) error {
	return w.fields(depth, func(id int64, wire byte) (bool, error) {
		to := into[id]
		if to == nil || wire != wireI32 && wire != wireI64 {
			if other != nil {
				other(id, wire)
			}
			return false, nil
		}
		v, err := w.zigzag()
		*to = v
		return true, err
	})
}
