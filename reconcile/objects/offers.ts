import { isOffered, type Named, offerCommand } from '../../manifests/render/offers.ts';
import { type Kube, type KubeObject, resources } from '../interfaces/kube.ts';

const resourceOf = {
  Secret: resources.secrets,
  ServiceAccount: resources.serviceAccounts,
  PersistentVolumeClaim: resources.volumeClaims,
} as const;

/**
 * Why what an author names can't be used: its owner does not offer it; `undefined`: all is offered. What is missing is
 * not offered, either: another person may make one of that name, and a Job would get it. @throws {KubeError}
 */
export async function problemOfOffers(
  kube: Pick<Kube, 'get'>,
  { namespace, named }: { readonly namespace: string | undefined; readonly named: readonly Named[] },
  signal: AbortSignal,
): Promise<string | undefined> {
  const problems = await Promise.all(
    named.map(async (one) => {
      const options = { signal, metadataOnly: true };
      const found = await kube.get<KubeObject>(resourceOf[one.kind], namespace, one.name, options);
      return found && isOffered(found.metadata) ? undefined : problemOf(namespace, one, found !== undefined);
    }),
  );
  return problems.find((problem) => problem !== undefined);
}

function problemOf(namespace: string | undefined, named: Named, isThere: boolean): string {
  const at = `${named.kind} ${namespace}/${named.name}`;
  const command = offerCommand(namespace, named);
  return isThere
    ? `${at} is not for backups: name another one, or let them use it: ${command}`
    : `there is no ${at}: create it and let backups use it: ${command}`;
}
