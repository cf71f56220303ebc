package input

import (
	"sync"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// metrics are the engine's metrics of one input. All carry the label table.
type metrics struct {
	table  string
	budget *exec.Budget

	version, latest    *service.MetricGauge
	checkpoint         *service.MetricGauge
	inFlight, buffered *service.MetricGauge
	rows, files        *service.MetricCounter
	nacked, retries    *service.MetricCounter
	read, requests     *service.MetricCounter
	planning           *service.MetricTimer

	mu   sync.Mutex
	used storage.Usage // as told so far
}

func newMetrics(m *service.Metrics, table string, budget *exec.Budget) *metrics {
	return &metrics{
		table: table, budget: budget,
		version:    m.NewGauge("delta_lake_version", "table"),
		latest:     m.NewGauge("delta_lake_latest_version", "table"),
		checkpoint: m.NewGauge("delta_lake_checkpoint_version", "table"),
		inFlight:   m.NewGauge("delta_lake_in_flight_rows", "table"),
		buffered:   m.NewGauge("delta_lake_buffered_bytes", "table"),
		rows:       m.NewCounter("delta_lake_rows_total", "table"),
		files:      m.NewCounter("delta_lake_files_total", "table"),
		nacked:     m.NewCounter("delta_lake_nacked_total", "table"),
		retries:    m.NewCounter("delta_lake_retries_total", "table"),
		read:       m.NewCounter("delta_lake_bytes_read_total", "table"),
		requests:   m.NewCounter("delta_lake_requests_total", "table", "operation"),
		planning:   m.NewTimer("delta_lake_planning_seconds", "table"),
	}
}

// told notes events that are no rows.
func (m *metrics) told(event feed.Event) {
	switch e := event.(type) {
	case feed.Planned:
		m.planning.Timing(e.Took.Nanoseconds(), m.table)
	case feed.CaughtUp:
		if e.Latest >= 0 {
			m.latest.Set(e.Latest, m.table)
		}
	}
}

// opened notes that a source was opened, whose usage counts from zero.
func (m *metrics) opened() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used = storage.Usage{}
}

// retried notes a failure that is waited out.
func (m *metrics) retried() { m.retries.Incr(1, m.table) }

// handedOver notes a delivery. Rows count once, however often they are delivered.
func (m *metrics) handedOver(d *delivery, inFlight int64) {
	if d.Attempt <= 1 {
		rows, _ := d.Payload.Tail(0)
		m.rows.Incr(rows, m.table)
		m.files.Incr(d.Payload.files, m.table)
	}
	if d.Payload.position.Done {
		m.version.Set(d.Payload.position.Version, m.table)
	}
	m.buffered.Set(m.budget.InUse(), m.table)
	m.inFlight.Set(inFlight, m.table)
}

// usage notes what the store was asked for since the last time.
func (m *metrics) usage(source feed.Source) {
	metered, ok := source.(feed.Metered)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := metered.Usage()
	m.read.Incr(now.Total().Bytes-m.used.Total().Bytes, m.table)
	before := m.used.ByOperation()
	for operation, count := range now.ByOperation() {
		m.requests.Incr(count.Requests-before[operation].Requests, m.table, string(operation))
	}
	m.used = now
}

// answered notes what an answer to a delivery did.
func (m *metrics) answered(o ack.Outcome, inFlight int64) {
	if o.Rejected > 0 {
		m.nacked.Incr(o.Rejected, m.table)
	}
	m.inFlight.Set(inFlight, m.table)
}
