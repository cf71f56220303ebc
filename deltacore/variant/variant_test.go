package variant

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

var noNames = dictionaryOf(1)

func wantText(t *testing.T, metadata, value []byte, want string) {
	t.Helper()
	got, err := appendJSON([]byte("before"), metadata, value)
	if err != nil || string(got) != "before"+want {
		t.Errorf("% x: want %s, got %q, %v", value, want, got, err)
	}
}

func wantRefused(t *testing.T, kind deltaerr.Kind, text string, got []byte, err error) {
	t.Helper()
	if err == nil || deltaerr.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("want a %s error with %q, got %q, %v", kind, text, got, err)
	}
}

func double(v float64) []byte { return number(typeDouble, int64(math.Float64bits(v)), 8) }
func float(v float32) []byte  { return number(typeFloat, int64(math.Float32bits(v)), 4) }

func decimal(id, scale byte, high int64, low uint64, size int) []byte {
	data := binary.LittleEndian.AppendUint64([]byte{scale}, low)
	return primitive(id, binary.LittleEndian.AppendUint64(data, uint64(high))[:1+size]...)
}

func TestPrimitiveValues(t *testing.T) {
	cases := []struct {
		value []byte
		want  string
	}{
		{primitive(typeNull), `null`},
		{primitive(typeTrue), `true`},
		{primitive(typeFalse), `false`},
		{int8Value(-128), `-128`},
		{number(typeInt16, math.MinInt16, 2), `-32768`},
		{number(typeInt32, math.MinInt32, 4), `-2147483648`},
		{number(typeInt64, math.MinInt64, 8), `-9223372036854775808`},
		{number(typeInt64, math.MaxInt64, 8), `9223372036854775807`},
		{double(1), `1`},
		{double(0.1), `0.1`},
		{double(1e100), `1e+100`},
		{double(1e-7), `1e-7`},
		{double(math.Copysign(0, -1)), `-0`},
		{double(math.NaN()), `"NaN"`},
		{double(math.Inf(1)), `"Infinity"`},
		{double(math.Inf(-1)), `"-Infinity"`},
		{float(0.1), `0.1`},
		{float(1e-7), `1e-7`},
		{float(3.4e38), `3.4e+38`},
		{float(float32(math.NaN())), `"NaN"`},
		{long(typeBinary, "\x01\x02"), `"AQI="`},
		{long(typeBinary, ""), `""`},
		{long(typeString, "a long text"), `"a long text"`},
		{long(typeString, ""), `""`},
		{short(""), `""`},
		{short("short"), `"short"`},
		{short(strings.Repeat("x", 63)), `"` + strings.Repeat("x", 63) + `"`},
		{primitive(typeUUID, []byte("\xf8\x1d\x4f\xae\x7d\xec\x11\xd0\xa7\x65\x00\xa0\xc9\x1e\x6b\xf6")...), `"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"`},
	}
	for _, c := range cases {
		wantText(t, noNames, c.value, c.want)
	}
}

func TestDecimalsAreExactAndLoseTheZerosOfTheirFraction(t *testing.T) {
	cases := []struct {
		value []byte
		want  string
	}{
		{decimal(typeDecimal4, 2, 0, 150, 4), `1.5`},
		{decimal(typeDecimal4, 0, 0, 100, 4), `100`},
		{decimal(typeDecimal4, 2, 0, 100, 4), `1`},
		{decimal(typeDecimal4, 9, -1, 1<<64-1, 4), `-0.000000001`},
		{decimal(typeDecimal4, 0, 0, 1<<31, 4), `-2147483648`},
		{decimal(typeDecimal4, 3, 0, 0, 4), `0`},
		{decimal(typeDecimal8, 18, 0, 123456789012345678, 8), `0.123456789012345678`},
		{decimal(typeDecimal8, 1, 0, 1<<63, 8), `-922337203685477580.8`},
		{decimal(typeDecimal16, 0, 0, 12345678901234567890, 16), `12345678901234567890`},
		{decimal(typeDecimal16, 38, 0x4b3b4ca85a86c47a, 0x098a223fffffffff, 16), `0.99999999999999999999999999999999999999`},
		{decimal(typeDecimal16, 0, -0x4b3b4ca85a86c47b, 1<<64-0x098a223fffffffff, 16), `-99999999999999999999999999999999999999`},
		{decimal(typeDecimal16, 10, math.MinInt64, 0, 16), `-17014118346046923173168730371.5884105728`},
		{decimal(typeDecimal16, 38, -1, 0, 16), `-0.00000000000000000018446744073709551616`},
	}
	for _, c := range cases {
		wantText(t, noNames, c.value, c.want)
	}
}

func TestTimes(t *testing.T) {
	const noon = 1709168523000004 // 2024-02-29T01:02:03.000004
	cases := []struct {
		value []byte
		want  string
	}{
		{number(typeDate, 19782, 4), `"2024-02-29"`},
		{number(typeDate, -1, 4), `"1969-12-31"`},
		{number(typeDate, -719529, 4), `"-0001-12-31"`},
		{number(typeDate, -719528, 4), `"0000-01-01"`},
		{number(typeDate, 2932897, 4), `"10000-01-01"`},
		{number(typeDate, math.MaxInt32, 4), `"5881580-07-11"`},
		{number(typeDate, math.MinInt32, 4), `"-5877641-06-23"`},
		{number(typeTimestamp, noon, 8), `"2024-02-29 01:02:03.000004+00:00"`},
		{number(typeTimestampNTZ, noon, 8), `"2024-02-29 01:02:03.000004"`},
		{number(typeTimestamp, -1, 8), `"1969-12-31 23:59:59.999999+00:00"`},
		{number(typeTimestamp, 253402300800000000, 8), `"10000-01-01 00:00:00+00:00"`},
		{number(typeTimestamp, math.MinInt64, 8), `"-290308-12-21 19:59:05.224192+00:00"`},
		{number(typeTimestamp, math.MaxInt64, 8), `"294247-01-10 04:00:54.775807+00:00"`},
		{number(typeTimestampNanos, noon*1000+5, 8), `"2024-02-29 01:02:03.000004005+00:00"`},
		{number(typeTimestampNTZNanos, -1, 8), `"1969-12-31 23:59:59.999999999"`},
		{number(typeTimestampNTZNanos, math.MinInt64, 8), `"1677-09-21 00:12:43.145224192"`},
		{number(typeTimeNTZ, 0, 8), `"00:00:00.000000"`},
		{number(typeTimeNTZ, schema.MicrosPerDay-1, 8), `"23:59:59.999999"`},
	}
	for _, c := range cases {
		wantText(t, noNames, c.value, c.want)
	}
}

func TestStringsAreEscapedAsInOtherColumns(t *testing.T) {
	text := "\"\\\b\f\n\r\t\x00\x1f<&>é\u2027\u2028\u2029\u202a\U0001f600\x7f"
	wantText(t, noNames, long(typeString, text), `"\"\\\b\f\n\r\t\u0000\u001f<&>é`+"\u2027"+`\u2028\u2029`+"\u202a\U0001f600\x7f"+`"`)
	wantText(t, dictionaryOf(1, "a\n\u2028"), small.object(idValue{0, short("\u2029")}), `{"a\n\u2028":"\u2029"}`)
}

func TestObjectsAndArraysOfEveryForm(t *testing.T) {
	for idSize := 1; idSize <= 4; idSize++ {
		for offsetSize := 1; offsetSize <= 4; offsetSize++ {
			for _, large := range []bool{false, true} {
				f := form{idSize, offsetSize, large}
				metadata := dictionaryOf(idSize, "b", "a", "unused", "")
				inner := f.array(primitive(typeNull), f.object(), f.array(), short("x"))
				value := f.object(idValue{3, int8Value(3)}, idValue{1, inner}, idValue{0, primitive(typeTrue)})
				wantText(t, metadata, value, `{"":3,"a":[null,{},[],"x"],"b":true}`)
			}
		}
	}
}

func TestObjectsOfManyMembers(t *testing.T) {
	f := form{idSize: 2, offsetSize: 2, large: true}
	var names, want []string
	var members []idValue
	for i := range 700 {
		name := string([]byte{byte('a' + i/100), byte('0' + i/10%10), byte('0' + i%10)})
		names, want = append(names, name), append(want, `"`+name+`":`+`true`)
		members = append(members, idValue{i, primitive(typeTrue)})
	}
	wantText(t, dictionaryOf(2, names...), f.object(members...), "{"+strings.Join(want, ",")+"}")
}

// The format wants members in the order of their names; one that has another order is put in that order.
func TestMembersLeaveInTheOrderOfTheirNames(t *testing.T) {
	metadata := dictionaryOf(1, "c", "b", "a", "é", "B")
	value := small.object(idValue{0, int8Value(3)}, idValue{3, int8Value(4)}, idValue{2, int8Value(1)}, idValue{4, int8Value(0)}, idValue{1, int8Value(2)})
	wantText(t, metadata, value, `{"B":0,"a":1,"b":2,"c":3,"é":4}`)
}

func TestValuesOfAnObjectMayLieInAnyOrderAndWithGaps(t *testing.T) {
	metadata := dictionaryOf(1, "a", "b")
	value := []byte{basicObject, 2, 0, 1, 4, 1, 7} // offsets 4 and 1, end at 7
	value = append(value, 0xff)                    // of nobody
	value = append(value, int8Value(2)...)
	value = append(value, 0xff)
	value = append(value, int8Value(1)...)
	value = append(value, 0xff)
	wantText(t, metadata, value, `{"a":1,"b":2}`)
}

func TestEmptyMetadata(t *testing.T) {
	wantText(t, []byte{1, 0}, int8Value(1), "1") // as in the specification's examples
	wantText(t, []byte{1, 0, 0}, int8Value(1), "1")
	wantText(t, []byte{0xd1, 0, 0, 0, 0, 0, 0, 0, 0}, int8Value(1), "1")
	_, err := appendJSON(nil, []byte{1, 0}, small.object(idValue{0, int8Value(1)}))
	wantRefused(t, deltaerr.Corrupt, "the metadata has 0 names", nil, err)
}

func TestMetadataThatBreaksTheFormatIsRefused(t *testing.T) {
	cases := []struct {
		name     string
		metadata []byte
		kind     deltaerr.Kind
		want     string
	}{
		{"nothing", nil, deltaerr.Corrupt, "the metadata has no bytes"},
		{"version 0", []byte{0, 0, 0}, deltaerr.Unsupported, "version 0"},
		{"version 2", []byte{2, 0, 0}, deltaerr.Unsupported, "version 2"},
		{"reserved bit", []byte{0x21, 0, 0}, deltaerr.Unsupported, "no meaning"},
		{"no size", []byte{1}, deltaerr.Corrupt, "ends within its size"},
		{"half a size", []byte{0xc1, 0, 0}, deltaerr.Corrupt, "ends within its size"},
		{"no offsets", []byte{1, 1}, deltaerr.Corrupt, "too short for 1 names"},
		{"too few offsets", []byte{1, 2, 0, 0}, deltaerr.Corrupt, "too short for 2 names"},
		{"huge size", []byte{0xc1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, deltaerr.Corrupt, "too short for 4294967295 names"},
		{"first offset", []byte{1, 1, 1, 2, 'a', 'b'}, deltaerr.Corrupt, "at 1 to 2"},
		{"last offset too low", []byte{1, 1, 0, 1, 'a', 'b'}, deltaerr.Corrupt, "there are 2 bytes"},
		{"last offset too high", []byte{1, 1, 0, 3, 'a', 'b'}, deltaerr.Corrupt, "there are 2 bytes"},
		{"falling offsets", []byte{1, 3, 0, 2, 1, 2, 'a', 'b'}, deltaerr.Corrupt, "name 1 of the metadata is at 2 to 1"},
		{"offset in the middle too high", []byte{1, 2, 0, 9, 2, 'a', 'b'}, deltaerr.Corrupt, "name 0 of the metadata is at 0 to 9"},
		{"no UTF-8", dictionaryOf(1, "a", "\xff"), deltaerr.Corrupt, "name 1 of the metadata is not valid UTF-8"},
		{"half a rune in each of two names", dictionaryOf(1, "\xc3", "\xa9"), deltaerr.Corrupt, "name 0 of the metadata is not valid UTF-8"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := appendJSON(nil, c.metadata, primitive(typeNull))
			wantRefused(t, c.kind, c.want, got, err)
		})
	}
}

func TestValuesThatBreakTheFormatAreRefused(t *testing.T) {
	two := idValue{0, int8Value(1)}
	cases := []struct {
		name  string
		value []byte
		kind  deltaerr.Kind
		want  string
	}{
		{"nothing", nil, deltaerr.Corrupt, "no bytes where a value should be"},
		{"unknown type", primitive(21), deltaerr.Unsupported, "the primitive type 21 is not known"},
		{"last type", primitive(63), deltaerr.Unsupported, "the primitive type 63 is not known"},
		{"bytes behind it", append(int8Value(1), 0), deltaerr.Corrupt, "a value of 3 bytes ends after 2"},
		{"short string", short("abc")[:3], deltaerr.Corrupt, "a string of 3 bytes ends after 2"},
		{"short string of no UTF-8", short("\xff"), deltaerr.Corrupt, "not valid UTF-8"},
		{"string without length", []byte{typeString << 2, 1, 0, 0}, deltaerr.Corrupt, "ends within its length"},
		{"string", long(typeString, "abc")[:7], deltaerr.Corrupt, "of 3 bytes ends after 2"},
		{"string of no UTF-8", long(typeString, "\xed\xa0\x80"), deltaerr.Corrupt, "not valid UTF-8"},
		{"huge binary", []byte{typeBinary << 2, 0xff, 0xff, 0xff, 0xff}, deltaerr.Corrupt, "of 4294967295 bytes ends after 0"},
		{"scale", decimal(typeDecimal4, 39, 0, 1, 4), deltaerr.Corrupt, "scale 39"},
		{"time before midnight", number(typeTimeNTZ, -1, 8), deltaerr.Corrupt, "no time of a day"},
		{"time after the day", number(typeTimeNTZ, schema.MicrosPerDay, 8), deltaerr.Corrupt, "no time of a day"},
		{"array header", []byte{basicArray | 8<<2, 0, 0}, deltaerr.Unsupported, "no meaning"},
		{"array without size", []byte{basicArray}, deltaerr.Corrupt, "ends within its size"},
		{"large array without size", []byte{basicArray | 4<<2, 0, 0, 0}, deltaerr.Corrupt, "ends within its size"},
		{"array without offsets", []byte{basicArray, 1, 0}, deltaerr.Corrupt, "too short for an object or array of 1"},
		{"huge array", []byte{basicArray | 7<<2, 0xff, 0xff, 0xff, 0xff, 0}, deltaerr.Corrupt, "array of 4294967295"},
		{"array with values outside", []byte{basicArray, 1, 0, 2, 0}, deltaerr.Corrupt, "have 2 bytes, but 1 are left"},
		{"array that begins later", []byte{basicArray, 1, 1, 2, 0, 0}, deltaerr.Corrupt, "is at 1, not at its begin"},
		{"array with falling offsets", []byte{basicArray, 3, 0, 2, 1, 3, 0, 0, 0}, deltaerr.Corrupt, "value 0 of an array has 1 bytes, but 2 are its own"},
		{"array with falling offsets behind a value", []byte{basicArray, 3, 0, 2, 1, 4, 12, 0, 0, 0}, deltaerr.Corrupt, "value 1 of an array is at 2 to 1 of 4 bytes"},
		{"array with an offset outside", []byte{basicArray, 2, 0, 9, 1, 0}, deltaerr.Corrupt, "at 0 to 9 of 1 bytes"},
		{"array with an empty value", []byte{basicArray, 2, 0, 0, 1, 0}, deltaerr.Corrupt, "no bytes where a value should be"},
		{"array with a gap", []byte{basicArray, 1, 0, 2, 0, 0}, deltaerr.Corrupt, "has 1 bytes, but 2 are its own"},
		{"object header", []byte{basicObject | 32<<2, 0, 0}, deltaerr.Unsupported, "no meaning"},
		{"object without offsets", []byte{basicObject, 1, 0, 0}, deltaerr.Corrupt, "too short for an object or array of 1"},
		{"huge object", []byte{basicObject | 31<<2, 0xff, 0xff, 0xff, 0xff, 0}, deltaerr.Corrupt, "array of 4294967295"},
		{"object with an unknown name", small.object(idValue{3, int8Value(1)}), deltaerr.Corrupt, "has the name 3, but the metadata has 3"},
		{"object with a value outside", []byte{basicObject, 1, 0, 1, 1, 0}, deltaerr.Corrupt, "at 1 of 1 bytes"},
		{"object with one value for two", []byte{basicObject, 2, 0, 1, 0, 0, 1, 0}, deltaerr.Corrupt, "overlap"},
		{"object with the same id twice", small.object(two, two), deltaerr.Corrupt, `the name "a" twice`},
		{"object with the same name twice", small.object(two, idValue{2, int8Value(1)}), deltaerr.Corrupt, `the name "a" twice`},
		{"unsorted object with the same name twice", small.object(two, idValue{1, int8Value(1)}, idValue{2, int8Value(1)}), deltaerr.Corrupt, `the name "a" twice`},
		{"inside", small.array(small.object(idValue{1, primitive(30)})), deltaerr.Unsupported, "the primitive type 30"},
	}
	for id, p := range primitives {
		if p.size > 0 {
			cut := primitive(byte(id), make([]byte, p.size-1)...)
			_, err := appendJSON(nil, noNames, cut)
			wantRefused(t, deltaerr.Corrupt, "bytes instead of", nil, err)
		}
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := appendJSON(nil, dictionaryOf(1, "a", "b", "a"), c.value)
			wantRefused(t, c.kind, c.want, got, err)
		})
	}
}

func TestNestingHasALimit(t *testing.T) {
	f := form{idSize: 1, offsetSize: 4}
	deep := func(levels int) []byte {
		value := primitive(typeNull)
		for i := range levels {
			if i%2 == 0 {
				value = f.array(value)
			} else {
				value = f.object(idValue{0, value})
			}
		}
		return value
	}
	metadata := dictionaryOf(1, "a")
	if text, err := appendJSON(nil, metadata, deep(maxDepth)); err != nil || bytes.Count(text, []byte("[")) != maxDepth/2 {
		t.Errorf("want %d levels to be read, got %v", maxDepth, err)
	}
	_, err := appendJSON(nil, metadata, deep(maxDepth+1))
	wantRefused(t, deltaerr.Unsupported, "deeper than 1000 levels", nil, err)
}

// A name is stored once and may be written for every object of an array.
func TestTextHasALimit(t *testing.T) {
	metadata := dictionaryOf(3, strings.Repeat("x", 1<<20))
	objects := make([][]byte, 200)
	for i := range objects {
		objects[i] = small.object(idValue{0, primitive(typeNull)})
	}
	_, err := appendJSON(nil, metadata, form{offsetSize: 4, large: true}.array(objects...))
	wantRefused(t, deltaerr.Unsupported, "longer than 128 MiB", nil, err)
}

// Many names may mean the same bytes only as long as they do not overlap: the work would double with every level.
func TestOverlappingValuesAreRefusedBeforeTheyMultiply(t *testing.T) {
	value := primitive(typeNull)
	for range 100 {
		head := append([]byte{basicObject | 3<<2, 2, 0, 1}, appendUnsigned(nil, 0, 4)...)
		head = append(head, appendUnsigned(nil, 0, 4)...)
		value = append(appendUnsigned(head, len(value), 4), value...)
	}
	_, err := appendJSON(nil, dictionaryOf(1, "a", "b"), value)
	wantRefused(t, deltaerr.Corrupt, "overlap", nil, err)
}

// appendJSON adds the text of one variant that is not shredded.
func appendJSON(dst, metadata, value []byte) ([]byte, error) {
	var w Writer
	if err := w.Begin(dst, metadata); err != nil {
		return dst, err
	}
	if err := w.Value(value); err != nil {
		return dst, err
	}
	return w.Text(), nil
}
