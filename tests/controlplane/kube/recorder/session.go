package main

import (
	"context"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
)

// session is a scheduler that has seen all of a case's objects, and the asker before it.
type session struct {
	ctx        context.Context
	close      context.CancelFunc
	scheduler  *scheduler.Scheduler
	profile    framework.Framework
	preemption *defaultpreemption.DefaultPreemption
	informers  informers.SharedInformerFactory
	asker      *v1.Pod
}

func newSession(read *Case) (*session, error) {
	asker, err := findAsker(read)
	if err != nil {
		return nil, err
	}
	client := accepting()
	factory, err := stillFactory(client, read.objects)
	if err != nil {
		return nil, err
	}
	profile, err := allNodes()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	silent := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	built, err := scheduler.New(ctx, client, factory, nil, silent,
		scheduler.WithProfiles(profile), scheduler.WithParallelism(1), scheduler.WithPercentageOfNodesToScore(new(int32(100))))
	if err != nil {
		cancel()
		return nil, err
	}
	if *unqueued {
		if err := unqueue(built, read.objects, asker); err != nil {
			cancel()
			return nil, err
		}
	}
	s := &session{ctx: ctx, close: cancel, scheduler: built, profile: built.Profiles[profile.SchedulerName], informers: factory, asker: asker}
	args := preemptionArgs(profile)
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	if s.preemption, err = defaultpreemption.New(ctx, args, s.profile, features); err == nil {
		snapshot := s.profile.SnapshotSharedLister().(*internalcache.Snapshot)
		err = built.Cache.UpdateSnapshot(klog.Background(), snapshot)
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return s, nil
}

func findAsker(read *Case) (*v1.Pod, error) {
	namespace, name, _ := strings.Cut(read.asker, "/")
	for _, object := range read.objects {
		if pod, ok := object.(*v1.Pod); ok && pod.Namespace == namespace && pod.Name == name {
			return pod, nil
		}
	}
	return nil, fmt.Errorf("no pending pod %q", read.asker)
}

// unqueue leaves of each nominated pod but the asker only its nomination.
func unqueue(built *scheduler.Scheduler, objects []runtime.Object, asker *v1.Pod) error {
	for _, object := range objects {
		pod, ok := object.(*v1.Pod)
		if !ok || pod == asker || pod.Spec.NodeName != "" || pod.Status.NominatedNodeName == "" {
			continue
		}
		info, err := framework.NewPodInfo(pod)
		if err != nil {
			return err
		}
		built.SchedulingQueue.Delete(pod)
		built.SchedulingQueue.AddNominatedPod(klog.Background(), info, nil)
	}
	return nil
}

// accepting is a client whose API server says yes to everything and does nothing.
func accepting() *fake.Clientset {
	client := &fake.Clientset{}
	client.AddReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil })
	return client
}

// allNodes is the default profile, less its bound on the nodes that preemption looks at.
func allNodes() (config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return config.KubeSchedulerProfile{}, err
	}
	profile := defaults.Profiles[0]
	preemptionArgs(profile).MinCandidateNodesPercentage = 100
	return profile, nil
}

func preemptionArgs(profile config.KubeSchedulerProfile) *config.DefaultPreemptionArgs {
	for _, plugin := range profile.PluginConfig {
		if args, ok := plugin.Args.(*config.DefaultPreemptionArgs); ok {
			return args
		}
	}
	panic("the default profile has no arguments for DefaultPreemption")
}
