"""Why a pod or a workload is pending, in words."""
