import { everywhere, inEveryPod } from './places.ts';
import { annotations, boolean, fixedNames, labels, ours, string } from './schemas.ts';
import type { Value } from './value.ts';

export const installation: readonly Value[] = [
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
    about: 'Secrets to pull the image with, as [{name: …}]. Those of global.imagePullSecrets are added.',
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
    source: 'include "etcd-ratchet.imagePullSecrets" $ | fromJsonArray',
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
    path: 'commonLabels',
    about:
      'Labels of every object that the chart makes, beside our own. What etcd-ratchet makes afterwards has none of them.',
    schema: labels,
    default: {},
    reserved: ours,
    places: everywhere('/metadata/labels'),
  },
  {
    path: 'commonAnnotations',
    about: 'Annotations of every object that the chart makes.',
    schema: annotations,
    default: {},
    reserved: ours,
    places: everywhere('/metadata/annotations'),
  },
  {
    path: 'nameOverride',
    about: 'Stays empty: the names are fixed.',
    schema: string,
    default: '',
    fixed: { to: '', why: fixedNames },
  },
  {
    path: 'fullnameOverride',
    about: 'Stays empty, too.',
    schema: string,
    default: '',
    fixed: { to: '', why: fixedNames },
  },
  {
    path: 'serviceAccount.create',
    about: 'Stays true: the service account comes with its rights.',
    schema: boolean,
    default: true,
    fixed: { to: true, why: 'the service account comes with its rights. Annotate it by serviceAccount.annotations' },
  },
  {
    path: 'serviceAccount.name',
    about: 'Stays empty: it is etcd-ratchet.',
    schema: string,
    default: '',
    fixed: { to: '', why: fixedNames },
  },
  {
    path: 'serviceAccount.annotations',
    about: 'Annotations of the service account that ticks run as.',
    schema: annotations,
    default: {},
    reserved: ours,
    places: [{ kind: 'ServiceAccount', name: 'etcd-ratchet', at: '/metadata/annotations', as: 'among' }],
  },
  {
    path: 'serviceAccount.labels',
    about: 'Labels of it, beside our own.',
    schema: labels,
    default: {},
    reserved: ours,
    places: [{ kind: 'ServiceAccount', name: 'etcd-ratchet', at: '/metadata/labels', as: 'among' }],
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
];
