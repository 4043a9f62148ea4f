{{/* Pod template of a component. Takes {root, component, command, probes, ports}. */}}
{{- define "app.pod" -}}
{{- $values := .root.Values -}}
{{- $clusters := eq (include "app.reachesClusters" .component) "yes" -}}
{{- $kubeconfigs := ternary $values.kubeconfigs.secretName "" $clusters -}}
{{- if eq .component "web" }}{{ $kubeconfigs = default $kubeconfigs $values.kubeconfigs.webSecretName }}{{ end -}}
metadata:
  labels:
    {{- include "app.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/settings: {{ include (print .root.Template.BasePath "/settings.yaml") .root | sha256sum }}
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- if eq .component "migrate" }}
  restartPolicy: Never
  {{- end }}
  {{- if $clusters }}
  serviceAccountName: {{ include "app.serviceAccount" . }}
  {{- end }}
  automountServiceAccountToken: {{ and $clusters $values.rbac.observe }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: 30
  {{- with $values.podSecurityContext }}
  securityContext: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- include "app.placement" . | nindent 2 }}
  containers:
    - name: {{ .component }}
      image: {{ include "app.image" (dict "image" $values.image "tag" .root.Chart.AppVersion) }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      command: {{ toJson .command }}
      {{- with $values.containerSecurityContext }}
      securityContext: {{ toYaml . | nindent 8 }}
      {{- end }}
      env:
        {{- include "app.environment" . | nindent 8 }}
        {{- with $values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- if ne .component "migrate" }}
      envFrom:
        - configMapRef: {name: {{ include "app.fullname" .root }}-settings}
        {{- if eq .component "web" }}
        - configMapRef: {name: {{ include "app.fullname" .root }}-settings-web}
        {{- end }}
      {{- end }}
      {{- with .ports }}
      ports: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- with .probes }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      resources: {{ toYaml (index $values .component).resources | nindent 8 }}
      volumeMounts:
        - {name: tmp, mountPath: /tmp}
        {{- if $kubeconfigs }}
        - {name: kubeconfigs, mountPath: /etc/kubeconfigs, readOnly: true}
        {{- end }}
        {{- with $values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: tmp
      emptyDir: {sizeLimit: 1Gi}
    {{- with $kubeconfigs }}
    - name: kubeconfigs
      # Everybody in the pod can read it, because the pod's user and groups differ between clusters.
      secret: {secretName: {{ . }}, defaultMode: 0444}
    {{- end }}
    {{- with $values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* Placement of pods. Pods of a component prefer different nodes. Takes {root, component}. */}}
{{- define "app.placement" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "app.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .component }}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* Environment variables from the secret and derived ones. REDIS_URL must follow the password that it refers to. */}}
{{- define "app.environment" -}}
{{- include "app.secretVariables" . }}
{{- if and .root.Values.redis.enabled (ne .component "migrate") }}
- {name: REDIS_URL, value: "redis://:$(REDIS_PASSWORD)@{{ include "app.fullname" .root }}-redis:6379/0"}
{{- end }}
{{- if eq .component "web" }}
- name: ENGINE_SERVICE_ACCOUNT
  value: {{ .root.Release.Namespace }}/{{ include "app.serviceAccount" (dict "root" .root "component" "engine") }}
{{- end }}
{{- if has .component (list "engine" "housekeeping" "comparisons") }}
- {name: ALIVE_FILE, value: /tmp/alive}
{{- end }}
{{- if and .root.Values.metrics.enabled (has .component (list "engine" "housekeeping" "comparisons")) }}
- {name: METRICS_LISTEN, value: "0.0.0.0:9101"}
{{- end }}
{{- end -}}
