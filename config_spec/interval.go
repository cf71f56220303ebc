package configspec

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Interval says when something is due again: when a duration has gone by, or at the next time of a cron expression. The
// zero value is off.
type Interval struct {
	text  string
	every time.Duration // longer than zero, or times is set
	times cron.Schedule
}

// ParseInterval reads an interval as Benthos' generate input does: a duration, or a cron expression of five fields, of six
// with seconds first, or a descriptor such as @hourly or @every 5m. A cron expression is in UTC unless it begins with
// TZ=<zone>. Empty text is off. An expression without a point in time is refused.
func ParseInterval(text string) (Interval, error) {
	if text == "" {
		return Interval{}, nil
	}
	every, err := time.ParseDuration(text)
	if err == nil {
		return periodic(text, every)
	}
	i, err := parseCron(text)
	if err != nil && strings.ContainsAny(text, " @=") { // meant as a cron expression
		return Interval{}, fmt.Errorf("must be a duration or a cron expression: %q is neither: %w", text, err)
	}
	if err != nil {
		return Interval{}, fmt.Errorf(`must be a duration such as 30s, or a cron expression such as "0 */5 * * * *", got %q`, text)
	}
	return i, nil
}

func periodic(text string, every time.Duration) (Interval, error) {
	if every <= 0 {
		return Interval{}, fmt.Errorf("must be longer than 0s, got %q", text)
	}
	return Interval{text: text, every: every}, nil
}

var cronParser = cron.NewParser(
	cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor,
)

func parseCron(text string) (Interval, error) {
	zoned := text
	switch {
	case !strings.HasPrefix(text, "TZ="):
		zoned = "TZ=UTC " + text
	case !strings.Contains(text, " "): // the parser panics
		return Interval{}, errors.New("no expression follows the time zone")
	}
	times, err := cronParser.Parse(zoned)
	if err != nil {
		return Interval{}, err
	}
	spec, ok := times.(*cron.SpecSchedule)
	if !ok { // a duration, which the parser rounds to whole seconds, also a negative one
		_, period, _ := strings.Cut(text, "@every ")
		every, err := time.ParseDuration(strings.TrimSpace(period))
		if err != nil {
			return Interval{}, err
		}
		return periodic(text, every)
	}
	return Interval{text: text, times: spec}, comes(spec)
}

// comes refuses expressions that never match. Empty fields go first: looking for the next match of one takes seconds.
func comes(spec *cron.SpecSchedule) error {
	const star = 1 << 63 // the parser's mark of a field that is not restricted
	for _, bits := range []uint64{spec.Second, spec.Minute, spec.Hour, spec.Dom, spec.Month, spec.Dow} {
		if bits&^star == 0 {
			return errors.New("a field has no value")
		}
	}
	if spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return errors.New("there is no such day")
	}
	return nil
}

// Off says that nothing is ever due.
func (i Interval) Off() bool { return i.every == 0 && i.times == nil }

// Next returns when the next turn is due after one that began at begin; the zero time: never. The part early, in [0, 1), of
// a tenth of a duration is taken off, so that those who were started together spread out and nobody waits longer than was
// asked for. The times of a cron expression are exact.
func (i Interval) Next(begin time.Time, early float64) time.Time {
	switch {
	case i.times != nil:
		return i.times.Next(begin)
	case i.every > 0:
		return begin.Add(i.every - time.Duration(early*float64(i.every)/10))
	}
	return time.Time{}
}

// String is the text that was parsed.
func (i Interval) String() string { return i.text }
