import type { PodTemplate } from '../api/member-settings.ts';
import { didYouMean } from '../api/suggest.ts';
import { isRecord } from '../json.ts';
import { dataVolume, etcdContainer, group, labelsOf, recoveryContainers } from './names.ts';
import { notMergeable } from './pod-template-merge.ts';
import { tlsMountPath } from './tls-files.ts';

/** A member's own. */
export const ownVolumes = [dataVolume, 'peer-tls', 'server-tls'] as const;

/** In the pods of members, and of the Job of a recovery, which has the template's init containers as well. */
const ownContainers = [etcdContainer, recoveryContainers.setAside] as const;

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields of a `podTemplate` that no installer can allow, each with a reason. Identity, data and the seal are ours:
 * `podTemplate()` puts them back whatever the template says, and this says why a person's line had no effect.
 */
export function reservedIn(template: PodTemplate): string[] {
  const spec = template.spec ?? {};
  return [
    ...ourLabels(template),
    ...notMergeable(spec),
    ...['restartPolicy', 'hostname', 'subdomain', 'setHostnameAsFQDN'].flatMap((field) =>
      spec[field] === undefined ? [] : [`spec.${field}: it is fixed, because the member's address depends on it`],
    ),
    ...records(spec, 'containers').flatMap(([container, path]) =>
      container.name === etcdContainer ? reservedInEtcd(container, path) : [],
    ),
    ...records(spec, 'initContainers').flatMap(([{ name }, path]) =>
      ownContainers
        .filter((own) => own === name)
        .map((own) => `${path}: the container "${own}" is etcd-ratchet's own; choose another name`),
    ),
    ...records(spec, 'volumes').flatMap(([volume, path]) =>
      ownVolumes
        .filter((name) => name === volume.name)
        .map((name) => `${path}: the volume "${name}" is the member's own; choose another name`),
    ),
  ];
}

export const graceField = 'spec.terminationGracePeriodSeconds';

/** Where it is new it is refused by the rules, which know what the members have; documents only get a warning. */
export const byForce = `${graceField}: with 0 every deletion is by force, and a pod that is gone may still run on its node`;

export function endsByForce(template: PodTemplate | undefined): boolean {
  return template?.spec?.terminationGracePeriodSeconds === 0;
}

export function withoutGrace({ spec = {}, ...rest }: PodTemplate = {}): PodTemplate {
  const { terminationGracePeriodSeconds: _, ...others } = spec;
  return { ...rest, spec: others };
}

const ourPrefix = `${group}/`;
const ourKeys = Object.keys(labelsOf(''));

/** Whether we alone set a label or annotation: pods are found by some of them. */
export function isOurs(key: string): boolean {
  return key.startsWith(ourPrefix) || ourKeys.includes(key);
}

/** The same in CEL, of a variable `key`. */
export const isOursInCel = `(key.startsWith('${ourPrefix}') || key in [${ourKeys.map((key) => `'${key}'`).join(', ')}])`;

function ourLabels({ metadata }: PodTemplate): string[] {
  return Object.keys({ ...metadata?.labels, ...metadata?.annotations })
    .filter(isOurs)
    .map((key) => `metadata: ${key} is set by etcd-ratchet`);
}

function reservedInEtcd(container: Json, path: string): string[] {
  return [
    ...(container.command === undefined ? [] : [`${path}.command: etcd itself is run`]),
    ...(container.args === undefined ? [] : [`${path}.args: use spec.etcd and spec.etcd.extraArgs`]),
    ...(container.image === undefined ? [] : [`${path}.image: use spec.image and spec.version`]),
    ...(container.envFrom === undefined
      ? []
      : [`${path}.envFrom: it could bring etcd's own variables; list the variables one by one in env`]),
    ...records(container, 'env', path).flatMap(([{ name }, at]) =>
      typeof name === 'string' && name.startsWith('ETCD_')
        ? [`${at}: ${name} would be a flag of etcd; use spec.etcd`]
        : [],
    ),
    ...records(container, 'volumeMounts', path).flatMap(([mount, at]) =>
      ownVolumes.some((name) => name === mount.name) || overlaps(mount.mountPath)
        ? [`${at}: /var/lib/etcd and /etc/etcd/tls hold the member's data and certificates`]
        : [],
    ),
  ];
}

function overlaps(mountPath: unknown): boolean {
  if (typeof mountPath !== 'string') return false;
  const path = mountPath.replace(/\/+$/, '');
  return ['/var/lib/etcd', tlsMountPath].some(
    (ours) => `${ours}/`.startsWith(`${path}/`) || path.startsWith(`${ours}/`),
  );
}

/** The records of a list, each with its path. */
export function records(parent: Json, field: string, path = 'spec'): [Json, string][] {
  const list = parent[field];
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown, index): [Json, string][] =>
    isRecord(entry) ? [[entry, `${path}.${field}[${index}]`]] : [],
  );
}

/** Containers without an image, as fields with a reason. A misspelt `etcd` makes one: it patches nothing of ours. */
export function withoutImage(template: PodTemplate): string[] {
  const spec = template.spec ?? {};
  const missing = (field: 'containers' | 'initContainers', ours: readonly string[]) =>
    records(spec, field).flatMap(([{ name, image }, path]) =>
      image || (typeof name === 'string' && ours.includes(name))
        ? []
        : [`${path}.image: it is required${typeof name === 'string' ? didYouMean(name, ours) : ''}`],
    );
  return [...missing('containers', ['etcd']), ...missing('initContainers', [])];
}
