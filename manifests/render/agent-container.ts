import type { BackupTarget, SnapshotSource } from '../api/backup-settings.ts';
import type { ObjectLocation } from '../api/object-template.ts';
import { storeDefaults } from '../api/spec-defaults.ts';
import type { Egress } from '../egress/egress.ts';
import type { Container, EnvVar, PodSpec, ResourceRequirements, Volume, VolumeMount } from '../kube-types.ts';
import type { SecretKeys } from '../stores/store-kind.ts';
import { endpointNamed, type StoreRequest, type StoreSettings, stores } from '../stores/stores.ts';
import { hostsText } from './listed-hosts.ts';
import { restrictedRights } from './restricted.ts';

/**
 * The agent (functions/backup.ts) in a pod: its Secrets and volumes, and its request. Secrets are mounted as files; the
 * request lies open in the Job and names only those files.
 */

/** What the settings of a backup or of a snapshot become in a pod. */
export interface AgentAccess {
  readonly request: {
    readonly store: StoreRequest;
    readonly recipientsFile?: string;
    readonly identityFile?: string;
  };
  /** The host that the author names in place of the vendor's. */
  readonly endpoint?: string | undefined;
  /** A key may name some as well. */
  readonly secretNamesHosts?: boolean;
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
}

const secrets = '/etc/etcd-ratchet';
const recipientsKey = 'recipients.txt';
const identityKey = 'identity.txt';

/** Where a PersistentVolumeClaim with backups is mounted. */
const claimMountPath = '/var/lib/etcd-ratchet/backups';

/**
 * @param purpose `write` shows what encrypts, `read` what decrypts, and with `read` a volume can't be written.
 * `prove` writes beside an object what was found of it.
 */
export function agentAccess(
  at: Pick<ObjectLocation, 'scheme' | 'bucket'>,
  settings: StoreSettings & Pick<BackupTarget & SnapshotSource, 'caBundle' | 'encryption'>,
  purpose: 'write' | 'read' | 'prove',
): AgentAccess {
  const { encryption = {} } = settings;
  const recipients = purpose === 'write' ? encryption.recipientsSecretName : undefined;
  const identity = purpose === 'read' ? encryption.identitySecretName : undefined;
  const { store, ...storeShown } = storeAccess(at, settings, purpose === 'read');
  const shown = [
    storeShown,
    secretFiles('age-recipients', recipients, { needed: [recipientsKey] }),
    secretFiles('age-identity', identity, { needed: [identityKey] }),
  ];
  return {
    request: {
      store,
      ...(recipients !== undefined && { recipientsFile: `${secrets}/age-recipients/${recipientsKey}` }),
      ...(identity !== undefined && { identityFile: `${secrets}/age-identity/${identityKey}` }),
    },
    endpoint: endpointNamed(at, settings),
    ...(secretNamesHosts(at, settings) && { secretNamesHosts: true }),
    volumes: shown.flatMap(({ volumes }) => volumes),
    volumeMounts: shown.flatMap(({ volumeMounts }) => volumeMounts),
  };
}

function secretNamesHosts({ scheme }: Pick<ObjectLocation, 'scheme'>, settings: StoreSettings): boolean {
  const kind = stores[scheme];
  return kind.reach === 'network' && kind.secretNamesHosts === true && kind.secretName(settings) !== undefined;
}

function storeAccess(
  { scheme, bucket }: Pick<ObjectLocation, 'scheme' | 'bucket'>,
  settings: StoreSettings & Pick<BackupTarget, 'caBundle'>,
  isReadOnly: boolean,
): Shown & { readonly store: StoreRequest } {
  const kind = stores[scheme];
  if (kind.reach === 'claim') return { ...claim(bucket, isReadOnly), store: { directory: claimMountPath } };
  const { secretVolume, secretKeys } = kind;
  const secretName = kind.secretName(settings);
  const [secret, bundle] = [secretFiles(secretVolume, secretName, secretKeys), bundleFile(settings.caBundle)];
  return {
    store: {
      ...(settings.caBundle && { caFile: `${secrets}/${bundleVolume}/${bundleName}` }),
      ...kind.ask(settings, secretName === undefined ? undefined : `${secrets}/${secretVolume}`),
    },
    volumes: [...secret.volumes, ...bundle.volumes],
    volumeMounts: [...secret.volumeMounts, ...bundle.volumeMounts],
  };
}

interface Shown {
  readonly volumes: readonly Volume[];
  readonly volumeMounts: readonly VolumeMount[];
}

/** The client certificate for etcd: a Secret with `ca.crt`, and maybe `tls.crt` and `tls.key`. */
export function etcdTlsFiles(secretName: string | undefined): Shown & { readonly directory: string } {
  const keys = { needed: ['ca.crt'], optional: ['tls.crt', 'tls.key'] };
  return { ...secretFiles('etcd-tls', secretName, keys), directory: `${secrets}/etcd-tls` };
}

/** Readable by the agent's group only, which fsGroup makes the files' own. */
const defaultMode = 0o440;

function secretFiles(name: string, secretName: string | undefined, { needed, optional = [] }: SecretKeys): Shown {
  if (secretName === undefined) return { volumes: [], volumeMounts: [] };
  const items = itemsOf(needed);
  const sources = [
    ...(needed.length > 0 ? [{ secret: { name: secretName, items } }] : []),
    { secret: { name: secretName, items: itemsOf(optional), optional: true } },
  ];
  const source =
    optional.length === 0 ? { secret: { secretName, defaultMode, items } } : { projected: { defaultMode, sources } };
  return {
    volumes: [{ name, ...source }],
    volumeMounts: [{ name, mountPath: `${secrets}/${name}`, readOnly: true }],
  };
}

function itemsOf(keys: readonly string[]): readonly { readonly key: string; readonly path: string }[] {
  return keys.map((key) => ({ key, path: key }));
}

const bundleVolume = 'store-ca';
const bundleName = 'ca.crt';

/** Its one key, so that nothing else of that object is shown. Without it the pod does not start. */
function bundleFile(bundle: BackupTarget['caBundle']): Shown {
  if (bundle === undefined) return { volumes: [], volumeMounts: [] };
  const { secretName, configMapName = '', key = storeDefaults.bundleKey } = bundle;
  const items = [{ key, path: bundleName }];
  const source =
    secretName === undefined ? { configMap: { name: configMapName, items } } : { secret: { secretName, items } };
  return {
    volumes: [{ name: bundleVolume, ...source }],
    volumeMounts: [{ name: bundleVolume, mountPath: `${secrets}/${bundleVolume}`, readOnly: true }],
  };
}

function claim(claimName: string, readOnly: boolean): Shown {
  return {
    volumes: [{ name: 'backups', persistentVolumeClaim: { claimName } }],
    volumeMounts: [{ name: 'backups', mountPath: claimMountPath, ...(readOnly && { readOnly }) }],
  };
}

export interface AgentOrder {
  readonly name: string;
  /** Our own, as the step that asks runs it. */
  readonly image: string;
  /** What reconcile/backup/agent/request.ts reads. */
  readonly request: object;
  readonly access: AgentAccess;
  /** Besides those of the access: a scratch volume, the data of a member, etcd's certificates. */
  readonly volumeMounts?: readonly VolumeMount[];
  readonly env?: readonly EnvVar[];
  /** Where the installation lets it go. Absent: what one that says nothing allows. */
  readonly egress?: Egress | undefined;
  /** It asks an etcd whose addresses an author wrote. */
  readonly outside?: boolean | undefined;
  /** Those of the member beside which it runs; absent: it runs beside none. */
  readonly resources?: ResourceRequirements | undefined;
}

/**
 * How Node runs the agent. Each message of a snapshot is a buffer that only the collector frees: by default after 16
 * MiB of new objects, which hold a hundred MiB of such buffers. The agent may call it, too; and glibc would keep freed
 * memory in an arena for each thread.
 */
export const agentRun = {
  options: ['--max-semi-space-size=1', '--expose-gc'],
  env: [{ name: 'MALLOC_ARENA_MAX', value: '1' }],
} as const;

const aloneResources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } };

/** One run of the agent. Its memory does not grow with the snapshot. */
export function agentContainer({
  name,
  image,
  request,
  access,
  volumeMounts = [],
  env = [],
  egress,
  outside = false,
  resources = aloneResources,
}: AgentOrder): Container {
  return {
    name,
    image,
    command: ['node', ...agentRun.options, '/app/backup.js'],
    env: [
      ...agentRun.env,
      { name: 'RATCHET_BACKUP_REQUEST', value: JSON.stringify(request) },
      ...hostsFor(access, egress, outside),
      ...env,
    ],
    resources,
    volumeMounts: [...access.volumeMounts, ...volumeMounts, { name: temporary, mountPath: '/tmp' }],
    securityContext: { ...restrictedRights, readOnlyRootFilesystem: true },
  };
}

/** Where an author names a host: the installation's word on hosts; on plain HTTP also that of the namespace. */
function hostsFor(
  { endpoint, secretNamesHosts = false }: AgentAccess,
  egress: Egress | undefined,
  outside: boolean,
): readonly EnvVar[] {
  if (endpoint === undefined && !outside && !secretNamesHosts) return [];
  const { hosts, local = [], plainHttp = [] } = egress ?? {};
  const isPlain = endpoint?.startsWith('http://') === true;
  const mayBePlain = isPlain || secretNamesHosts;
  const configMapKeyRef = { name: 'etcd-ratchet-settings', key: 'RATCHET_PLAIN_HTTP_HOSTS', optional: true };
  return [
    ...(hosts ? [{ name: 'RATCHET_HOSTS', value: hostsText(hosts) }] : []),
    ...(local.length > 0 ? [{ name: 'RATCHET_LOCAL_HOSTS', value: hostsText(local) }] : []),
    ...(mayBePlain && plainHttp.length > 0 ? [{ name: 'RATCHET_PLAIN_HTTP_HOSTS', value: hostsText(plainHttp) }] : []),
    ...(isPlain ? [{ name: 'RATCHET_NAMESPACE_PLAIN_HTTP_HOSTS', valueFrom: { configMapKeyRef } }] : []),
  ];
}

const temporary = 'tmp';

/** What any pod with the agent in it has. It asks nothing of Kubernetes, so it bears no token. */
export function agentPod({
  serviceAccountName,
}: {
  readonly serviceAccountName?: string | undefined;
}): Pick<PodSpec, Exclude<keyof PodSpec, 'containers' | 'initContainers'>> & { readonly volumes: readonly Volume[] } {
  return {
    ...(serviceAccountName !== undefined && { serviceAccountName }),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 65532,
      fsGroup: 65532,
      // Not on every mount: a volume with many backups would take minutes.
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
    },
    volumes: [{ name: temporary, emptyDir: { sizeLimit: '64Mi' } }],
  };
}

/** Volumes of several containers' access, each once. */
export function volumesOf(...all: readonly { readonly volumes: readonly Volume[] }[]): readonly Volume[] {
  const byName = new Map(all.flatMap(({ volumes }) => volumes).map((volume) => [volume.name, volume]));
  return [...byName.values()];
}
