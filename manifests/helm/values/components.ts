import { metricsPod, podOf, podsOfOurs, resourcesOf } from './places.ts';
import { annotations, boolean, dnsName, hostName, labels, ours, peers, resources } from './schemas.ts';
import type { Value } from './value.ts';

const monitors = [
  { kind: 'PodMonitor', name: 'etcd-ratchet-members' },
  { kind: 'ServiceMonitor', name: 'etcd-ratchet-metrics' },
  { kind: 'PrometheusRule', name: 'etcd-ratchet' },
] as const;
const dashboards = { kind: 'ConfigMap', name: 'etcd-ratchet-dashboards' } as const;

export const components: readonly Value[] = [
  {
    path: 'components.certManager.enabled',
    about: 'Lets clusters with spec.tls.mode CertManager ask for Certificates.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.webhooks.enabled',
    about:
      "A Deployment that takes the forges' webhooks. Lead https://<your host>/hooks/ to Service etcd-ratchet-webhooks, by `ingress` or a Gateway of yours.",
    schema: boolean,
    default: false,
  },
  {
    path: 'components.webhooks.secretNames',
    about: "The Secrets that it may read: what your fleets' spec.webhook.secretName name.",
    schema: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
    places: [{ kind: 'Role', name: 'etcd-ratchet-webhooks', at: '/rules/0/resourceNames', as: 'in-place' }],
  },
  {
    path: 'components.webhooks.from',
    about: "From where it may be reached, as a NetworkPolicy's `from`. Empty: from everywhere.",
    schema: peers,
    default: [],
    places: [{ kind: 'NetworkPolicy', name: 'etcd-ratchet-webhooks', at: '/spec/ingress/0/from', as: 'where-set' }],
  },
  {
    path: 'components.webhooks.resources',
    about: 'Of its pod.',
    schema: resources,
    places: resourcesOf(podsOfOurs[1]),
  },
  ...ingressOf('webhooks', 'An Ingress that leads /hooks/ to it, and nothing else. Needs hosts.', 'that forges call'),
  {
    path: 'components.page.enabled',
    about: 'The page, for users with the right to port-forward to its pod.',
    schema: boolean,
    default: false,
  },
  { path: 'components.page.resources', about: 'Of its pod.', schema: resources, places: resourcesOf(podsOfOurs[2]) },
  {
    path: 'components.pageShared.enabled',
    about: 'The page at an address of its own, behind a proxy that signs people in. Needs components.page.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.pageShared.from',
    about: "From where it may be reached, as a NetworkPolicy's `from`. Empty: from everywhere.",
    schema: peers,
    default: [],
    places: [{ kind: 'NetworkPolicy', name: 'etcd-ratchet-page', at: '/spec/ingress/0/from', as: 'where-set' }],
  },
  ...ingressOf(
    'pageShared',
    'An Ingress that leads to it. Needs hosts, and what signs people in before it and passes their token on, like annotations for oauth2-proxy.',
    'that people open',
  ),
  {
    path: 'components.pagePlans.enabled',
    about:
      'Lets the page plan. It then reads Secrets by name in every namespace: think twice. Needs components.page; not with namespaced.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.nodeReboots.enabled',
    about: 'Lets EtcdNodePolicies reboot nodes: think twice, docs/how-to/node-reboots.md. Not with namespaced.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.storageMigration.enabled',
    about:
      'Moves stored objects to the newest version of the API, for the time of an update: docs/explanation/api-versions.md. Not with namespaced.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.shards.enabled',
    about: 'Shares out each pass among the pods of one Job: docs/how-to/shards.md.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.shards.count',
    about: 'Among how many.',
    schema: { type: 'integer', minimum: 1, maximum: 256 },
    places: [{ kind: 'CronJob', name: 'etcd-ratchet', at: '/spec/jobTemplate/spec/completions', as: 'in-place' }],
  },
  {
    path: 'components.metrics.enabled',
    about:
      'A kube-state-metrics of its own, for our kinds only. Where you have one already, give it manifests/monitoring. Not with namespaced.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.metrics.image',
    about: 'The image of kube-state-metrics.',
    schema: { type: 'string', minLength: 1 },
    places: [{ ...metricsPod, at: `${podOf.Deployment}/containers/0/image`, as: 'in-place' }],
  },
  {
    path: 'components.metrics.resources',
    about: 'Of its pod.',
    schema: resources,
    places: [{ ...metricsPod, at: `${podOf.Deployment}/containers/0/resources`, as: 'in-place' }],
  },
  {
    path: 'components.prometheusOperator.enabled',
    about:
      "What the Prometheus operator scrapes and alerts on: a PodMonitor, a ServiceMonitor and a PrometheusRule. It needs the operator's CRDs. Not with namespaced.",
    schema: boolean,
    default: false,
  },
  {
    path: 'components.prometheusOperator.labels',
    about: 'Labels of the three, as your Prometheus selects them: `release: …` for kube-prometheus-stack.',
    schema: labels,
    default: {},
    reserved: ours,
    places: monitors.map((monitor) => ({ ...monitor, at: '/metadata/labels', as: 'among' })),
  },
  {
    path: 'components.dashboards.enabled',
    about:
      "Dashboards of the fleet and of a cluster, as the sidecar of Grafana's chart finds them. Not with namespaced.",
    schema: boolean,
    default: false,
  },
  {
    path: 'components.dashboards.labels',
    about: 'Labels of their ConfigMap, beside grafana_dashboard: as your sidecar selects it.',
    schema: labels,
    default: {},
    reserved: ours,
    places: [{ ...dashboards, at: '/metadata/labels', as: 'among' }],
  },
  {
    path: 'components.dashboards.annotations',
    about: 'Annotations of it, like the folder that your sidecar puts them in.',
    schema: annotations,
    default: {},
    reserved: ours,
    places: [{ ...dashboards, at: '/metadata/annotations', as: 'among' }],
  },
];

/** @param hosts what they are, as "that forges call" */
function ingressOf(component: string, about: string, hosts: string): readonly Value[] {
  const at = `components.${component}.ingress`;
  return [
    { path: `${at}.enabled`, about, schema: boolean, default: false },
    {
      path: `${at}.className`,
      about: 'Its IngressClass. Empty: the default of the cluster.',
      schema: { type: 'string', maxLength: 253, pattern: `^(${dnsName})?$` },
      default: '',
    },
    {
      path: `${at}.annotations`,
      about: 'Its annotations, like cert-manager.io/cluster-issuer.',
      schema: annotations,
      default: {},
      reserved: ours,
    },
    {
      path: `${at}.hosts`,
      about: `The hosts ${hosts}.`,
      schema: { type: 'array', maxItems: 16, uniqueItems: true, items: hostName },
      default: [],
    },
    {
      path: `${at}.tls`,
      about: 'Its certificates, as [{secretName: …, hosts: […]}]. Empty: what ends TLS has its own.',
      schema: {
        type: 'array',
        maxItems: 16,
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['secretName', 'hosts'],
          properties: {
            secretName: { type: 'string', maxLength: 253, pattern: `^${dnsName}$` },
            hosts: { type: 'array', minItems: 1, items: hostName },
          },
        },
      },
      default: [],
    },
  ];
}
