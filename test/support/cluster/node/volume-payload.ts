import type { Payload } from './atomic-writer.ts';
import type { ConfigMap, DownwardFile, KeyToPath, Secret, Volume, VolumeProjection } from './wire.ts';

/** Where the files of a volume come from. A missing object is undefined. */
export type PayloadSources = {
  configMap(name: string): Promise<ConfigMap | undefined>;
  secret(name: string): Promise<Secret | undefined>;
  token(projection: NonNullable<VolumeProjection['serviceAccountToken']>): Promise<string>;
  downward(file: DownwardFile): string;
};

/** Something that a volume needs is not there (yet): the pod waits and kubelet tries again. */
export class MountError extends Error {
  override readonly name = 'MountError';
}

type Files = Map<string, { content: Buffer; mode: number }>;
type Selection = { items?: KeyToPath[]; optional?: boolean };

/** The files of a volume that is made of API objects; undefined for any other kind of volume. @throws MountError */
export async function volumePayload(volume: Volume, sources: PayloadSources): Promise<Payload | undefined> {
  const files: Files = new Map();
  const { configMap, secret, downwardAPI, projected } = volume;
  if (configMap) {
    addAll(
      files,
      `configmap ${configMap.name}`,
      await configMapData(sources, configMap.name),
      configMap,
      configMap.defaultMode,
    );
  } else if (secret) {
    const { secretName = '', defaultMode } = secret;
    addAll(files, `secret ${secretName}`, await secretData(sources, secretName), secret, defaultMode);
  } else if (downwardAPI) {
    addDownward(files, downwardAPI.items, sources, downwardAPI.defaultMode);
  } else if (projected) {
    for (const source of projected.sources ?? []) await addProjection(files, source, sources, projected.defaultMode);
  } else {
    return undefined;
  }
  return files;
}

async function addProjection(
  files: Files,
  source: VolumeProjection,
  sources: PayloadSources,
  mode?: number,
): Promise<void> {
  const { configMap, secret, downwardAPI, serviceAccountToken } = source;
  if (configMap)
    addAll(files, `configmap ${configMap.name}`, await configMapData(sources, configMap.name), configMap, mode);
  if (secret) addAll(files, `secret ${secret.name}`, await secretData(sources, secret.name), secret, mode);
  if (downwardAPI) addDownward(files, downwardAPI.items, sources, mode);
  if (serviceAccountToken) {
    // Only its owner may read a token, whatever the volume's mode (kubelet: volume/projected).
    files.set(serviceAccountToken.path, {
      content: Buffer.from(await sources.token(serviceAccountToken)),
      mode: 0o600,
    });
  }
}

function addAll(
  files: Files,
  what: string,
  data: ReadonlyMap<string, Buffer> | undefined,
  { items, optional = false }: Selection,
  defaultMode = 0o644,
): void {
  if (!data) {
    if (!optional) throw new MountError(`${what} not found`);
    return;
  }
  const selected = items ?? [...data.keys()].map((key): KeyToPath => ({ key, path: key }));
  for (const { key, path, mode } of selected) {
    const content = data.get(key);
    if (content) files.set(path, { content, mode: mode ?? defaultMode });
    else if (!optional) throw new MountError(`${what} has no key ${key}`);
  }
}

function addDownward(
  files: Files,
  items: readonly DownwardFile[] = [],
  sources: PayloadSources,
  defaultMode = 0o644,
): void {
  for (const item of items) {
    files.set(item.path, { content: Buffer.from(sources.downward(item)), mode: item.mode ?? defaultMode });
  }
}

async function configMapData(sources: PayloadSources, name = ''): Promise<Map<string, Buffer> | undefined> {
  const object = await sources.configMap(name);
  if (!object) return undefined;
  const text = Object.entries(object.data ?? {}).map(([key, value]): [string, Buffer] => [key, Buffer.from(value)]);
  return new Map([...text, ...decoded(object.binaryData)]);
}

async function secretData(sources: PayloadSources, name = ''): Promise<Map<string, Buffer> | undefined> {
  const object = await sources.secret(name);
  return object && new Map(decoded(object.data));
}

export function decoded(data: Readonly<Record<string, string>> = {}): [string, Buffer][] {
  return Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')]);
}
