package input

import (
	"sync"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
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
	planning           *service.MetricGauge

	behind, lagSeconds *service.MetricGauge // in versions, and the age of the oldest commit that is not handed out
	lagFiles, lagBytes *service.MetricGauge // left of the version that is read
	partitions         *service.MetricGauge // that the work is divided into at most
	lostFirst          *service.MetricGauge // range of the versions that could not be handed out last
	lostLast           *service.MetricGauge
	stuck              *service.MetricGauge // 1 while an input without an end rests after an error
	skipped, refreshes *service.MetricCounter
	rowGroups          *service.MetricCounter // left out
	refreshing         *service.MetricGauge   // seconds of the last look

	mu      sync.Mutex
	used    storage.Usage          // as told so far
	leftOut scanplan.SkippedCounts // as told so far
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
		planning:   m.NewGauge("delta_lake_planning_seconds", "table"),
		behind:     m.NewGauge("delta_lake_version_lag", "table"),
		lagSeconds: m.NewGauge("delta_lake_lag_seconds", "table"),
		lagFiles:   m.NewGauge("delta_lake_lag_files", "table"),
		lagBytes:   m.NewGauge("delta_lake_lag_bytes", "table"),
		lostFirst:  m.NewGauge("delta_lake_lost_first_version", "table"),
		lostLast:   m.NewGauge("delta_lake_lost_last_version", "table"),
		partitions: m.NewGauge("delta_lake_partitions", "table"),
		stuck:      m.NewGauge("delta_lake_stuck", "table"),
		skipped:    m.NewCounter("delta_lake_files_skipped_total", "table", "reason"),
		rowGroups:  m.NewCounter("delta_lake_row_groups_skipped_total", "table", "reason"),
		refreshes:  m.NewCounter("delta_lake_refresh_total", "table", "result"),
		refreshing: m.NewGauge("delta_lake_refresh_seconds", "table"),
	}
}

// told notes events that are no rows.
func (m *metrics) told(event feed.Event) {
	switch e := event.(type) {
	case feed.Planned:
		m.planning.SetFloat64(e.Took.Seconds(), m.table) // a timer of the engine would be in nanoseconds
	case feed.Skipped:
		m.skipped.Incr(max(e.Files, 1), m.table, string(e.Reason))
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

// divided notes the partition target.
func (m *metrics) divided(target int) { m.partitions.Set(int64(target), m.table) }

// looked notes a look for a new version.
func (m *metrics) looked(result string, took time.Duration) {
	m.refreshes.Incr(1, m.table, result)
	m.refreshing.SetFloat64(took.Seconds(), m.table)
}

// lag notes how far the engine is behind.
func (m *metrics) lag(l feed.Lag) {
	m.latest.Set(l.Latest, m.table)
	m.behind.Set(l.Versions(), m.table)
	m.lagSeconds.SetFloat64(l.Age(time.Now()).Seconds(), m.table)
	m.lagFiles.Set(l.Files, m.table)
	m.lagBytes.Set(l.Bytes, m.table)
}

// retried notes a failure that is waited out.
func (m *metrics) retried() { m.retries.Incr(1, m.table) }

// handedOver notes a delivery. Rows and versions count once, however often they are delivered.
func (m *metrics) handedOver(d *delivery, inFlight int64) {
	if d.Attempt <= 1 {
		rows, _ := d.Payload.Tail(0)
		m.rows.Incr(rows, m.table)
		m.files.Incr(d.Payload.files, m.table)
		if d.Payload.position.Done {
			m.version.Set(d.Payload.position.Version, m.table)
		}
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

// pruned notes what the condition left out since the last time.
func (m *metrics) pruned(now scanplan.SkippedCounts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for reason, n := range now.By {
		before := m.leftOut.By[reason]
		if files := n.Files - before.Files; files > 0 {
			m.skipped.Incr(files, m.table, reason.String())
		}
		if groups := n.RowGroups - before.RowGroups; groups > 0 {
			m.rowGroups.Incr(groups, m.table, reason.String())
		}
	}
	m.leftOut = now
}

// answered notes what an answer to a delivery did.
func (m *metrics) answered(o ack.Outcome, inFlight int64) {
	if o.Rejected > 0 {
		m.nacked.Incr(o.Rejected, m.table)
	}
	m.inFlight.Set(inFlight, m.table)
}
