import { type Part, segmentsOf, valueAt } from './compose.ts';
import type { Value } from './values/value.ts';

/** What templates share, and what no schema can say of values. */
export function helpers(header: string, values: readonly Value[], parts: readonly Part[]): string {
  return `{{/* ${header} */}}
{{- define "etcd-ratchet.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.AppVersion) }}
{{- end -}}
{{- end -}}

{{- /* Those of global are names for some charts, and objects for others. */ -}}
{{- define "etcd-ratchet.imagePullSecrets" -}}
{{- $all := .Values.imagePullSecrets -}}
{{- range (.Values.global | default dict).imagePullSecrets -}}
{{- $all = append $all (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- $all | uniq | toJson -}}
{{- end -}}

{{- define "etcd-ratchet.check" -}}
{{- $on := .Values.components -}}
{{- if and $on.pageShared.enabled (not $on.page.enabled) -}}
{{- fail "components.pageShared.enabled needs components.page.enabled" -}}
{{- end -}}
{{- if and $on.pagePlans.enabled (not $on.page.enabled) -}}
{{- fail "components.pagePlans.enabled needs components.page.enabled" -}}
{{- end -}}
{{- if and .Values.namespaced $on.pagePlans.enabled -}}
{{- fail "components.pagePlans.enabled reads the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced $on.nodeReboots.enabled -}}
{{- fail "components.nodeReboots.enabled reboots nodes of the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced $on.storageMigration.enabled -}}
{{- fail "components.storageMigration.enabled writes all objects of the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced (or $on.metrics.enabled $on.prometheusOperator.enabled $on.dashboards.enabled) -}}
{{- fail "components.metrics, components.prometheusOperator and components.dashboards look at the whole cluster, and namespaced is for one namespace: set one of the two" -}}
{{- end -}}
{{- if and .Values.namespaced .Values.namespace.create -}}
{{- fail "namespace.create makes a Namespace, which is cluster-wide, and namespaced is for what is not: set one of the two" -}}
{{- end -}}
${values.map((value) => checksOf(value, parts)).join('')}{{- end -}}
`;
}

function checksOf(value: Value, parts: readonly Part[]): string {
  const { path, schema, fixed } = value;
  if (fixed)
    return `{{- if ne .Values.${path} ${JSON.stringify(fixed.to)} -}}
{{- fail ${JSON.stringify(`${path} can't be set: ${fixed.why}`)} -}}
{{- end -}}
`;
  if (!value.reserved) return '';
  const isList = 'type' in schema && schema.type === 'array';
  const taken = takenIn(value, parts).map((one) => JSON.stringify(one));
  const own = `{{- if has $key (list ${taken.join(' ')}) -}}
{{- fail (printf "${path}: %s is set by etcd-ratchet itself: name another" $key) -}}
{{- end -}}
`;
  const prefixes = value.reserved.map(
    ({ prefix, instead }) => `{{- if hasPrefix "${prefix}" $key -}}
{{- fail (printf "${path}: %s can't be set here: ${instead}" $key) -}}
{{- end -}}
`,
  );
  return `{{- range ${isList ? '$one' : '$key, $_'} := .Values.${path} -}}
${isList ? '{{- $key := $one.name -}}\n' : ''}${taken.length > 0 ? own : ''}${prefixes.join('')}{{- end -}}
`;
}

/** The keys, or the names, that are where entries of the value are added, or that a component puts there. */
function takenIn({ places = [] }: Value, parts: readonly Part[]): readonly string[] {
  const found = places.flatMap(({ kind, name, at }) =>
    parts
      .filter(({ object }) => kind === '*' || (object.kind === kind && object.metadata.name === name))
      .flatMap((part) => [...namesIn(valueAt(part.object, at)), ...addedBelow(part, at)]),
  );
  return [...new Set(found)].toSorted();
}

function addedBelow({ edits }: Part, at: string): readonly string[] {
  return edits
    .flatMap(({ operations }) => operations)
    .flatMap(({ path, value }) => {
      if (path === at) return namesIn(value);
      const [key = '', ...deeper] = path.startsWith(`${at}/`) ? segmentsOf(path.slice(at.length)) : [''];
      if (key === '' || deeper.length > 0) return [];
      return key === '-' ? namesIn([value]) : [key];
    });
}

function namesIn(there: unknown): readonly string[] {
  if (Array.isArray(there)) return there.map(({ name }: { readonly name: string }) => name);
  return Object.keys(there ?? {});
}
