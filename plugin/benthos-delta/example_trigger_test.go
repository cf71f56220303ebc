package main

import (
	"context"
	"crypto/md5" //nolint:gosec // part of the queue's protocol
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
)

func TestCronExampleLooksWhenTheExpressionSays(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	e := newExample(t, "follow_cron", g.dir, "SCHEDULE=TZ=Europe/Amsterdam * * * * * *")
	p := e.start()
	p.rows(g.rows)
	p.caughtUp(1)
	g.commit(3)
	p.rows(g.rows)
	p.stop()
	g.commit(2, 2)
	again := e.start()
	again.rows(4)
	again.stop()
	wantRows(t, g.all(), append(p.out.lines(), again.out.lines()...))
}

func TestEventExampleAnswersWhenTheLogWasListed(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	address := freeAddress(t)
	e := newExample(t, "follow_event", g.dir, "INTERVAL=1h", "ADDRESS="+address)
	p := e.start()
	p.caughtUp(1)
	for range 3 {
		g.commit(3, 1)
		if status, _ := request(t, http.MethodPost, "http://"+address+"/look"); status != http.StatusOK {
			t.Fatalf("want status 200, got %d\n%s", status, p.log)
		}
		p.rows(g.rows)
	}
	p.stop()
	wantRows(t, g.all(), p.out.lines())
}

// freeAddress is an address on loopback that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func request(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// created is what S3 says of a new object; the key stands in it as in a form.
func created(key string) string {
	return fmt.Sprintf(`{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"eu-west-1",`+
		`"eventTime":"2026-11-30T12:00:00.000Z","eventName":"ObjectCreated:Put","userIdentity":{"principalId":"A"},`+
		`"requestParameters":{"sourceIPAddress":"192.0.2.1"},"responseElements":{"x-amz-request-id":"C3D1"},`+
		`"s3":{"s3SchemaVersion":"1.0","configurationId":"commits","bucket":{"name":"lake","ownerIdentity":{"principalId":"A"},`+
		`"arn":"arn:aws:s3:::lake"},"object":{"key":%q,"size":1024,"eTag":"d41d","sequencer":"0055"}}}]}`, key)
}

const commitKey = "ware%%20house/orders/_delta_log/%020d.json"

func TestS3EventExampleLooksAtCommitsOfItsTable(t *testing.T) {
	t.Parallel()
	g, q, address := newGrowing(t), newQueue(t), freeAddress(t)
	p := newExample(t, "follow_s3_event", g.dir, q.env("PREFIX=ware house/orders", "ADDRESS="+address)...).start()
	p.caughtUp(1)

	g.commit(3)
	for _, key := range []string{
		"ware+house/orders/part-00000.parquet", "ware+house/orders/_delta_log/00000000000000000002.checkpoint.parquet",
		"ware+house/items/_delta_log/00000000000000000002.json",
	} {
		q.send(created(key))
	}
	p.until("the other objects to be done with", q.empty)
	if n := looks(t, address); n != 0 {
		t.Errorf("want no look for other objects, got %d", n)
	}

	q.send(created(fmt.Sprintf(strings.Replace(commitKey, "%%20", "+", 1), 2)))
	p.rows(g.rows)
	p.until("the event to be done with", q.empty)
	g.commit(2, 2)
	q.send(created(fmt.Sprintf(commitKey, 3)))
	p.rows(g.rows)
	p.until("the event to be done with", q.empty)
	if n := looks(t, address); n != 2 {
		t.Errorf("want a look for each commit, got %d", n)
	}
	p.stop()
	wantRows(t, g.all(), p.out.lines())
}

// looks is the number of looks of the pipeline with this address until now.
func looks(t *testing.T, address string) (n int) {
	t.Helper()
	_, metrics := request(t, http.MethodGet, "http://"+address+"/metrics")
	for _, m := range regexp.MustCompile(`(?m)^delta_lake_refresh_total\{.*\} (\d+)$`).FindAllStringSubmatch(metrics, -1) {
		some, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		n += some
	}
	return n
}

// What is no event of an object, such as the message that S3 sends when notifications are turned on, causes a look.
func TestS3EventExampleLooksAtWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	g, q := newGrowing(t), newQueue(t)
	p := newExample(t, "follow_s3_event", g.dir, q.env()...).start()
	p.caughtUp(1)
	for _, body := range []string{`{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"lake"}`, "not JSON"} {
		g.commit(1)
		q.send(body)
		p.rows(g.rows)
	}
	p.until("the messages to be done with", q.empty)
	p.kill()
	wantRows(t, g.all(), p.out.lines())
}

// queue is the part of SQS that its input uses.
type queue struct {
	*httptest.Server
	mu    sync.Mutex
	sent  int
	there map[string]string // bodies of the messages that are not deleted, by id
	next  []string          // ids of those that nobody has received
	news  chan struct{}     // receives when there may be some
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	q := &queue{there: map[string]string{}, news: make(chan struct{}, 1)}
	q.Server = httptest.NewServer(http.HandlerFunc(q.serve))
	t.Cleanup(func() {
		q.CloseClientConnections()
		q.Close()
	})
	return q
}

// env adds to an environment what leads to the queue.
func (q *queue) env(assignments ...string) []string {
	return append(assignments, "INTERVAL=1h", "QUEUE="+q.URL+"/123456789012/orders", "ENDPOINT="+q.URL,
		"AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b", "AWS_EC2_METADATA_DISABLED=true")
}

func (q *queue) send(body string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := fmt.Sprintf("m%d", q.sent)
	q.sent++
	q.there[id] = body
	q.next = append(q.next, id)
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// empty says whether every message was deleted.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.there) == 0
}

func (q *queue) serve(w http.ResponseWriter, r *http.Request) {
	var request struct {
		WaitTimeSeconds int
		Entries         []struct {
			ID            string `json:"Id"`
			ReceiptHandle string
		}
	}
	if err := json.UnmarshalRead(r.Body, &request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var response map[string]any
	switch _, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), "."); operation {
	case "ReceiveMessage":
		response = map[string]any{"Messages": q.receive(r.Context(), time.Duration(request.WaitTimeSeconds)*time.Second)}
	case "DeleteMessageBatch":
		q.mu.Lock()
		defer q.mu.Unlock()
		var ids []map[string]string
		for _, e := range request.Entries {
			delete(q.there, e.ReceiptHandle)
			ids = append(ids, map[string]string{"Id": e.ID})
		}
		response = map[string]any{"Successful": ids, "Failed": []any{}}
	default: // nothing becomes visible again here
		response = map[string]any{"Successful": []any{}, "Failed": []any{}}
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.MarshalWrite(w, response)
}

// receive hands out all messages there are, and waits for one for a while.
func (q *queue) receive(ctx context.Context, wait time.Duration) []map[string]string {
	select {
	case <-q.news:
	case <-ctx.Done():
	case <-time.After(wait):
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	messages := []map[string]string{}
	for _, id := range q.next {
		sum := md5.Sum([]byte(q.there[id])) //nolint:gosec // part of the queue's protocol
		messages = append(messages, map[string]string{
			"MessageId": id, "ReceiptHandle": id, "Body": q.there[id], "MD5OfBody": hex.EncodeToString(sum[:]),
		})
	}
	q.next = nil
	return messages
}
