// otlp-sink is a collector for tests: it decodes what is sent to it with OpenTelemetry's own Go types, and prints each
// request as one line of JSON. It ends with its standard input.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const mostBytes = 16 << 20

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.HandleFunc("POST /v1/traces", take(func() proto.Message { return &traces.ExportTraceServiceRequest{} }))
	http.HandleFunc("POST /v1/metrics", take(func() proto.Message { return &metrics.ExportMetricsServiceRequest{} }))
	fmt.Printf("{\"listening\":%q}\n", listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, http.Serve(listener, nil))
	os.Exit(1)
}

func take(empty func() proto.Message) http.HandlerFunc {
	return func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(answer, request.Body, mostBytes))
		message := empty()
		if err == nil {
			// What the types do not know must not pass for nothing.
			err = proto.UnmarshalOptions{DiscardUnknown: false}.Unmarshal(body, message)
		}
		if err == nil && len(message.ProtoReflect().GetUnknown()) > 0 {
			err = fmt.Errorf("fields that OTLP does not have")
		}
		var said []byte
		if err == nil {
			said, err = protojson.Marshal(message)
		}
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadRequest)
			fmt.Printf("{\"path\":%q,\"wrong\":%q}\n", request.URL.Path, err.Error())
			return
		}
		line, _ := json.Marshal(map[string]any{
			"path":          request.URL.Path,
			"contentType":   request.Header.Get("Content-Type"),
			"authorization": request.Header.Get("Authorization"),
			"bytes":         len(body),
			"body":          json.RawMessage(said),
		})
		answer.Header().Set("Content-Type", "application/x-protobuf")
		fmt.Println(string(line))
	}
}
