package datafile_test

import (
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

const (
	day         = int64(86_400_000_000)
	julianDay   = -141428 // 1582-10-04, the last day of the Julian calendar
	sparkPrefix = "org.apache.spark."
)

// writtenBy is the key-value metadata of a Spark.
func writtenBy(version string, more ...string) map[string]string {
	m := map[string]string{sparkPrefix + "sql.parquet.row.metadata": "{}"}
	if version != "" {
		m[sparkPrefix+"version"] = version
	}
	for i := 0; i < len(more); i += 2 {
		m[sparkPrefix+more[i]] = more[i+1]
	}
	return m
}

// oldFile holds 1582-10-04 and 1582-10-15 in every form, each as the number of its day in the hybrid calendar.
func oldFile(keyValue map[string]string) []byte {
	micros := []int64{julianDay*day + 5, (julianDay + 1) * day}
	return deltatest.Parquet{KeyValue: keyValue}.RawFile(`message m {
		required int32 d (DATE);
		required int64 ts (TIMESTAMP(MICROS,true));
		required int64 ms (TIMESTAMP_MILLIS);
		required int64 ns (TIMESTAMP(NANOS,true));
		required int64 bare;
		required int96 i96;
		required int64 ntz (TIMESTAMP(MICROS,false));
		optional group l (LIST) { repeated group list { optional int32 element (DATE); } }
	}`, deltatest.RawGroup{
		{Values: []int32{julianDay, julianDay + 1}},
		{Values: micros},
		{Values: []int64{julianDay * day / 1000, (julianDay + 1) * day / 1000}},
		{Values: []int64{-106751 * day * 1000, 0}},
		{Values: micros},
		{Values: [][12]byte{deltatest.INT96(5000, julianDay+2440588), deltatest.INT96(0, julianDay+1+2440588)}},
		{Values: micros},
		{Values: []int32{julianDay, julianDay + 1}, Def: []int16{3, 2, 3}, Rep: []int16{0, 1, 0}},
	})
}

var oldColumns = deltatest.Columns("d date", "ts timestamp", "ms timestamp", "ns timestamp", "bare timestamp", "i96 timestamp",
	"ntz timestamp_ntz", "l array<date>")

// In today's calendar the day before 1582-10-15 is the 14th.
const (
	today = `"d":"1582-10-14","i96":"1582-10-14T00:00:00.000005Z","l":["1582-10-14",null],"ms":"1582-10-14T00:00:00Z",` +
		`"ns":"1677-09-22T00:00:00Z","ntz":"1582-10-14T00:00:00.000005","ts":"1582-10-14T00:00:00.000005Z"`
	second = `{"bare":"1582-10-15T00:00:00Z","d":"1582-10-15","i96":"1582-10-15T00:00:00Z","l":["1582-10-15"],"ms":"1582-10-15T00:00:00Z",` +
		`"ns":"1970-01-01T00:00:00Z","ntz":"1582-10-15T00:00:00","ts":"1582-10-15T00:00:00Z"}`
)

// Q6: Spark before 3.0 (of INT96 before 3.1) wrote in the calendar of old Java, and later ones may say that they did.
func TestOldCalendarOfSparkIsRebased(t *testing.T) {
	const none = `{"bare":"1582-10-14T00:00:00.000005Z",` + today + `}`
	rebased := strings.ReplaceAll(none, "1582-10-14T", "1582-10-04T")
	rebased = strings.ReplaceAll(rebased, `"1582-10-14"`, `"1582-10-04"`)
	rebased = strings.ReplaceAll(rebased, `"ntz":"1582-10-04T`, `"ntz":"1582-10-14T`) // never was in the old calendar
	only96 := strings.ReplaceAll(none, `"i96":"1582-10-14T`, `"i96":"1582-10-04T`)
	not96 := strings.ReplaceAll(rebased, `"i96":"1582-10-04T`, `"i96":"1582-10-14T`)
	for name, test := range map[string]struct {
		keyValue map[string]string
		want     string
	}{
		"no Spark":            {nil, none},
		"another writer":      {map[string]string{"pandas": "{}"}, none},
		"Spark 4":             {writtenBy("4.0.0"), none},
		"Spark 3.1":           {writtenBy("3.1.0"), none},
		"Spark 3.0":           {writtenBy("3.0.1"), only96},
		"Spark 2.4.8":         {writtenBy("2.4.8"), rebased},
		"Spark without name":  {writtenBy(""), rebased},
		"both flags":          {writtenBy("3.2.1", "legacyDateTime", "", "legacyINT96", ""), rebased},
		"flag of dates":       {writtenBy("3.2.1", "legacyDateTime", ""), not96},
		"flag of INT96":       {writtenBy("3.2.1", "legacyINT96", "", "timeZone", "Etc/UTC"), only96},
		"flags and UTC":       {writtenBy("3.4.0", "legacyDateTime", "", "legacyINT96", "", "timeZone", "UTC"), rebased},
		"zone without a flag": {writtenBy("3.4.0", "timeZone", "America/Los_Angeles"), none},
	} {
		t.Run(name, func(t *testing.T) {
			reading{content: oldFile(test.keyValue), columns: oldColumns}.want(t, test.want, second)
		})
	}
}

// The local date decides which calendar a timestamp is in.
func TestOldTimestampsAreRebasedInTheirZone(t *testing.T) {
	hour := int64(3_600_000_000)
	content := func(zone string) []byte {
		return deltatest.Parquet{KeyValue: writtenBy("3.2.1", "legacyDateTime", "", "timeZone", zone)}.RawFile(
			`message m { required int64 c (TIMESTAMP(MICROS,true)); }`,
			deltatest.RawGroup{{Values: []int64{(julianDay+1)*day - hour, (julianDay + 1) * day, (julianDay+1)*day + 9*hour}}})
	}
	columns := deltatest.Columns("c timestamp")
	reading{content: content("+02:00"), columns: columns}.
		want(t, `{"c":"1582-10-14T23:00:00Z"}`, `{"c":"1582-10-15T00:00:00Z"}`, `{"c":"1582-10-15T09:00:00Z"}`)
	reading{content: content("-08:00"), columns: columns}.
		want(t, `{"c":"1582-10-04T23:00:00Z"}`, `{"c":"1582-10-05T00:00:00Z"}`, `{"c":"1582-10-15T09:00:00Z"}`)
}

// Before 1900 a named zone had a local mean time, which old Java took for another one: nobody can say which instant is meant.
func TestOldTimestampsOfNamedZonesAreRefused(t *testing.T) {
	keyValue := writtenBy("3.4.0", "legacyDateTime", "", "legacyINT96", "", "timeZone", "America/Los_Angeles")
	for leaf, values := range map[string]any{
		"int64 c (TIMESTAMP(MICROS,true))": []int64{0, -25568 * day},
		"int96 c":                          [][12]byte{deltatest.INT96(0, 2440588), deltatest.INT96(0, 2440588-25568)},
	} {
		content := deltatest.Parquet{KeyValue: keyValue}.RawFile("message m { required "+leaf+"; }", deltatest.RawGroup{{Values: values}})
		reading{content: content, columns: deltatest.Columns("c timestamp")}.wantUnsupported(t,
			`column c: a timestamp of the year 1899 in the calendar of old Spark versions and the time zone "America/Los_Angeles" cannot be converted exactly`)
	}
	content := deltatest.Parquet{KeyValue: keyValue}.RawFile(`message m { optional int64 c (TIMESTAMP(MICROS,true)); optional int32 d (DATE); }`,
		deltatest.RawGroup{{Values: []int64{-25560 * day}, Def: []int16{1, 0}}, {Values: []int32{julianDay}, Def: []int16{1, 0}}})
	reading{content: content, columns: deltatest.Columns("c timestamp", "d date")}.
		want(t, `{"c":"1900-01-08T00:00:00Z","d":"1582-10-04"}`, `{"c":null,"d":null}`)
}

func TestDatesOfTheJulianCalendarOnlyAreRefused(t *testing.T) {
	leapDay := int32(-171596) // Julian 1500-02-29
	for typ, leaf := range map[string]string{
		"date": "int32 c (DATE)", "timestamp_ntz": "int32 c (DATE)", "timestamp": "int64 c (TIMESTAMP(MICROS,true))",
	} {
		var values any = []int32{leapDay}
		if typ == "timestamp" {
			values = []int64{int64(leapDay) * day}
		}
		content := deltatest.Parquet{KeyValue: writtenBy("2.4.5")}.RawFile("message m { required "+leaf+"; }", deltatest.RawGroup{{Values: values}})
		reading{content: content, columns: deltatest.Columns("c " + typ)}.
			wantUnsupported(t, "column c: the file has the date 1500-02-29 in the Julian calendar of old Spark versions")
	}
}

func TestOldDatesThatBecameTimestampsAreRebasedFirst(t *testing.T) {
	content := deltatest.Parquet{KeyValue: writtenBy("2.4.5")}.RawFile(`message m { required int32 c (DATE); }`,
		deltatest.RawGroup{{Values: []int32{-719164, 0}}})
	reading{content: content, columns: deltatest.Columns("c timestamp_ntz")}.
		want(t, `{"c":"0001-01-01T00:00:00"}`, `{"c":"1970-01-01T00:00:00"}`)
}

func (r reading) wantUnsupported(t *testing.T, text string) {
	t.Helper()
	rows, err := r.rows(t)
	if deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), path) {
		t.Errorf("want an unsupported error with %q and the file, got %v and rows %v", text, err, rows)
	}
}
