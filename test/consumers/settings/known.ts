import { parse } from 'yaml';
import { isRecord } from '../../../manifests/json.ts';

/** Settings of programs that use a cluster of ours as their etcd: those that docs/how-to/recipes.md shows. */
interface Known {
  /** Where the names were read. */
  readonly source: string;
  /** By path, with `[]` for an element of a list: what its value must be like. */
  readonly fields: Readonly<Record<string, RegExp>>;
}

const path = /^\/[\w/.-]+$/;
const name = /^[a-z0-9][a-z0-9.-]*$/;
const address = /^[a-z0-9.-]+:\d+$/;
const yes = /^true$/;

/** A Secret as a volume. */
function mounted(volumes: string, mounts: string): Readonly<Record<string, RegExp>> {
  return {
    [`${volumes}[].name`]: name,
    [`${volumes}[].secret.secretName`]: name,
    [`${mounts}[].name`]: name,
    [`${mounts}[].mountPath`]: path,
    [`${mounts}[].readOnly`]: yes,
  };
}

const referred = ['certificateAuthority', 'clientCertificate'].flatMap((pair) =>
  ['certificate', 'privateKey'].flatMap((half) =>
    ['namespace', 'name', 'keyPath'].map((field) => `spec.tlsConfig.${pair}.${half}.secretReference.${field}`),
  ),
);

const external = 'controlPlane.backingStore.etcd.external';
const persistence = 'controlPlane.statefulSet.persistence';

/** By `apiVersion kind`, or by the comment that values of a chart begin with. */
export const known = {
  'kamaji.clastix.io/v1alpha1 DataStore': {
    source:
      'https://github.com/clastix/kamaji/blob/ddbabd87ed0e8d7c319414383e153c46f21733a9/api/v1alpha1/datastore_types.go',
    fields: {
      'metadata.name': name,
      'spec.driver': /^etcd$/,
      'spec.endpoints[]': address,
      ...Object.fromEntries(referred.map((field) => [field, name])),
    },
  },
  'hypershift.openshift.io/v1beta1 HostedCluster': {
    source:
      'https://github.com/openshift/hypershift/blob/3ee9615567acffaf3e3ee25c2ca2942d650565cf/api/hypershift/v1beta1/hostedcluster_types.go',
    fields: {
      'metadata.name': name,
      'metadata.namespace': name,
      'spec.etcd.managementType': /^Unmanaged$/,
      'spec.etcd.unmanaged.endpoint': /^https:\/\/[a-z0-9.-]+:\d+$/,
      'spec.etcd.unmanaged.tls.clientSecret.name': name,
    },
  },
  'values of the chart vcluster': {
    source: 'https://github.com/loft-sh/vcluster/blob/487667546c580898947f95a8219dc6cb248f7b7e/config/config.go',
    fields: {
      [`${external}.enabled`]: yes,
      [`${external}.endpoint`]: address,
      [`${external}.tls.caFile`]: path,
      [`${external}.tls.certFile`]: path,
      [`${external}.tls.keyFile`]: path,
      ...mounted(`${persistence}.addVolumes`, `${persistence}.addVolumeMounts`),
    },
  },
  'values of the chart apisix': {
    source:
      'https://github.com/apache/apisix-helm-chart/blob/60c9cbbfe0c03aba53bdf9644f491c90204a43cd/charts/apisix/values.yaml',
    fields: {
      'etcd.enabled': /^false$/,
      'etcd.prefix': path,
      'etcd.auth.tls.enabled': yes,
      'etcd.auth.tls.existingSecret': name,
      'etcd.auth.tls.certFilename': name,
      'etcd.auth.tls.certKeyFilename': name,
      'etcd.auth.tls.verify': yes,
      'etcd.auth.tls.sni': name,
      'externalEtcd.host[]': /^https:\/\/[a-z0-9.-]+:\d+$/,
      'externalEtcd.user': /^$/,
      'apisix.ssl.enabled': yes,
      'apisix.ssl.existingCASecret': name,
      'apisix.ssl.certCAFilename': name,
    },
  },
  'values of the chart milvus': {
    source:
      'https://github.com/zilliztech/milvus-helm/blob/98324768aeb70ebfea91f9968853e0fa29838639/charts/milvus/values.yaml',
    fields: {
      'etcd.enabled': /^false$/,
      'externalEtcd.enabled': yes,
      'externalEtcd.endpoints[]': address,
      'extraConfigFiles.user.yaml': /\S/,
      ...mounted('volumes', 'volumeMounts'),
    },
  },
  "Milvus's user.yaml": {
    source:
      'https://github.com/milvus-io/milvus/blob/006ad7a29d443f052dae4a1c77d8c56fb645db62/pkg/util/paramtable/service_param.go',
    fields: {
      'etcd.rootPath': name,
      'etcd.ssl.enabled': yes,
      'etcd.ssl.tlsCACert': path,
      'etcd.ssl.tlsCert': path,
      'etcd.ssl.tlsKey': path,
    },
  },
} as const satisfies Readonly<Record<string, Known>>;

export type Consumer = keyof typeof known;

/** Whose settings a block of a page is; `undefined` if of none of these. */
export function consumerOf(text: string): Consumer | undefined {
  const settings: unknown = parse(text);
  const { apiVersion, kind } = isRecord(settings) ? settings : {};
  const called = kind === undefined ? text.split('\n', 1)[0]?.replace(/^# /, '') : `${apiVersion} ${kind}`;
  return called !== undefined && called in known ? (called as Consumer) : undefined;
}

/** Differences to what was looked up: a field that is not known, one that is missing, a value of another form. */
export function problemsOf(consumer: Consumer, settings: unknown): string[] {
  const { fields }: Known = known[consumer];
  const found = leavesOf(settings).filter(([at]) => at !== 'apiVersion' && at !== 'kind');
  const inner = consumer === 'values of the chart milvus' ? found.find(([at]) => at.endsWith('user.yaml')) : undefined;
  return [
    ...Object.keys(fields)
      .filter((field) => !found.some(([at]) => at === field))
      .map((field) => `${consumer}: ${field} is missing`),
    ...found.flatMap(([at, value]) => {
      const form = fields[at];
      if (!form) return [`${consumer}: ${at} is not one of the fields that were looked up`];
      return form.test(String(value)) ? [] : [`${consumer}: ${at} is not like ${form}: ${value}`];
    }),
    ...(inner ? problemsOf("Milvus's user.yaml", parse(String(inner[1]))) : []),
  ];
}

function leavesOf(value: unknown, at = ''): (readonly [path: string, value: unknown])[] {
  if (Array.isArray(value)) return value.flatMap((one) => leavesOf(one, `${at}[]`));
  if (!isRecord(value)) return [[at, value]];
  return Object.entries(value).flatMap(([key, one]) => leavesOf(one, at === '' ? key : `${at}.${key}`));
}
