package main

import (
	"encoding/json"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Case is a cluster at a moment, and who asks.
type Case struct {
	asker   string
	objects []runtime.Object
}

func readCase(line []byte) (*Case, error) {
	var written struct {
		Now     time.Time         `json:"now"`
		Asker   string            `json:"asker"`
		Objects []json.RawMessage `json:"objects"`
	}
	if err := json.Unmarshal(line, &written); err != nil {
		return nil, err
	}
	read := &Case{asker: written.Asker}
	decoder := scheme.Codecs.UniversalDeserializer()
	for position, raw := range written.Objects {
		object, _, err := decoder.Decode(raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("object %d: %w", position, err)
		}
		if pod, ok := object.(*v1.Pod); ok && seen(pod) {
			started(pod, written.Now)
		}
		if pod, ok := object.(*v1.Pod); ok && !seen(pod) {
			continue
		}
		read.objects = append(read.objects, object)
	}
	return read, nil
}

// seen says whether the scheduler's informer lists the pod: its field selector leaves finished ones out.
func seen(pod *v1.Pod) bool {
	return pod.Status.Phase != v1.PodSucceeded && pod.Status.Phase != v1.PodFailed
}

// started gives a pod that has not started the start that the scheduler takes for it: now, which is the case's.
func started(pod *v1.Pod, now time.Time) {
	if pod.Status.StartTime == nil {
		pod.Status.StartTime = &metav1.Time{Time: now}
	}
}
