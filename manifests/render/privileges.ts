import type { PodTemplate } from '../api/member-settings.ts';
import { isRecord } from '../json.ts';
import { etcdContainer } from './names.ts';
import { ownVolumes, records } from './pod-template-limits.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields of a `podTemplate` that would lend our privileges to its author, each with a reason. The author may have no
 * right to create pods, read Secrets or use a service account; we have. So this is stricter than Pod Security's
 * "restricted". Volume types are allowed by name: one that Kubernetes adds later is refused until it was looked at.
 */
export function privilegesIn(template: PodTemplate): string[] {
  const spec: Json = template.spec ?? {};
  return [
    ...unconfined(template),
    ...podFields(spec),
    ...securityContext(spec.securityContext, 'spec.securityContext'),
    ...records(spec, 'volumes').flatMap(([volume, path]) => volumeSource(volume, path)),
    ...['containers', 'initContainers', 'ephemeralContainers'].flatMap((field) =>
      records(spec, field).flatMap(([container, path]) => containerFields(container, path)),
    ),
  ];
}

function podFields(spec: Json): string[] {
  const unless = (field: string, allowed: readonly unknown[], why: string) =>
    allowed.includes(spec[field]) ? [] : [`spec.${field}: ${why}`];
  return [
    ...['hostNetwork', 'hostPID', 'hostIPC'].flatMap((field) =>
      unless(field, [undefined, null, false], "it enters the node's namespaces"),
    ),
    ...['serviceAccountName', 'serviceAccount'].flatMap((field) =>
      unless(field, [undefined, null, '', 'default'], 'the pod would act as another service account'),
    ),
    // Not `null` either: it would take our `false` away, and Kubernetes' default is the token.
    ...unless('automountServiceAccountToken', [undefined, false], "the pod would hold the service account's token"),
    ...unless('nodeName', [undefined, null, ''], 'it would go past the scheduler'),
    // By /proc, containers of one user read each other's files.
    ...unless(
      'shareProcessNamespace',
      [undefined, null, false],
      "it shows the member's data and keys to other containers",
    ),
    ...(typeof spec.priorityClassName === 'string' && spec.priorityClassName.startsWith('system-')
      ? ["spec.priorityClassName: it is for what the system needs, and evicts other people's pods"]
      : []),
  ];
}

/** How AppArmor was told before Kubernetes 1.30, which still heeds it; the name of a container follows. */
export const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';

function unconfined({ metadata }: PodTemplate): string[] {
  return Object.entries(metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(appArmorAnnotation) && value === 'unconfined')
    .map(([key]) => `metadata.annotations: ${key} lifts AppArmor`);
}

const allowedVolumeTypes: readonly string[] = ['emptyDir', 'configMap', 'downwardAPI', 'image'];

function volumeSource(volume: Json, path: string): string[] {
  return Object.keys(volume)
    .filter((key) => key !== 'name' && volume[key] !== null)
    .flatMap((type) => {
      if (allowedVolumeTypes.includes(type)) return [];
      if (type === 'projected')
        return isRecord(volume[type]) ? projectedSources(volume[type], `${path}.projected`) : [];
      return [`${path}.${type}: ${refusedVolumes[type] ?? 'this type of volume is not allowed'}`];
    });
}

const refusedVolumes: Readonly<Record<string, string>> = {
  hostPath: "it shows the node's files",
  secret: 'it shows a Secret',
  persistentVolumeClaim: "it shows another volume's data",
  // Its PVC template could clone any PVC of the namespace.
  ephemeral: "it may be a copy of another volume's data",
  csi: 'its driver may act with more rights than the pod',
};

function projectedSources(projected: Json, path: string): string[] {
  return records(projected, 'sources', path).flatMap(([source, at]) =>
    Object.keys(source)
      .filter((type) => type !== 'configMap' && type !== 'downwardAPI' && source[type] !== null)
      .map((type) => `${at}.${type}: it shows ${type === 'secret' ? 'a Secret' : 'credentials'}`),
  );
}

function containerFields(container: Json, path: string): string[] {
  return [
    ...securityContext(container.securityContext, `${path}.securityContext`),
    ...records(container, 'ports', path).flatMap(([port, at]) =>
      port.hostPort ? [`${at}.hostPort: it takes a port of the node`] : [],
    ),
    ...records(container, 'env', path).flatMap(([variable, at]) =>
      isRecord(variable.valueFrom) && variable.valueFrom.secretKeyRef ? [`${at}: it shows a Secret`] : [],
    ),
    ...records(container, 'envFrom', path).flatMap(([source, at]) =>
      source.secretRef ? [`${at}: it shows a Secret`] : [],
    ),
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) =>
      otherHost(container[probe], `${path}.${probe}`),
    ),
    ...['postStart', 'preStop'].flatMap((hook) =>
      isRecord(container.lifecycle) ? otherHost(container.lifecycle[hook], `${path}.lifecycle.${hook}`) : [],
    ),
    ...(container.name === etcdContainer ? [] : membersOwn(container, path)),
  ];
}

/** Pod Security calls it "host probes": the kubelet asks from its node's network. */
function otherHost(handler: unknown, path: string): string[] {
  if (!isRecord(handler)) return [];
  return ['httpGet', 'tcpSocket'].flatMap((how) => {
    const asked = handler[how];
    return isRecord(asked) && asked.host
      ? [`${path}.${how}.host: the kubelet would ask another host than the pod`]
      : [];
  });
}

/** Whose certificate it is must be who serves by it. */
function membersOwn(container: Json, path: string): string[] {
  return ['volumeMounts', 'volumeDevices'].flatMap((field) =>
    records(container, field, path).flatMap(([mount, at]) =>
      ownVolumes.some((name) => name === mount.name)
        ? [`${at}: the volume "${String(mount.name)}" holds the member's data or keys, and is etcd's alone`]
        : [],
    ),
  );
}

function securityContext(context: unknown, path: string): string[] {
  if (context === null) return [`${path}: null takes the protections away`];
  if (!isRecord(context)) return [];
  const { add: added, drop } = isRecord(context.capabilities) ? context.capabilities : {};
  const refused: readonly (readonly [field: string, refused: boolean, why: string])[] = [
    ['privileged', Boolean(context.privileged), 'a privileged container owns its node'],
    ['allowPrivilegeEscalation', Boolean(context.allowPrivilegeEscalation), 'it could become root'],
    ['runAsUser', context.runAsUser === 0, 'it runs as root'],
    ['runAsNonRoot', context.runAsNonRoot === false, 'it may run as root'],
    ['capabilities.add', Array.isArray(added) && added.length > 0, 'it adds rights on the node'],
    ['capabilities.drop', drop !== undefined && !(Array.isArray(drop) && drop.includes('ALL')), 'it must drop ALL'],
    ['procMount', ![undefined, null, 'Default'].includes(context.procMount as string), 'it uncovers /proc'],
    ['sysctls', Array.isArray(context.sysctls) && context.sysctls.length > 0, 'it changes the kernel'],
    ['seccompProfile', isUnconfined(context.seccompProfile), 'it lifts the system call filter'],
    ['appArmorProfile', isUnconfined(context.appArmorProfile), 'it lifts AppArmor'],
    ['seLinuxOptions', isRecord(context.seLinuxOptions), "it chooses the pod's SELinux label"],
    ['windowsOptions', isRecord(context.windowsOptions), 'etcd-ratchet runs no Windows pods'],
  ];
  const removed = Object.keys(context).filter((field) => context[field] === null && !identities.includes(field));
  return [
    ...refused.filter(([, holds]) => holds).map(([field, , why]) => `${path}.${field}: ${why}`),
    ...removed.map((field) => `${path}.${field}: null takes this protection away`),
  ];
}

/** Where the platform chooses users itself (OpenShift), our numbers are taken away with `null`. */
const identities: readonly string[] = [
  'runAsUser',
  'runAsGroup',
  'fsGroup',
  'fsGroupChangePolicy',
  'supplementalGroups',
];

function isUnconfined(profile: unknown): boolean {
  return isRecord(profile) && profile.type === 'Unconfined';
}
