import { isDeepStrictEqual } from 'node:util';
import type { EtcdCluster } from '../../../manifests/api/etcd-cluster.ts';
import { backupBeforeName } from '../../../manifests/render/backup-before.ts';
import { type Authority, authoritySecretName } from '../../../manifests/render/certificate-names.ts';
import { backupAhead } from '../know/backups/ahead.ts';
import { orderFor } from '../know/certificates/order.ts';
import { tlsModeOf, wantedLeaves } from '../know/certificates/wanted.ts';
import type { AuthorityView, Certificates, LeafView, Observation, SharedView } from '../know/observation.ts';
import { namesAllowedIn, withLeavesOf } from './leaves.ts';
import { type Plan, plan } from './plan.ts';

/** A cluster as it is to be: its spec with the API's defaults; and what a document says of labels and annotations. */
export type Desired = Pick<EtcdCluster, 'spec'> & { readonly metadata: Partial<EtcdCluster['metadata']> };

/**
 * The steps that a commit would cause, were it applied now.
 *
 * @param desired `undefined`: the resource is deleted
 */
export function planChange(observation: Observation, desired: Desired | undefined): Plan {
  return plan(desired ? withDesired(observation, desired) : withDeletion(observation));
}

/** The observation of a cluster without any objects. Its spec has the API's defaults. */
export function nothingOf(cluster: EtcdCluster, { at, nonce }: Pick<Observation, 'at' | 'nonce'>): Observation {
  const missing = { state: 'missing' } as const;
  const created = asCreated(cluster);
  return {
    at,
    nonce,
    cluster: created,
    slots: [],
    shared: {
      headlessService: missing,
      clientService: missing,
      disruptionBudget: missing,
      networkPolicy: missing,
      externalService: missing,
      revocations: missing,
    },
    certificates: noCertificates(created, at),
    membership: { kind: 'unknown', cause: 'no member runs' },
    lease: { kind: 'free' },
  };
}

/** As the API server would store it. */
export function asCreated(cluster: EtcdCluster): EtcdCluster {
  return { ...cluster, metadata: { generation: 1, uid: 'to-be-created', ...cluster.metadata } };
}

/** The live cluster, as it is seen when this spec has taken the place of its own. */
export function withDesired(observation: Observation, { spec, metadata }: Desired): Observation {
  const before = observation.cluster;
  const changed = {
    ...before,
    spec,
    metadata: {
      ...before.metadata,
      labels: { ...before.metadata.labels, ...metadata.labels },
      annotations: { ...before.metadata.annotations, ...metadata.annotations },
      generation: (before.metadata.generation ?? 0) + (isDeepStrictEqual(before.spec, spec) ? 0 : 1),
    },
  };
  const planned = { ...observation, cluster: changed, shared: withSharedAhead(observation, spec) };
  return replanned(withBackupAhead(planned, before), before);
}

/** Objects that are made from the spec alone, and were right, may now be wrong. */
function withSharedAhead({ shared, cluster }: Observation, spec: EtcdCluster['spec']): Observation['shared'] {
  const after = (view: SharedView, madeFrom: (spec: EtcdCluster['spec']) => unknown): SharedView =>
    view.state === 'present' && !isDeepStrictEqual(madeFrom(cluster.spec), madeFrom(spec))
      ? { state: 'drifted' }
      : view;
  return {
    ...shared,
    networkPolicy: after(shared.networkPolicy, ({ networkPolicy }) => networkPolicy),
    externalService: after(shared.externalService, ({ service }) => service),
    revocations: after(shared.revocations, ({ tls }) => tls?.revokedClientSerials),
  };
}

/** Of the same wish it is the same one. Of another there is none: at worst the plan has a step too many. */
function withBackupAhead(observation: Observation, before: EtcdCluster): Observation {
  const { awaitedBackup, ...rest } = observation;
  const wish = backupAhead(rest);
  if (wish === undefined) return rest;
  const asked = backupAhead({ ...rest, cluster: before });
  const name = backupBeforeName(rest.cluster, wish);
  if (awaitedBackup && asked && backupBeforeName(before, asked) === name) return observation;
  return { ...rest, awaitedBackup: { kind: 'missing', before: wish.before, name, wish } };
}

function withDeletion(observation: Observation): Observation {
  const { metadata } = observation.cluster;
  const deletionTimestamp = metadata.deletionTimestamp ?? observation.at.toISOString();
  const cluster = { ...observation.cluster, metadata: { ...metadata, deletionTimestamp } };
  return metadata.deletionTimestamp === undefined
    ? withBackupAhead({ ...observation, cluster }, observation.cluster)
    : observation;
}

/** Certificates that were sound may by now be made out to the wrong names, or of the wrong issuer. */
function replanned(observation: Observation, before: EtcdCluster): Observation {
  const { certificates, cluster, slots, nameAllowances } = observation;
  const mode = tlsModeOf(cluster, slots);
  if (mode !== tlsModeOf(before, slots))
    return withLeavesOf({ ...observation, certificates: noCertificates(cluster, observation.at) });
  if (certificates.kind !== 'read') return observation;
  const plans = wantedLeaves(cluster, slots, mode, namesAllowedIn(certificates, nameAllowances));
  const leaves = certificates.leaves.map((leaf): LeafView => {
    const wanted = plans.find(({ secretName }) => secretName === leaf.plan.secretName) ?? leaf.plan;
    const asked = orderFor(before, slots, leaf.plan);
    const isSame = isDeepStrictEqual(wanted, leaf.plan) && isDeepStrictEqual(orderFor(cluster, slots, wanted), asked);
    const planned = isDeepStrictEqual(wanted, leaf.plan) ? leaf : { ...leaf, plan: wanted };
    const { issued } = planned;
    if (isSame || issued?.certificate?.state !== 'ours') return planned;
    return { ...planned, issued: { ...issued, certificate: { ...issued.certificate, current: false } } };
  });
  return withLeavesOf({ ...observation, certificates: { ...certificates, leaves } });
}

function noCertificates(cluster: EtcdCluster, at: Date): Certificates {
  const mode = tlsModeOf(cluster, []);
  if (mode === 'Disabled') return { kind: 'none' };
  const missing = (which: Authority): AuthorityView => ({
    name: authoritySecretName(cluster.metadata.name, which),
    state: 'missing',
  });
  const read: Certificates = {
    kind: 'read',
    authorities: mode === 'Managed' ? { peer: missing('peer'), client: missing('client') } : {},
    leaves: [],
    ...(mode === 'CertManager' && { certManager: { kind: 'known' } }),
  };
  return withLeavesOf({ cluster, slots: [], certificates: read, at }).certificates;
}
