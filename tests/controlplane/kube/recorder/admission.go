package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"

	v1 "k8s.io/api/core/v1"
)

// refused says why an API server would not have the objects of a case as they are: errors, and defaults that are missing
// and would change where a pod may run.
func refused(line []byte) ([]string, error) {
	var written struct {
		Objects []json.RawMessage `json:"objects"`
	}
	if err := json.Unmarshal(line, &written); err != nil {
		return nil, err
	}
	all := []string{}
	for _, raw := range written.Objects {
		object, kind, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		whole := object.DeepCopyObject()
		legacyscheme.Scheme.Default(whole)
		internal, err := legacyscheme.Scheme.ConvertToVersion(whole, runtime.InternalGroupVersioner)
		if err != nil {
			return nil, err
		}
		for _, wrong := range invalid(internal) {
			all = append(all, fmt.Sprintf("%s: %s", kind.Kind, wrong))
		}
		if pod, ok := object.(*v1.Pod); ok {
			all = append(all, undefaulted(pod, whole.(*v1.Pod))...)
		}
	}
	return all, nil
}

func invalid(object runtime.Object) field.ErrorList {
	switch one := object.(type) {
	case *core.Pod:
		options := podutil.GetValidationOptionsFromPodSpecAndMeta(&one.Spec, nil, &one.ObjectMeta, nil)
		return corevalidation.ValidatePodSpec(&one.Spec, &one.ObjectMeta, field.NewPath("spec"), options)
	case *core.Node:
		return corevalidation.ValidateNode(one)
	case *core.PersistentVolume:
		return corevalidation.ValidatePersistentVolume(one, corevalidation.ValidationOptionsForPersistentVolume(one, nil))
	case *core.PersistentVolumeClaim:
		return corevalidation.ValidatePersistentVolumeClaim(one, corevalidation.ValidationOptionsForPersistentVolumeClaimCreate())
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(one, policyvalidation.PodDisruptionBudgetValidationOptions{})
	case *scheduling.PriorityClass:
		return schedulingvalidation.ValidatePriorityClass(one)
	case *storage.StorageClass:
		return storagevalidation.ValidateStorageClass(one)
	}
	return nil
}

func undefaulted(pod, whole *v1.Pod) []string {
	var missing []string
	note := func(what string, given, defaulted any) {
		if !equality.Semantic.DeepEqual(given, defaulted) {
			missing = append(missing, fmt.Sprintf("Pod %s: %s lacks defaults", pod.Name, what))
		}
	}
	containers, defaulted := append(pod.Spec.Containers, pod.Spec.InitContainers...), append(whole.Spec.Containers, whole.Spec.InitContainers...)
	for i, container := range containers {
		note("resources of "+container.Name, container.Resources, defaulted[i].Resources)
		note("ports of "+container.Name, container.Ports, defaulted[i].Ports)
	}
	note("resources", pod.Spec.Resources, whole.Spec.Resources)
	note("tolerations", pod.Spec.Tolerations, whole.Spec.Tolerations)
	note("affinity", pod.Spec.Affinity, whole.Spec.Affinity)
	note("topologySpreadConstraints", pod.Spec.TopologySpreadConstraints, whole.Spec.TopologySpreadConstraints)
	return missing
}
