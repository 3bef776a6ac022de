import type { Question } from '../../../functions/page/access.ts';
import type { Kube, KubeObject, Resource } from '../../../reconcile/interfaces/kube.ts';

export interface Reviewers {
  /** By token: who that is. */
  readonly users: Readonly<Record<string, { readonly username?: string; readonly groups?: readonly string[] }>>;
  /** By user. */
  readonly allows?: (username: string, question: Question) => boolean;
  /** Of whom the API server also says that an authorizer denied it: it does where one allows and another forbids. */
  readonly denies?: (username: string) => boolean;
  /** Which audiences the API server says a token is for. */
  readonly audiences?: readonly string[];
  /** Runs before each answer. */
  readonly before?: (resource: Resource) => void | Promise<void>;
}

export interface ReviewingKube extends Kube {
  readonly asked: { readonly plural: string; readonly spec: Record<string, unknown> }[];
}

/** An API server that also answers reviews. */
export function reviewing(
  kube: Kube,
  { users, allows = () => true, denies = () => false, audiences, before }: Reviewers,
): ReviewingKube {
  const asked: ReviewingKube['asked'] = [];
  return {
    ...kube,
    asked,
    create: async <T extends KubeObject>(resource: Resource, object: T): Promise<T> => {
      const { spec, metadata } = object as unknown as {
        spec: { token?: string; user?: string; resourceAttributes?: Question & { group: string } };
        metadata: { name: string };
      };
      // The real one refuses a review that has a name.
      if (metadata.name !== '') throw new Error('metadata must be empty');
      asked.push({ plural: resource.plural, spec: { ...spec } });
      await before?.(resource);
      if (resource.plural === 'tokenreviews') {
        const user = users[spec.token ?? ''];
        return { ...object, status: user ? { authenticated: true, user, audiences } : { authenticated: false } };
      }
      if (!spec.resourceAttributes || resource.plural !== 'subjectaccessreviews') throw new Error(resource.plural);
      const user = spec.user ?? '';
      return { ...object, status: { allowed: allows(user, spec.resourceAttributes), denied: denies(user) } };
    },
  };
}
