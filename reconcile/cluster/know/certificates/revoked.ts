import { isDeepStrictEqual } from 'node:util';
import { revokedSerials } from '../../../../manifests/render/revocations.ts';
import { type Defect, fatal } from '../../../x509/defect.ts';
import type { LeafFacts } from '../../../x509/inspect.ts';
import type { LeafView, Observation } from '../observation.ts';
import { tlsModeOf } from './wanted.ts';

type Seen = Pick<Observation, 'cluster' | 'certificates' | 'slots'>;

/** Whether the spec revokes this very certificate. */
export function isRevoked({ facts }: Pick<LeafView, 'facts'>, { cluster }: Pick<Observation, 'cluster'>): boolean {
  return facts?.serial !== undefined && revokedSerials(cluster).includes(facts.serial);
}

/**
 * Serial numbers that the spec revokes and that members would be asked with: of etcd-ratchet's own certificate, and of
 * those of servers, which a member's gateway shows to itself. etcd compares each certificate of a chain. Where
 * etcd-ratchet signs, each holder needs a new one first. `undefined`: not all certificates were read.
 */
export function revokedInUse(seen: Seen): readonly string[] | undefined {
  if (seen.certificates.kind !== 'read') return undefined;
  return [...new Set(shownAndRevoked(seen).map(({ serial }) => serial))].sort();
}

/** Told of each: it is left out of the list until another certificate is in use. */
export function revokedDefects(seen: Seen): readonly Defect[] {
  return shownAndRevoked(seen).map(({ secretName, serial }) =>
    fatal({
      reason: 'Revoked',
      secretName,
      key: 'tls.crt',
      problem: `holds the serial number ${serial}, which spec.tls.revokedClientSerials lists: members are not told of it`,
      cure: 'issue it again, or take it off the list',
    }),
  );
}

/** Whether the list that is there leaves out others than it should. */
export function leavesOutOthers({ shared, ...seen }: Seen & Pick<Observation, 'shared'>): boolean {
  const inUse = revokedInUse(seen);
  return inUse !== undefined && !isDeepStrictEqual(inUse, (shared.revocations.leftOut ?? []).toSorted());
}

function shownAndRevoked({ certificates, cluster, slots }: Seen) {
  const listed = new Set(revokedSerials(cluster));
  if (certificates.kind !== 'read' || listed.size === 0) return [];
  const signs = tlsModeOf(cluster, slots) === 'Managed';
  const { leaves, forMembersToCome = [] } = certificates;
  const own = leaves.flatMap(({ plan, facts, issued }) => {
    const isShown = plan.purpose === 'reconciler' || plan.purpose === 'server';
    const of = (name: string, found: LeafFacts | undefined, whole: boolean) => serialsOf(name, found, whole);
    return [
      ...(isShown || signs ? of(plan.secretName, facts, isShown) : []),
      ...(isShown && issued ? of(issued.name, issued.facts, true) : []),
    ];
  });
  const others = forMembersToCome.flatMap(({ name, facts }) => serialsOf(name, facts, true));
  return [...own, ...others].filter(({ serial }) => listed.has(serial));
}

function serialsOf(secretName: string, facts: LeafFacts | undefined, whole: boolean) {
  const shown = facts ? [facts, ...(whole ? facts.intermediates : [])] : [];
  return shown.flatMap(({ serial }) => (serial === undefined ? [] : [{ secretName, serial }]));
}
