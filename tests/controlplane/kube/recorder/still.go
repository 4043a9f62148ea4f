package main

import (
	v1 "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	resource "k8s.io/api/resource/v1"
	storage "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	apps "k8s.io/api/apps/v1"

	"reflect"
	"time"
)

// stillInformer has all its objects from the start and tells a new handler of them at once, in their order.
type stillInformer struct {
	cache.SharedIndexInformer
	objects []runtime.Object
}

func (still *stillInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	for _, object := range still.objects {
		handler.OnAdd(object, true)
	}
	return still, nil
}

func (still *stillInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return still.AddEventHandler(handler)
}

func (still *stillInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return still.AddEventHandler(handler)
}

func (still *stillInformer) HasSynced() bool { return true }

func (still *stillInformer) HasSyncedChecker() cache.DoneChecker { return done{} }

type done struct{}

func (done) Name() string { return "still" }

func (done) Done() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}

// watched are the kinds that the default plugins read.
var watched = []runtime.Object{
	&v1.Pod{}, &v1.Node{}, &v1.Namespace{}, &v1.Service{}, &v1.ReplicationController{}, &apps.ReplicaSet{}, &apps.StatefulSet{},
	&v1.PersistentVolume{}, &v1.PersistentVolumeClaim{}, &policy.PodDisruptionBudget{},
	&storage.StorageClass{}, &storage.CSINode{}, &storage.CSIDriver{}, &storage.CSIStorageCapacity{}, &storage.VolumeAttachment{},
	&resource.ResourceClaim{}, &resource.ResourceSlice{}, &resource.DeviceClass{},
}

// stillFactory is an informer factory that holds objects and asks no API server.
func stillFactory(client kubernetes.Interface, objects []runtime.Object) (informers.SharedInformerFactory, error) {
	factory := informers.NewSharedInformerFactory(client, 0)
	for _, kind := range watched {
		still := &stillInformer{SharedIndexInformer: cache.NewSharedIndexInformer(
			&cache.ListWatch{}, kind, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		)}
		for _, object := range objects {
			if reflect.TypeOf(object) != reflect.TypeOf(kind) {
				continue
			}
			still.objects = append(still.objects, object)
			if err := still.GetIndexer().Add(object); err != nil {
				return nil, err
			}
		}
		factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return still })
	}
	return factory, nil
}
