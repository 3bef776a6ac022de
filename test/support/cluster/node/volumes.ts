import { mkdir, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import type { Api } from './api.ts';
import { writePayload } from './atomic-writer.ts';
import { fitFileSystem } from './bounded-volume.ts';
import { containerResource, type PodPlace, podField } from './downward.ts';
import { expand } from './env.ts';
import type { Bind } from './mounts.ts';
import { found, type ObjectCache } from './object-cache.ts';
import { createTokens } from './tokens.ts';
import { MountError, type PayloadSources, volumePayload } from './volume-payload.ts';
import {
  type Claim,
  type ConfigMap,
  type Container,
  corePath,
  type PersistentVolume,
  type Pod,
  type Secret,
  type Volume,
  type VolumeMount,
} from './wire.ts';

export type VolumeContext = {
  readonly api: Api;
  readonly objects: ObjectCache;
  readonly allocatable: Readonly<Record<string, string>>;
  readonly unmountable: ReadonlySet<string>;
  readonly hostPaths: Readonly<Record<string, string>>;
  onClaimMounted(key: string, by: 1 | -1): void;
};

export type PodVolumes = {
  /** Makes every volume of the pod present. @throws MountError when one can't be yet. */
  prepare(place: PodPlace): Promise<void>;
  /** Brings files made of API objects up to date with the (newer) pod, its objects and tokens. */
  refresh(pod: Pod, place: PodPlace): Promise<void>;
  /** Milliseconds until a token is to be renewed. */
  dueInMs(): number | undefined;
  /**
   * What to bind into a container's root, outer paths first. @throws MountError for a subPath that leaves its volume.
   */
  binds(container: Container, env: ReadonlyMap<string, string>): Promise<Bind[]>;
  /** The pod uses them no more. */
  release(): void;
};

export function createPodVolumes(context: VolumeContext, firstPod: Pod, directory: string): PodVolumes {
  const { api } = context;
  const { namespace } = firstPod.metadata;
  const volumes = firstPod.spec.volumes ?? [];
  const paths = new Map<string, string>();
  const tokens = createTokens(api, firstPod);
  let mounted = false;

  function countUsers(by: 1 | -1): void {
    for (const volume of volumes) {
      const name = claimOf(firstPod, volume);
      if (name !== undefined) context.onClaimMounted(`${namespace}/${name}`, by);
    }
  }

  function sources(pod: Pod, place: PodPlace): PayloadSources {
    return {
      configMap: (name) => context.objects.get<ConfigMap>(pod, 'configmaps', name),
      secret: (name) => context.objects.get<Secret>(pod, 'secrets', name),
      token: (projection) => tokens.get(projection),
      downward: ({ fieldRef, resourceFieldRef }) => {
        if (fieldRef) return podField(pod, place, fieldRef.fieldPath);
        const { resource = '', containerName = '', divisor } = resourceFieldRef ?? {};
        return containerResource(pod, context.allocatable, { resource, container: containerName, divisor });
      },
    };
  }

  async function place(volume: Volume, pod: Pod, at: PodPlace): Promise<string> {
    const claimName = claimOf(pod, volume);
    if (claimName !== undefined) return claimPath(claimName);
    if (volume.hostPath) return context.hostPaths[volume.hostPath.path] ?? volume.hostPath.path;
    const path = join(directory, 'volumes', volume.name);
    const payload = await volumePayload(volume, sources(pod, at));
    if (payload) await writePayload(path, payload);
    else if (volume.emptyDir) await mkdir(path, { recursive: true });
    else throw new MountError(`volume ${volume.name}: the process node does not know this kind of volume`);
    return path;
  }

  async function claimPath(name: string): Promise<string> {
    // Live, as kubelet does: a PVC that was made anew under its name would be taken for the one before.
    const claim = await found(api.get<Claim>(corePath(namespace, 'persistentvolumeclaims', name)));
    if (!claim) throw new MountError(`persistentvolumeclaim "${name}" not found`);
    const bound = claim.spec?.volumeName;
    const volume = bound && (await found(api.get<PersistentVolume>(`/api/v1/persistentvolumes/${bound}`)));
    if (claim.status?.phase !== 'Bound' || !volume)
      throw new MountError(`persistentvolumeclaim "${name}" is not bound`);
    if (context.unmountable.has(`${namespace}/${name}`)) {
      const words = 'wrong fs type, bad option, bad superblock, missing codepage or helper program, or other error';
      throw new MountError(
        `MountVolume.MountDevice failed for volume "${volume.metadata.name}" : mount failed: ${words}`,
      );
    }
    const path = volume.spec?.local?.path ?? volume.spec?.hostPath?.path;
    if (path === undefined) throw new MountError(`volume ${volume.metadata.name} is neither local nor hostPath`);
    await stat(path).catch(() => {
      throw new MountError(
        `MountVolume.NewMounter initialization failed for volume "${volume.metadata.name}": path "${path}" does not exist`,
      );
    });
    await fitFileSystem(volume);
    return path;
  }

  async function bindOf(mount: VolumeMount, env: ReadonlyMap<string, string>): Promise<Bind> {
    const path = paths.get(mount.name);
    if (path === undefined) throw new MountError(`volume ${mount.name} is not in the pod`);
    const subPath = mount.subPathExpr === undefined ? (mount.subPath ?? '') : expand(mount.subPathExpr, env);
    const source = join(path, subPath);
    if (normalize(subPath).split('/').includes('..')) throw new MountError(`subPath ${subPath} leaves its volume`);
    if (subPath !== '') {
      // A missing subPath is made as a directory, as kubelet does.
      await stat(source).catch(() => mkdir(source, { recursive: true, mode: 0o750 }));
    }
    return { source, target: normalize(`/${mount.mountPath}`).replace(/\/$/, ''), readOnly: mount.readOnly ?? false };
  }

  return {
    prepare: async (at) => {
      if (mounted) return;
      for (const volume of volumes) {
        if (!paths.has(volume.name)) paths.set(volume.name, await place(volume, firstPod, at));
      }
      mounted = true;
      countUsers(1);
    },
    release: () => {
      if (mounted) countUsers(-1);
      mounted = false;
    },
    refresh: async (pod, at) => {
      if (!mounted) return;
      for (const volume of volumes) {
        const path = paths.get(volume.name);
        if (path === undefined) continue;
        const payload = await volumePayload(volume, sources(pod, at));
        if (payload) await writePayload(path, payload);
      }
    },
    dueInMs: () => {
      const at = tokens.renewAt();
      return at === undefined ? undefined : Math.max(0, at - Date.now());
    },
    binds: async (container, env) => {
      const binds: Bind[] = [];
      for (const mount of container.volumeMounts ?? []) binds.push(await bindOf(mount, env));
      return binds.sort((a, b) => a.target.split('/').length - b.target.split('/').length);
    },
  };
}

function claimOf(pod: Pod, volume: Volume): string | undefined {
  if (volume.ephemeral) return `${pod.metadata.name}-${volume.name}`;
  return volume.persistentVolumeClaim?.claimName;
}

/** Whether a volume of the pod shows this ConfigMap or Secret. */
export function mountsObject({ spec: { volumes = [] } }: Pod, kind: 'configMap' | 'secret', name: string): boolean {
  return volumes.some(({ configMap, secret, projected }) => {
    const direct = kind === 'configMap' ? configMap?.name : secret?.secretName;
    return direct === name || (projected?.sources ?? []).some((source) => source[kind]?.name === name);
  });
}
