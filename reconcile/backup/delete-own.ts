import { isReason, type Kube, type Resource } from '../interfaces/kube.ts';

interface Named {
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string;
}

/** Deletes this very object, in the background. Another object of its name is left alone. @throws {KubeError} */
export async function deleteOwn(
  kube: Kube,
  resource: Resource,
  { namespace, name, uid = '' }: Named,
  signal: AbortSignal,
): Promise<void> {
  const options = { preconditions: { uid }, propagation: 'Background', signal } as const;
  try {
    await kube.delete(resource, namespace, name, options);
  } catch (error) {
    if (!isReason(error, 'Conflict')) throw error;
  }
}
