import type { EnvVar } from './wire.ts';

/**
 * Replaces `$(NAME)` by the value of a variable defined earlier; `$$` stands for `$`, and a reference to what is not
 * defined stays as it is (Kubernetes' third_party/forked/golang/expansion).
 */
export function expand(text: string, defined: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^)]*)\))/g, (whole, escaped: string, name: string | undefined) => {
    if (escaped === '$') return '$';
    return defined.get(name ?? '') ?? whole;
  });
}

/** Where values that are not written in the pod come from. A missing optional source is undefined. */
export type EnvSources = {
  configMap(name: string, optional: boolean): Promise<ReadonlyMap<string, string> | undefined>;
  secret(name: string, optional: boolean): Promise<ReadonlyMap<string, string> | undefined>;
  /** @throws Error when the pod has no such field. */
  field(path: string): string;
  resource(name: string, container: string | undefined, divisor: string | undefined): string;
};

/** What kubelet reports as CreateContainerConfigError and tries again. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type ValueFrom = NonNullable<EnvVar['valueFrom']>;
type EnvFrom = {
  prefix?: string;
  configMapRef?: { name?: string; optional?: boolean };
  secretRef?: { name?: string; optional?: boolean };
};

/**
 * The container's variables in kubelet's order: what the image and the services give, then `envFrom`, then `env`, the
 * later one winning.
 *
 * @throws ConfigError when a required ConfigMap, Secret or key is missing.
 */
export async function resolveEnv(
  base: ReadonlyMap<string, string>,
  container: { env?: EnvVar[]; envFrom?: EnvFrom[] },
  sources: EnvSources,
): Promise<Map<string, string>> {
  const env = new Map(base);
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? await sources.configMap(configMapRef.name ?? '', configMapRef.optional ?? false)
      : await sources.secret(secretRef?.name ?? '', secretRef?.optional ?? false);
    for (const [key, value] of data ?? []) env.set(prefix + key, value);
  }
  for (const { name, value, valueFrom } of container.env ?? []) {
    const resolved = valueFrom ? await resolveFrom(valueFrom, sources) : expand(value ?? '', env);
    if (resolved !== undefined) env.set(name, resolved);
  }
  return env;
}

async function resolveFrom(from: ValueFrom, sources: EnvSources): Promise<string | undefined> {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from;
  if (fieldRef) return sources.field(fieldRef.fieldPath);
  if (resourceFieldRef) {
    return sources.resource(resourceFieldRef.resource, resourceFieldRef.containerName, resourceFieldRef.divisor);
  }
  if (configMapKeyRef) return keyFrom('configmap', configMapKeyRef, sources.configMap);
  if (secretKeyRef) return keyFrom('secret', secretKeyRef, sources.secret);
  throw new ConfigError(`a source of environment variables that the process node does not know: ${Object.keys(from)}`);
}

async function keyFrom(
  kind: string,
  ref: { name?: string; key: string; optional?: boolean },
  read: EnvSources['configMap'],
): Promise<string | undefined> {
  const data = await read(ref.name ?? '', ref.optional ?? false);
  const value = data?.get(ref.key);
  if (value === undefined && !ref.optional)
    throw new ConfigError(`couldn't find key ${ref.key} in ${kind} ${ref.name}`);
  return value;
}
