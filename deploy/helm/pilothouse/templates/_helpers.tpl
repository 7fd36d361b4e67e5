{{- define "pilothouse.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "pilothouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "pilothouse.labels" -}}
{{ include "pilothouse.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "pilothouse.serviceAccount" -}}
{{- if .Values.serviceAccount.name -}}
{{- .Values.serviceAccount.name -}}
{{- else if .Values.serviceAccount.create -}}
{{- include "pilothouse.name" . -}}
{{- else -}}
default
{{- end -}}
{{- end -}}

{{- /* Whether all data is outside of the pod, so that several pods can share it. */ -}}
{{- define "pilothouse.isShared" -}}
{{- if and .Values.database.existingSecret .Values.clickhouse.existingSecret -}}true{{- end -}}
{{- end -}}

{{- define "pilothouse.hasSecrets" -}}
{{- with .Values -}}
{{- if or .database.existingSecret .clickhouse.existingSecret .metricsToken.existingSecret .smtp.existingSecret .secretsKey.existingSecret .fleet.existingSecret -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "pilothouse.hasSeveralReplicas" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicaCount) 1) -}}true{{- end -}}
{{- end -}}

{{- /* Rejects values that contradict each other; the schema cannot say why. */ -}}
{{- define "pilothouse.check" -}}
{{- if and (include "pilothouse.hasSeveralReplicas" .) (not (include "pilothouse.isShared" .)) -}}
{{- fail "Several replicas need database.existingSecret and clickhouse.existingSecret: the embedded store and the embedded engine belong to one pod." -}}
{{- end -}}
{{- if and (include "pilothouse.isShared" .) (not .Values.secretsKey.existingSecret) -}}
{{- fail "With database.existingSecret and clickhouse.existingSecret, the pods have no volume that lasts: put the key that encrypts secrets in the store into a Secret, and name it in secretsKey.existingSecret (docs/installing.md#helm-chart)." -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas must not be greater than autoscaling.maxReplicas." -}}
{{- end -}}
{{- end -}}
