import { isRecord } from '../json.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * The key by which entries of a PodSpec's list are told apart, by the list's path, as in Kubernetes' strategic merge
 * patch (`patchMergeKey` in core/v1). Other lists (`command`, `args`) are replaced as a whole, but for tolerations:
 * these have no key and are appended, since none can take another's effect away.
 */
const mergeKeys: Readonly<Record<string, string>> = {
  containers: 'name',
  initContainers: 'name',
  'containers.env': 'name',
  'initContainers.env': 'name',
  'containers.ports': 'containerPort',
  'initContainers.ports': 'containerPort',
  'containers.volumeMounts': 'mountPath',
  'initContainers.volumeMounts': 'mountPath',
  'containers.volumeDevices': 'devicePath',
  'initContainers.volumeDevices': 'devicePath',
  volumes: 'name',
  imagePullSecrets: 'name',
  hostAliases: 'ip',
  topologySpreadConstraints: 'topologyKey',
  schedulingGates: 'name',
  resourceClaims: 'name',
};

const appended: readonly string[] = ['tolerations'];

/** One of several, so that a new value must drop the old one: an env variable's, a volume's and a probe's source. */
const replacedWhole: readonly string[] = [
  'volumes[]',
  'containers.env[]',
  'initContainers.env[]',
  'containers.startupProbe',
  'containers.readinessProbe',
  'containers.livenessProbe',
];

/**
 * Merges a PodSpec over another, as `kubectl patch --type=strategic` would: field by field, lists with a merge key
 * entry by entry (ours first, in our order), other lists replaced; `null` takes a default away. Skips {@link
 * notMergeable}.
 */
export function mergePodSpec(base: object, over: Json): Json {
  return mergeRecords({ ...base }, over, '');
}

function mergeRecords(base: Json, over: Json, path: string): Json {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (value === undefined || !isMergeable(value, at)) continue;
    if (value === null) delete merged[key];
    else merged[key] = mergeValues(merged[key], value, at);
  }
  return merged;
}

function mergeValues(base: unknown, over: unknown, path: string): unknown {
  if (Array.isArray(base) && Array.isArray(over)) return mergeLists(base, over, path);
  if (isRecord(base) && isRecord(over) && !replacedWhole.includes(path)) return mergeRecords(base, over, path);
  return over;
}

function mergeLists(base: readonly unknown[], over: readonly unknown[], path: string): readonly unknown[] {
  if (appended.includes(path)) return [...base, ...over];
  const key = Object.hasOwn(mergeKeys, path) ? mergeKeys[path] : undefined;
  if (key === undefined) return over;

  const merged = [...base];
  for (const entry of over) {
    const index = merged.findIndex((other) => isRecord(entry) && isRecord(other) && other[key] === entry[key]);
    const replaces = replacedWhole.includes(`${path}[]`);
    if (index === -1) merged.push(entry);
    else merged[index] = replaces ? entry : mergeValues(merged[index], entry, path);
  }
  return merged;
}

/** Fields of a template's PodSpec that have not even the shape to be merged; empty when there are none. */
export function notMergeable(spec: Json): string[] {
  const fields = Object.keys(spec).filter((field) => spec[field] !== undefined && !isMergeable(spec[field], field));
  const containers = Array.isArray(spec.containers) ? spec.containers : [];
  const inContainers = containers.flatMap((container: unknown, index) =>
    isRecord(container)
      ? Object.keys(container)
          .filter((field) => !isMergeable(container[field], `containers.${field}`))
          .map((field) => `containers[${index}].${field}`)
      : [],
  );
  return [...fields, ...inContainers].map((field) => `spec.${field}: it must be a list of objects`);
}

/** The API keeps a PodSpec as it is, so a list may be anything there. Without containers there is no pod. */
function isMergeable(value: unknown, path: string): boolean {
  if (!Object.hasOwn(mergeKeys, path)) return true;
  if (value === null) return path !== 'containers';
  return Array.isArray(value) && value.every(isRecord);
}
