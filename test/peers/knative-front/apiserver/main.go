// The least of an API server that Knative's activator starts with: config maps without data, and
// objects that whoever measures puts there, as lists and watches of their changes.
//
//	PUT /objects/PATH    the object of that path is now the body; PATH is as the API has it:
//	                     api/v1/namespaces/shop/endpoints/web
//
// Prints "listening PORT" first.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
)

type object map[string]any

type change struct {
	Type       string `json:"type"`
	Object     object `json:"object"`
	collection string
}

type store struct {
	mutex   sync.Mutex
	version int
	objects map[string]object // by path
	changed *sync.Cond
	changes []change
}

// collectionOf: api/v1/namespaces/shop/endpoints/web is one of api/v1/endpoints.
func collectionOf(name string) string {
	parts := strings.Split(path.Dir(name), "/")
	for i, part := range parts {
		if part == "namespaces" && i+2 < len(parts) {
			parts = append(parts[:i:i], parts[i+2:]...)
			break
		}
	}
	return strings.Join(parts, "/")
}

func (s *store) put(name string, made object) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version++
	metadata, _ := made["metadata"].(object)
	if metadata == nil {
		metadata = object(made["metadata"].(map[string]any))
	}
	metadata["resourceVersion"] = fmt.Sprint(s.version)
	kind := "ADDED"
	if s.objects[name] != nil {
		kind = "MODIFIED"
	}
	s.objects[name] = made
	s.changes = append(s.changes, change{kind, made, collectionOf(name)})
	s.changed.Broadcast()
}

func (s *store) list(w http.ResponseWriter, collection string) {
	s.mutex.Lock()
	items := []object{}
	for name, each := range s.objects {
		if collectionOf(name) == collection {
			items = append(items, each)
		}
	}
	version := fmt.Sprint(s.version)
	s.mutex.Unlock()
	answer(w, object{"metadata": object{"resourceVersion": version}, "items": items}) // of the kind that was asked for
}

func (s *store) watch(w http.ResponseWriter, r *http.Request, collection string) {
	var from int
	fmt.Sscan(r.URL.Query().Get("resourceVersion"), &from)
	w.Header().Set("content-type", "application/json")
	w.WriteHeader(http.StatusOK)
	flusher := w.(http.Flusher)
	flusher.Flush()
	go func() {
		<-r.Context().Done()
		s.changed.Broadcast()
	}()
	encoder := json.NewEncoder(w)
	for {
		s.mutex.Lock()
		for from >= len(s.changes) && r.Context().Err() == nil {
			s.changed.Wait()
		}
		fresh := s.changes[min(from, len(s.changes)):]
		from = len(s.changes)
		s.mutex.Unlock()
		if r.Context().Err() != nil {
			return
		}
		for _, each := range fresh {
			if each.collection == collection {
				if encoder.Encode(each) != nil {
					return
				}
			}
		}
		flusher.Flush()
	}
}

func answer(w http.ResponseWriter, body object) {
	w.Header().Set("content-type", "application/json")
	json.NewEncoder(w).Encode(body)
}

func configMap(name string) object {
	return object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": object{"name": name, "namespace": "knative-serving", "resourceVersion": "1"}, "data": object{}}
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(r.URL.Path, "/")
	collection := collectionOf(name + "/any")
	switch {
	case r.Method == http.MethodPut && strings.HasPrefix(name, "objects/"):
		made := object{}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &made); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.put(strings.TrimPrefix(name, "objects/"), made)
	case r.Method != http.MethodGet:
		answer(w, object{}) // events
	case name == "version":
		answer(w, object{"major": "1", "minor": "34", "gitVersion": "v1.34.0"})
	case strings.Contains(name, "/configmaps/"):
		answer(w, configMap(path.Base(name)))
	case r.URL.Query().Get("watch") != "":
		s.watch(w, r, collection)
	default:
		s.list(w, collection)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr().(*net.TCPAddr).Port)
	kept := &store{objects: map[string]object{}}
	kept.changed = sync.NewCond(&kept.mutex)
	for _, name := range []string{"config-network", "config-logging", "config-observability", "config-features", "config-tracing"} {
		kept.put("api/v1/namespaces/knative-serving/configmaps/"+name, configMap(name))
	}
	log.Fatal(http.Serve(listener, kept))
}
