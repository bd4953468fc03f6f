// The two ends of what test/bench/front.py measures: pods that answer, and crowds of clients.
//
//	crowd pod PORT [after=3s] [delay=100ms] [log=FILE]
//	    Listens after a while; answers each request after a delay. Writes when it began to listen into
//	    the file, and says "most N begun N" on GET /most: requests at the same time, and in all.
//	crowd ask URL COUNT [limit=60s] [header=NAME:VALUE…]
//	    So many requests at once, each on a connection of its own; one line of JSON when all have ended.
//	crowd loop URL CLIENTS SECONDS [header=NAME:VALUE…]
//	    So many clients, each of which sends a request when its last is answered; the same.
//	crowd steady URL RATE SECONDS
//	    Requests that begin at that pace, whatever becomes of those before; the same.
//
// Times are seconds since 1970.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }

type options struct {
	after, delay, limit time.Duration
	log                 string
	header              http.Header
}

func optionsOf(words []string) options {
	found := options{limit: time.Minute, header: http.Header{}}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		duration, _ := time.ParseDuration(value)
		switch name {
		case "after":
			found.after = duration
		case "delay":
			found.delay = duration
		case "limit":
			found.limit = duration
		case "log":
			found.log = value
		case "header":
			key, text, _ := strings.Cut(value, ":")
			found.header.Set(key, text)
		default:
			log.Fatal("unknown: ", word)
		}
	}
	return found
}

// ---- Pods

type pod struct {
	delay               time.Duration
	mutex               sync.Mutex
	active, most, begun int
}

func (p *pod) add(count int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.active += count
	p.most = max(p.most, p.active)
	p.begun += max(count, 0)
}

func (p *pod) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if probe := r.Header.Get("K-Network-Probe"); probe != "" {
		io.WriteString(w, probe) // as a queue-proxy answers the activator
		return
	}
	if r.URL.Path == "/most" {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		fmt.Fprintf(w, "most %d begun %d\n", p.most, p.begun)
		return
	}
	p.add(1)
	if p.delay > 0 {
		time.Sleep(p.delay)
	}
	p.add(-1)
	io.WriteString(w, "thank you\n")
}

func servePod(port string, with options) {
	time.Sleep(with.after)
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	if with.log != "" {
		file, err := os.OpenFile(with.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(file, "%.6f %s\n", now(), port)
		file.Close()
	}
	log.Fatal(http.Serve(listener, &pod{delay: with.delay}))
}

// ---- Clients

type reply struct {
	began, first float64
	status       string
}

type result struct {
	mutex   sync.Mutex
	replies []reply
}

func newClient(with options, kept int) *http.Client {
	return &http.Client{Timeout: with.limit, Transport: &http.Transport{
		MaxIdleConnsPerHost: max(kept, 1), DisableKeepAlives: kept == 0, DisableCompression: true}}
}

func (r *result) ask(client *http.Client, url string, with options) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		log.Fatal(err)
	}
	for name, values := range with.header {
		request.Header[name] = values
	}
	began := now()
	answer, err := client.Do(request)
	found := reply{began: began, first: now()}
	if err != nil {
		found.status = err.Error()
		if cut := strings.LastIndex(found.status, ": "); cut >= 0 {
			found.status = found.status[cut+2:]
		}
	} else {
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		found.status = strconv.Itoa(answer.StatusCode)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.replies = append(r.replies, found)
}

func (r *result) print() {
	statuses := map[string]int{}
	took, began, first := []float64{}, []float64{}, []float64{}
	for _, each := range r.replies {
		statuses[each.status]++
		took = append(took, each.first-each.began)
		began = append(began, each.began)
		first = append(first, each.first)
	}
	for _, each := range [][]float64{took, began, first} {
		sort.Float64s(each)
	}
	at := func(sorted []float64, part float64) float64 {
		return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"count": len(took), "statuses": statuses, "p50": at(took, 0.5), "p95": at(took, 0.95), "p99": at(took, 0.99), "longest": at(took, 1),
		"began": began[0], "last_began": at(began, 1), "first": first[0], "last": at(first, 1)})
}

func count(word string) int {
	number, err := strconv.Atoi(word)
	if err != nil || number < 1 {
		log.Fatal("no count: ", word)
	}
	return number
}

func ask(url string, many int, with options) {
	client, all := newClient(with, 0), &result{}
	var group sync.WaitGroup
	for range many {
		group.Add(1)
		go func() { defer group.Done(); all.ask(client, url, with) }()
	}
	group.Wait()
	all.print()
}

func loop(url string, clients, seconds int, with options) {
	client, all := newClient(with, clients), &result{}
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var group sync.WaitGroup
	for range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for time.Now().Before(end) {
				all.ask(client, url, with)
			}
		}()
	}
	group.Wait()
	all.print()
}

func steady(url string, rate, seconds int, with options) {
	client, all := newClient(with, 0), &result{}
	var group sync.WaitGroup
	pace := time.NewTicker(time.Second / time.Duration(rate))
	for range rate * seconds {
		<-pace.C
		group.Add(1)
		go func() { defer group.Done(); all.ask(client, url, with) }()
	}
	group.Wait()
	all.print()
}

func main() {
	log.SetFlags(0)
	words := os.Args[1:]
	need := map[string]int{"pod": 2, "ask": 3, "loop": 4, "steady": 4}
	if len(words) == 0 || need[words[0]] == 0 || len(words) < need[words[0]] {
		log.Fatal("usage: see the head of test/peers/knative-front/crowd/main.go")
	}
	with := optionsOf(words[need[words[0]]:])
	switch words[0] {
	case "pod":
		servePod(words[1], with)
	case "ask":
		ask(words[1], count(words[2]), with)
	case "loop":
		loop(words[1], count(words[2]), count(words[3]), with)
	case "steady":
		steady(words[1], count(words[2]), count(words[3]), with)
	}
}
