import { isPlainObject } from './plain-data.ts';
import type { Path, Problems } from './problem.ts';

/**
 * What a podTemplate may not have, because pods are made with our privileges, not with those of whoever writes an
 * EtcdCluster; and what would break the addresses or the seal that everything else relies on.
 *
 * `path` is where the template is. Pure, and without the schema library: the reconciler asks it too, because the API
 * server does not look into a preserved field.
 */
export function findLentPrivileges(template: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(template) || !isPlainObject(template.spec)) return;
  const spec = template.spec;
  const at = [...path, 'spec'];

  for (const [key, why] of Object.entries(refusedInPods)) {
    const value = own(spec, key);
    if (value !== undefined && value !== null && value !== false) problems.add([...at, key], `${why(key)}: remove it`);
  }
  if (own(spec, 'hostUsers') === true)
    problems.add([...at, 'hostUsers'], 'hostUsers: true shares the node’s users: remove it');

  for (const [index, volume] of entries(own(spec, 'volumes')))
    refuseVolume(volume, [...at, 'volumes', index], problems);
  refuseSecurityContext(own(spec, 'securityContext'), [...at, 'securityContext'], problems);
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [index, container] of entries(own(spec, list))) {
      refuseContainer(container, [...at, list, index], problems);
    }
  }
}

const node = (key: string) => `podTemplate may not set ${key}, which opens the node to the pod`;
const ours = (key: string) => `podTemplate may not set ${key}, which etcd-ratchet decides`;
const account = (key: string) =>
  `podTemplate may not set ${key}: members talk to no API server, and run as nobody else`;

const refusedInPods: Readonly<Record<string, (key: string) => string>> = {
  hostNetwork: node,
  hostPID: node,
  hostIPC: node,
  shareProcessNamespace: ours,
  nodeName: ours,
  hostname: ours,
  subdomain: ours,
  setHostnameAsFQDN: ours,
  restartPolicy: ours,
  activeDeadlineSeconds: ours,
  ephemeralContainers: ours,
  serviceAccountName: account,
  serviceAccount: account,
  automountServiceAccountToken: account,
};

function refuseVolume(volume: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(volume)) return;
  if (own(volume, 'hostPath') !== undefined) {
    problems.add([...path, 'hostPath'], 'podTemplate may not mount a hostPath: use an emptyDir or a claim');
  }
  const projected = own(volume, 'projected');
  for (const [index, source] of entries(isPlainObject(projected) ? own(projected, 'sources') : undefined)) {
    if (isPlainObject(source) && own(source, 'serviceAccountToken') !== undefined) {
      problems.add(
        [...path, 'projected', 'sources', index, 'serviceAccountToken'],
        `${account('serviceAccountToken')}`,
      );
    }
  }
}

function refuseContainer(container: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(container)) {
    problems.add(path, 'a container of the podTemplate must be an object with a name');
    return;
  }
  const name = own(container, 'name');
  if (typeof name !== 'string' || name === '') {
    problems.add([...path, 'name'], 'a container of the podTemplate needs its name: containers are merged by name');
  }
  if (name === 'etcd') {
    for (const [key, cure] of Object.entries(ownedInEtcd)) {
      if (own(container, key) !== undefined)
        problems.add([...path, key], `podTemplate may not set ${key} of container etcd: ${cure}`);
    }
  }
  for (const [index, port] of entries(own(container, 'ports'))) {
    if (isPlainObject(port) && own(port, 'hostPort')) {
      problems.add([...path, 'ports', index, 'hostPort'], 'podTemplate may not open a hostPort: use a Service');
    }
  }
  refuseSecurityContext(own(container, 'securityContext'), [...path, 'securityContext'], problems);
}

const ownedInEtcd: Readonly<Record<string, string>> = {
  image: 'use spec.image and spec.version',
  command: 'use spec.etcd',
  args: 'use spec.etcd.extraArgs',
  resources: 'use spec.resources',
};

function refuseSecurityContext(context: unknown, path: Path, problems: Problems): void {
  if (!isPlainObject(context)) return;
  for (const key of ['privileged', 'allowPrivilegeEscalation'] as const) {
    if (own(context, key) === true) problems.add([...path, key], `podTemplate may not set ${key}: true`);
  }
  if (own(context, 'runAsNonRoot') === false || own(context, 'runAsUser') === 0) {
    problems.add(path, 'podTemplate may not run as root: etcd does not need it');
  }
  if (own(context, 'sysctls') !== undefined) problems.add([...path, 'sysctls'], node('sysctls'));
  if (own(context, 'windowsOptions') !== undefined) problems.add([...path, 'windowsOptions'], node('windowsOptions'));

  const procMount = own(context, 'procMount');
  if (procMount !== undefined && procMount !== 'Default') problems.add([...path, 'procMount'], node('procMount'));

  const capabilities = own(context, 'capabilities');
  if (isPlainObject(capabilities) && entries(own(capabilities, 'add')).length > 0) {
    problems.add([...path, 'capabilities', 'add'], 'podTemplate may not add capabilities: etcd needs none');
  }
  for (const key of ['seccompProfile', 'appArmorProfile'] as const) {
    const profile = own(context, key);
    if (isPlainObject(profile) && own(profile, 'type') === 'Unconfined') {
      problems.add([...path, key], `podTemplate may not set ${key} to Unconfined`);
    }
  }
}

function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function entries(list: unknown): [number, unknown][] {
  return Array.isArray(list) ? [...list.entries()] : [];
}
