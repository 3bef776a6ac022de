import { group, kinds, version } from '../api/group.ts';
import { definitions } from '../api/kinds.ts';
import { type Metric, metrics } from './metrics.ts';

/** Objects that are young lack most fields: that is no error of theirs. */
const quiet = 10;

/** For `--custom-resource-state-config-file` of kube-state-metrics. */
export function customResourceStateMetrics() {
  return {
    kind: 'CustomResourceStateMetrics',
    spec: {
      resources: kinds.map((kind) => ({
        groupVersionKind: { group, version, kind },
        metricNamePrefix: metrics[kind].prefix,
        labelsFromPath: {
          ...(!definitions[kind].clusterScoped && { namespace: ['metadata', 'namespace'] }),
          name: ['metadata', 'name'],
        },
        errorLogV: quiet,
        metrics: metrics[kind].metrics.map(generatorOf),
      })),
    },
  };
}

function generatorOf({ name, help, type, path, labels, value, labelFromKey, nilIsZero }: Metric) {
  const where = { path, ...(labels && { labelsFromPath: labels }), ...(labelFromKey && { labelFromKey }) };
  const each =
    type === 'Info'
      ? { type, info: where }
      : { type, gauge: { ...where, ...(value && { valueFrom: value }), ...(nilIsZero && { nilIsZero }) } };
  return { name, help, each };
}

/** What kube-state-metrics may do beyond its own roles: look at our kinds, and which kinds there are. */
export function kubeStateMetricsRole() {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'etcd-ratchet-metrics', labels: { 'app.kubernetes.io/name': 'etcd-ratchet' } },
    rules: [
      {
        apiGroups: [group],
        resources: kinds.map((kind) => definitions[kind].plural),
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['list', 'watch'] },
    ],
  };
}
