import { isSameRepository } from '../../gitops/forges/repository.ts';
import { isSameBranch, isSameRef, noCommit, type WebhookEvent } from '../../gitops/webhooks/receiver.ts';
import type { EtcdFleet } from '../../manifests/api/etcd-fleet.ts';

export type Meaning =
  /** `reason`: in a few words, for people who look at the Job. */
  { readonly kind: 'look'; readonly reason: string } | { readonly kind: 'nothing'; readonly because: string };

/** Of several refs, one that the fleet follows is enough. */
export function meaningOf({ spec }: EtcdFleet, events: readonly WebhookEvent[]): Meaning {
  if (spec.suspend) return { kind: 'nothing', because: 'the fleet is suspended' };
  const meanings = events.map((event) => meaningOfOne(spec.git, event));
  return (
    meanings.find(({ kind }) => kind === 'look') ??
    meanings[0] ?? { kind: 'nothing', because: 'the delivery reports no change' }
  );
}

function meaningOfOne({ url, ref }: EtcdFleet['spec']['git'], event: WebhookEvent): Meaning {
  switch (event.kind) {
    case 'ping':
      return { kind: 'nothing', because: 'a ping: deliveries arrive, and are verified' };
    case 'ignored':
      return { kind: 'nothing', because: event.because };
    case 'look':
      return { kind: 'look', reason: 'asked to look' };
    case 'request':
      if (isElsewhere(url, event.repositoryUrls)) return elsewhere;
      if (!isSameBranch(ref, event.target)) return otherRef(ref);
      return { kind: 'look', reason: `request ${event.number}` };
    case 'push':
      if (isElsewhere(url, event.repositoryUrls)) return elsewhere;
      if (!isSameRef(ref, event.ref)) return otherRef(ref);
      if (isNone(event.after)) return { kind: 'nothing', because: `${ref} was deleted: there is nothing to apply` };
      if (event.after !== '' && event.after === event.before)
        return { kind: 'nothing', because: `${ref} did not move` };
      return { kind: 'look', reason: /^[0-9a-f]{40}$/.test(event.after) ? `push ${event.after}` : 'push' };
  }
}

const elsewhere: Meaning = { kind: 'nothing', because: 'it is about another repository than spec.git.url' };

function otherRef(ref: string): Meaning {
  return { kind: 'nothing', because: `it is about another ref than ${ref}` };
}

/** A delivery that names no repository means the one of this address. */
function isElsewhere(url: string, told: readonly string[]): boolean {
  return told.length > 0 && !told.some((one) => isSameRepository(one, url));
}

/** Repositories with SHA-256 names have longer ones. */
function isNone(commit: string): boolean {
  return commit.length >= noCommit.length && /^0+$/.test(commit);
}
