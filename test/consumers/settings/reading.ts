import { parse } from 'yaml';
import { isRecord } from '../../../manifests/json.ts';
import type { Secret } from '../../../manifests/kube-types.ts';
import type { Consumer } from './known.ts';

/** What a program takes out of its settings before it connects. */
export interface Reading {
  readonly host: string;
  readonly port: number;
  /** What the certificate of a member must be for. */
  readonly serverName: string;
  /** PEM, as the three that follow. */
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
  /** Kamaji: it signs a client certificate for each control plane. */
  readonly signing?: { readonly certificate: string; readonly key: string };
}

export interface Place {
  /** Where the pods of the program run. */
  readonly namespace: string;
  /** HyperShift: the namespace of the control plane. */
  readonly plane?: string;
  secret(namespace: string, name: string): Promise<Secret | undefined>;
}

/** @throws naming what the settings lead to, and is not there. */
export function readAs(consumer: Consumer, settings: unknown, place: Place): Promise<Reading> {
  const ways = {
    'kamaji.clastix.io/v1alpha1 DataStore': asKamaji,
    'hypershift.openshift.io/v1beta1 HostedCluster': asHyperShift,
    'values of the chart vcluster': asVCluster,
    'values of the chart apisix': asApisix,
    'values of the chart milvus': asMilvus,
  };
  if (consumer === "Milvus's user.yaml") throw new Error('it is a part of the values of a chart');
  return ways[consumer](settings, place);
}

async function asKamaji(settings: unknown, place: Place): Promise<Reading> {
  const referred = (which: string) => {
    const at = `spec.tlsConfig.${which}.secretReference`;
    const said = (field: string) => text(settings, `${at}.${field}`);
    return entry(place, said('namespace'), said('name'), said('keyPath'));
  };
  const [ca, caKey, certificate, key] = await Promise.all([
    referred('certificateAuthority.certificate'),
    referred('certificateAuthority.privateKey'),
    referred('clientCertificate.certificate'),
    referred('clientCertificate.privateKey'),
  ]);
  // Of several certificates in one PEM, Kamaji signs with the first one, and trusts all.
  const [first = ''] = ca.split(/(?<=-----END CERTIFICATE-----\n)/);
  const address = addressOf(`https://${text(settings, 'spec.endpoints.0')}`);
  return { ...address, ca, certificate, key, signing: { certificate: first, key: caKey } };
}

async function asHyperShift(settings: unknown, { plane = '', ...place }: Place): Promise<Reading> {
  const { namespace, unmanaged } = {
    namespace: text(settings, 'metadata.namespace'),
    unmanaged: text(settings, 'spec.etcd.unmanaged.tls.clientSecret.name'),
  };
  const own = (key: string) => entry(place, namespace, unmanaged, key);
  // It must be there, and is not what its API servers trust: that is the ConfigMap `etcd-ca`, made from this Secret.
  const [, ca, certificate, key] = await Promise.all([
    own('etcd-client-ca.crt'),
    entry(place, plane, 'etcd-signer', 'ca.crt'),
    own('etcd-client.crt'),
    own('etcd-client.key'),
  ]);
  return { ...addressOf(text(settings, 'spec.etcd.unmanaged.endpoint')), ca, certificate, key };
}

function asVCluster(settings: unknown, place: Place): Promise<Reading> {
  const at = 'controlPlane.backingStore.etcd.external';
  const persistence = 'controlPlane.statefulSet.persistence';
  const endpoint = `https://${text(settings, `${at}.endpoint`).replace(/^https:\/\//, '')}`;
  return byFiles(endpoint, {
    files: ['caFile', 'certFile', 'keyFile'].map((field) => text(settings, `${at}.tls.${field}`)),
    volumes: field(settings, `${persistence}.addVolumes`),
    mounts: field(settings, `${persistence}.addVolumeMounts`),
    place,
  });
}

function asMilvus(settings: unknown, place: Place): Promise<Reading> {
  const file = field(settings, 'extraConfigFiles');
  const user: unknown = parse(isRecord(file) ? String(file['user.yaml']) : '');
  return byFiles(`https://${text(settings, 'externalEtcd.endpoints.0')}`, {
    files: ['tlsCACert', 'tlsCert', 'tlsKey'].map((name) => text(user, `etcd.ssl.${name}`)),
    volumes: field(settings, 'volumes'),
    mounts: field(settings, 'volumeMounts'),
    place,
  });
}

async function asApisix(settings: unknown, place: Place): Promise<Reading> {
  const tls = (name: string) => text(settings, `etcd.auth.tls.${name}`);
  const ssl = (name: string) => text(settings, `apisix.ssl.${name}`);
  const own = (secret: string, key: string) => entry(place, place.namespace, secret, key);
  const [ca, certificate, key] = await Promise.all([
    own(ssl('existingCASecret'), ssl('certCAFilename')),
    own(tls('existingSecret'), tls('certFilename')),
    own(tls('existingSecret'), tls('certKeyFilename')),
  ]);
  const { host, port } = addressOf(text(settings, 'externalEtcd.host.0'));
  return { host, port, serverName: tls('sni'), ca, certificate, key };
}

interface Files {
  readonly files: readonly string[];
  readonly volumes: unknown;
  readonly mounts: unknown;
  readonly place: Place;
}

async function byFiles(endpoint: string, { files, volumes, mounts, place }: Files): Promise<Reading> {
  const [ca = '', certificate = '', key = ''] = await Promise.all(
    files.map((file) => {
      const mount = records(mounts).find(({ mountPath }) => file.startsWith(`${mountPath}/`));
      const volume = mount && records(volumes).find(({ name }) => name === mount.name);
      if (!volume) throw new Error(`no volume is mounted where ${file} is`);
      return entry(place, place.namespace, text(volume, 'secret.secretName'), file.split('/').at(-1) ?? '');
    }),
  );
  return { ...addressOf(endpoint), ca, certificate, key };
}

function addressOf(endpoint: string): Pick<Reading, 'host' | 'port' | 'serverName'> {
  const { hostname, port } = new URL(endpoint);
  return { host: hostname, port: Number(port), serverName: hostname };
}

async function entry({ secret }: Pick<Place, 'secret'>, namespace: string, name: string, key: string): Promise<string> {
  const found = await secret(namespace, name);
  if (!found) throw new Error(`there is no Secret ${namespace}/${name}`);
  const data = found.data?.[key];
  if (!data) throw new Error(`Secret ${namespace}/${name} has no ${key}`);
  return Buffer.from(data, 'base64').toString();
}

function field(settings: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    const within = value as Readonly<Record<string, unknown>> | undefined;
    return isRecord(value) || Array.isArray(value) ? within?.[key] : undefined;
  }, settings);
}

function text(settings: unknown, path: string): string {
  const value = field(settings, path);
  if (typeof value !== 'string' || value === '') throw new Error(`${path} is not set`);
  return value;
}

function records(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
