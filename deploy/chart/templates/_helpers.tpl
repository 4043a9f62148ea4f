{{/* Name of the release's objects, short enough for suffixes. */}}
{{- define "app.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 45 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 45 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Text of a file of the chart. A chart that was packed without its files must not install less than it says. */}}
{{- define "app.file" -}}
{{- $text := .root.Files.Get (print "files/" .name) -}}
{{- if not (trim $text) -}}
{{- fail (printf "The chart is incomplete: files/%s is missing or empty. Use the released chart, or pack deploy/chart again." .name) -}}
{{- end -}}
{{- $text -}}
{{- end -}}

{{- define "app.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "app.labels" -}}
{{ include "app.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Service account of web or engine. Takes {root, component}. */}}
{{- define "app.serviceAccount" -}}
{{- $given := (index .root.Values .component).serviceAccount.name -}}
{{- default (printf "%s-%s" (include "app.fullname" .root) .component) $given -}}
{{- end -}}

{{/* Reference of an image by digest, or by tag if there is no digest. Takes {image, tag}. */}}
{{- define "app.image" -}}
{{- with .image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ default $.tag .tag }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Host name of the site. */}}
{{- define "app.host" -}}
{{- get (urlParse .Values.settings.SITE_URL) "hostname" -}}
{{- end -}}

{{/* Settings for web only, as in docker-compose.yml. */}}
{{- define "app.webOnly" -}}
^(OIDC|TOKEN_REVIEW|SIMULATOR)_
{{- end -}}

{{/* A setting as text for the environment. Helm reads whole numbers as floats, which must not become 1e+06. */}}
{{- define "app.text" -}}
{{- if kindIs "bool" . -}}{{ ternary "1" "0" . }}{{- else if kindIs "float64" . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* An environment variable from the secret. Takes {root, name, required}. */}}
{{- define "app.secretVariable" -}}
{{- $from := default dict (index .root.Values.secret.from .name) -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ default .root.Values.secret.name $from.name }}
      key: {{ default .name $from.key }}
      {{- if not .required }}
      optional: true
      {{- end }}
{{- end -}}

{{/* The environment variables of a component from the secret. Takes {root, component}. */}}
{{- define "app.secretVariables" -}}
{{- $values := .root.Values -}}
{{- $names := dict "SECRET_KEY" true "DATABASE_URL" true "SECRET_KEY_FALLBACKS" false "CREDENTIALS_KEY" false -}}
{{- if ne .component "migrate" -}}
{{- $_ := set $names "EMAIL_HOST_PASSWORD" false -}}
{{- $_ := set $names "METRICS_TOKEN" $values.metrics.enabled -}}
{{- $_ := set $names (ternary "REDIS_PASSWORD" "REDIS_URL" $values.redis.enabled) true -}}
{{- end -}}
{{- if eq .component "web" -}}
{{- $_ := set $names "DATABASE_REPLICA_URL" false -}}
{{- $_ := set $names "OIDC_CLIENT_SECRET" (not (empty $values.settings.OIDC_ISSUER)) -}}
{{- $_ := set $names "SIMULATOR_TOKEN" false -}}
{{- end -}}
{{- range $name := keys $names | sortAlpha }}
{{ include "app.secretVariable" (dict "root" $.root "name" $name "required" (get $names $name)) }}
{{- end }}
{{- end -}}

{{/* Whether a component connects to clusters, and so gets the token and the kubeconfigs. */}}
{{- define "app.reachesClusters" -}}
{{- if has . (list "web" "engine") }}yes{{ end -}}
{{- end -}}
