import type { EtcdBackup } from '../../../manifests/api/etcd-backup.ts';
import { type Kube, KubeError, resources } from '../../interfaces/kube.ts';
import { type Asked, judgeBackup } from '../know/backups/fitness.ts';
import type { NamedBackup } from '../know/observation.ts';

/** An EtcdBackup, read and judged. @throws {KubeError} for what may pass */
export async function readJudged(
  kube: Kube,
  namespace: string | undefined,
  asked: Asked,
  signal: AbortSignal,
): Promise<NamedBackup> {
  const { name } = asked;
  try {
    return judgeBackup(asked, await kube.get<EtcdBackup>(resources.backups, namespace, name, { signal }));
  } catch (error) {
    if (!(error instanceof KubeError) || error.class !== 'terminal') throw error;
    return { name, kind: 'unfit', why: `it cannot be read: ${error.message}` };
  }
}
