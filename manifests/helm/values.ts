/** Where in the installation a value goes. */
export interface Place {
  readonly kind: string;
  readonly name: string;
  /** RFC 6901. */
  readonly at: string;
  /** `in-place`: its default is what stands there. `where-set`: nothing is there unless it is set. */
  readonly as: 'in-place' | 'where-set';
}

export interface Value {
  readonly path: string;
  /** One or two sentences, for values.yaml and the reference. */
  readonly about: string;
  readonly schema: object;
  /** Of a value whose places don't say it. */
  readonly default?: unknown;
  readonly places?: readonly Place[];
}

const podOf = {
  CronJob: '/spec/jobTemplate/spec/template/spec',
  Deployment: '/spec/template/spec',
} as const;

const pods = [
  { kind: 'CronJob', name: 'etcd-ratchet' },
  { kind: 'Deployment', name: 'etcd-ratchet-webhooks' },
  { kind: 'Deployment', name: 'etcd-ratchet-page' },
] as const;

const metricsPod = { kind: 'Deployment', name: 'etcd-ratchet-metrics' } as const;

function inEveryPod(field: string): Place[] {
  return pods.map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}/${field}`, as: 'where-set' }));
}

function resourcesOf(pod: (typeof pods)[number]): Place[] {
  return [{ ...pod, at: `${podOf[pod.kind]}/containers/0/resources`, as: 'in-place' }];
}

const boolean = { type: 'boolean' };
const string = { type: 'string' };
const quantities = { type: 'object', additionalProperties: { type: ['string', 'number'] } };
const resources = {
  type: 'object',
  additionalProperties: false,
  properties: { requests: quantities, limits: quantities },
};
const peers = {
  type: 'array',
  items: {
    type: 'object',
    additionalProperties: false,
    minProperties: 1,
    properties: {
      ipBlock: { type: 'object' },
      namespaceSelector: { type: 'object' },
      podSelector: { type: 'object' },
    },
  },
};

/** Every value of the chart. values.yaml, its schema, the templates and the reference follow from it. */
export const values: readonly Value[] = [
  {
    path: 'image.repository',
    about: 'Where the image is. Everything that runs is this one image.',
    schema: { type: 'string', minLength: 1 },
  },
  {
    path: 'image.tag',
    about: 'Its tag. Empty: the version of the chart, as "v0.1.0".',
    schema: { type: 'string', pattern: '^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$' },
    default: '',
  },
  {
    path: 'image.digest',
    about: 'Its digest, "sha256:…", in place of a tag.',
    schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
    default: '',
  },
  {
    path: 'image.pullPolicy',
    about: 'Empty: as Kubernetes decides by the tag.',
    schema: { enum: ['', 'Always', 'IfNotPresent', 'Never'] },
    default: '',
    places: inEveryPod('containers/0/imagePullPolicy'),
  },
  {
    path: 'imagePullSecrets',
    about: 'Secrets to pull the image with, as [{name: …}].',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: { name: { type: 'string', minLength: 1 } },
      },
    },
    default: [],
    places: inEveryPod('imagePullSecrets'),
  },
  {
    path: 'namespaced',
    about:
      'For one namespace only, with nothing that is cluster-wide, as manifests/install/namespaced: fleets and clusters live where the release is. An administrator installs the CRDs once.',
    schema: boolean,
    default: false,
  },
  {
    path: 'namespace.create',
    about:
      'Render the Namespace of the release, with its Pod Security labels. Only where another program applies what `helm template` prints; Helm itself needs the namespace before.',
    schema: boolean,
    default: false,
  },
  {
    path: 'crds.enabled',
    about: 'Install and upgrade the CRDs with the release. Off: you do it.',
    schema: boolean,
    default: true,
  },
  {
    path: 'crds.keep',
    about:
      'Leave the CRDs, and so all clusters, when the release is uninstalled. Off: uninstalling deletes every EtcdCluster.',
    schema: boolean,
    default: true,
  },
  {
    path: 'settings',
    about:
      'What people who write fleets and clusters may name: the data of ConfigMap etcd-ratchet-settings. Empty: no ConfigMap is made, and one that you made counts.',
    schema: { type: 'object', patternProperties: { '^[A-Z][A-Z0-9_]*$': string }, additionalProperties: false },
    default: {},
  },
  {
    path: 'strict',
    about:
      'Of the lists of settings (hosts, images, buckets, Services), one that is not set allows nothing: docs/how-to/limit-tenants.md. Off: it allows everything.',
    schema: boolean,
    default: false,
  },
  {
    path: 'fleetAccounts',
    about:
      "The service accounts of the release's namespace that fleets there may act as: one for each team. Never one of etcd-ratchet itself.",
    schema: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
    places: [{ kind: 'Role', name: 'etcd-ratchet-fleet-host', at: '/rules/0/resourceNames', as: 'in-place' }],
  },
  {
    path: 'tick.schedule',
    about: 'When the CronJob looks at everything. Webhooks and follow-ups come besides.',
    schema: { type: 'string', pattern: '^(@[a-z]+|\\S+( \\S+){4})$' },
    places: [{ kind: 'CronJob', name: 'etcd-ratchet', at: '/spec/schedule', as: 'in-place' }],
  },
  {
    path: 'tick.resources',
    about: 'Of ticks, follow-ups and the Jobs of webhooks.',
    schema: resources,
    places: resourcesOf(pods[0]),
  },
  {
    path: 'tick.priorityClassName',
    about: 'The class of ticks. Empty: none. A namespaced installation has none.',
    schema: string,
    places: [{ kind: 'CronJob', name: 'etcd-ratchet', at: `${podOf.CronJob}/priorityClassName`, as: 'in-place' }],
  },
  {
    path: 'podSecurityContext',
    about:
      'Of all our pods but metrics. A field that is null is left out: where the platform assigns users (OpenShift), set runAsUser, runAsGroup and fsGroup to null.',
    schema: { type: 'object' },
    places: pods.map(({ kind, name }) => ({ kind, name, at: `${podOf[kind]}/securityContext`, as: 'in-place' })),
  },
  {
    path: 'nodeSelector',
    about: 'Of all our pods. Members have their own, in spec.podTemplate.',
    schema: { type: 'object', additionalProperties: string },
    default: {},
    places: inEveryPod('nodeSelector'),
  },
  {
    path: 'tolerations',
    about: 'Of all our pods.',
    schema: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          key: string,
          operator: { enum: ['Exists', 'Equal'] },
          value: string,
          effect: { enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
          tolerationSeconds: { type: 'integer' },
        },
      },
    },
    default: [],
    places: inEveryPod('tolerations'),
  },
  {
    path: 'affinity',
    about: 'Of all our pods.',
    schema: { type: 'object' },
    default: {},
    places: inEveryPod('affinity'),
  },
  {
    path: 'components.certManager.enabled',
    about: 'Lets clusters with spec.tls.mode CertManager ask for Certificates.',
    schema: boolean,
    default: false,
  },
  {
    path: 'components.webhooks.enabled',
    about:
      "A Deployment that takes the forges' webhooks. Lead https://<your host>/hooks/ to Service etcd-ratchet-webhooks.",
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
    places: resourcesOf(pods[1]),
  },
  {
    path: 'components.page.enabled',
    about: 'The page, for users with the right to port-forward to its pod.',
    schema: boolean,
    default: false,
  },
  { path: 'components.page.resources', about: 'Of its pod.', schema: resources, places: resourcesOf(pods[2]) },
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
    path: 'components.dashboards.enabled',
    about:
      "Dashboards of the fleet and of a cluster, as the sidecar of Grafana's chart finds them. Not with namespaced.",
    schema: boolean,
    default: false,
  },
];
