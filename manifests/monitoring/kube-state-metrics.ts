import { stringify } from 'yaml';
import { group, kinds, version } from '../api/group.ts';
import { definitions } from '../api/kinds.ts';
import { type Metric, metrics } from './metrics.ts';

/** Objects that are young lack most fields: that is no error of theirs. */
const quiet = 10;

/** What alerts use of the series that it makes of CronJobs by itself. */
export const cronJobMetrics = {
  kube_cronjob_status_last_successful_time: 'When a Job of the CronJob last ended well.',
  kube_cronjob_spec_suspend: '1 where it is suspended.',
  kube_cronjob_created: 'When it was made, in seconds since 1970.',
} as const;

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

/** The configuration where the component `metrics` has it. */
export function metricsConfigMap() {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'etcd-ratchet-metrics',
      namespace: 'etcd-ratchet',
      labels: { 'app.kubernetes.io/name': 'etcd-ratchet-metrics', 'app.kubernetes.io/part-of': 'etcd-ratchet' },
    },
    data: { 'kube-state-metrics.yaml': stringify(customResourceStateMetrics(), { aliasDuplicateObjects: false }) },
  };
}
