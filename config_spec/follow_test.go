package configspec

import "testing"

func TestFieldsOfFollowModesAreRefusedInSnapshotMode(t *testing.T) {
	const refused = "delta_lake.trigger: is for modes that follow the table: leave it out in mode snapshot"
	for name, c := range map[string]struct {
		trigger any
		want    string
	}{
		"nothing":            {nil, ""},
		"the defaults":       {map[string]any{"interval": "30s"}, ""},
		"an empty object":    {map[string]any{}, ""},
		"another interval":   {map[string]any{"interval": "1m"}, refused},
		"no interval":        {map[string]any{"interval": ""}, refused},
		"an input":           {map[string]any{"interval": "30s", "input": map[string]any{"stdin": map[string]any{}}}, refused},
		"an input of a kind": {map[string]any{"input": &struct{}{}}, refused},
		"what is no interval": {map[string]any{"interval": "x"}, "delta_lake.trigger.interval: " +
			"must be a duration such as 30s, or a cron expression such as \"0 */5 * * * *\", got \"x\"\n" + refused},
	} {
		got := ""
		if _, err := Decode(map[string]any{"uri": "t", "trigger": c.trigger}); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: want %q, got %q", name, c.want, got)
		}
	}
}

func TestTriggerIsDecoded(t *testing.T) {
	got, problems := decode(map[string]any{"uri": "t", "trigger": map[string]any{
		"interval": "TZ=Europe/London 30 3 * * *", "input": map[string]any{"stdin": map[string]any{}},
	}})
	if len(problems) > 0 || got.Trigger.Interval.String() != "TZ=Europe/London 30 3 * * *" || !got.Trigger.Input {
		t.Errorf("want an interval and an input, got %+v, %v", got.Trigger, problems)
	}
}
