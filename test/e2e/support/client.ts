import { once } from 'node:events';
import { connect } from 'node:net';
import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import type { Secret, Service } from '../../../manifests/kube-types.ts';
import { applicationSecretName } from '../../../manifests/render/certificate-names.ts';
import { urlOf } from '../../../manifests/render/hosts.ts';
import { type Kube, resources } from '../../../reconcile/interfaces/kube.ts';
import { until } from './until.ts';

/** What an application needs to reach a cluster: the Service, and the Secret that is made for it. */
export interface Access {
  readonly url: string;
  readonly serverName: string;
  /** Without a certificate of its own it is known to nobody. */
  readonly credentials?: {
    readonly rootCertificate: Buffer;
    readonly certChain?: Buffer;
    readonly privateKey?: Buffer;
  };
}

/**
 * As an application would get it: by the names that the documentation gives.
 *
 * Once somebody listens at the Service: what follows its endpoints learns of a ready member a moment after the member's
 * own cluster is Ready.
 */
export async function accessTo(kube: Kube, namespace: string, name: string): Promise<Access> {
  const access = await lookUpAccess(kube, namespace, name);
  const { hostname } = new URL(access.url);
  const host = hostname.replace(/^\[|\]$/g, '');
  await until(`Service ${namespace}/${name} is served`, () => listens(host, 2379), { within: 20 });
  return access;
}

/** As it is written down now, whether or not anybody listens there. */
export async function lookUpAccess(kube: Kube, namespace: string, name: string): Promise<Access> {
  const [cluster, service, secret] = await Promise.all([
    kube.get<EtcdCluster>(resources.clusters, namespace, name),
    kube.get<Service>(resources.services, namespace, name),
    kube.get<Secret>(resources.secrets, namespace, applicationSecretName(name)),
  ]);
  const plaintext = cluster?.spec.tls?.mode === 'Disabled';
  const serverName = `${name}.${namespace}.svc`;
  const url = urlOf(plaintext ? 'http' : 'https', service?.spec.clusterIP ?? '', 2379);
  if (plaintext) return { url, serverName };
  return { url, serverName, credentials: credentialsIn(secret) };
}

/** Of a client that mounts this Secret. */
export function credentialsIn(secret: Secret | undefined): NonNullable<Access['credentials']> {
  const data = (key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64');
  return { rootCertificate: data('ca.crt'), certChain: data('tls.crt'), privateKey: data('tls.key') };
}

/** @throws what became of the connection, when nobody does. */
async function listens(host: string, port: number): Promise<true> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(2000) });
    return true;
  } finally {
    socket.destroy();
  }
}

/** @param patience of one call, in milliseconds */
export function connectTo({ url, serverName, credentials }: Access, patience: number): Etcd3 {
  return new Etcd3({
    hosts: url,
    ...(credentials && { credentials }),
    // Dialled by the Service's address, because this process is in no pod; known by its name.
    grpcOptions: { 'grpc.ssl_target_name_override': serverName, 'grpc.use_local_subchannel_pool': 1 },
    faultHandling: { global: noop, host: () => noop },
    defaultCallOptions: () => ({ deadline: Date.now() + patience }),
  });
}
