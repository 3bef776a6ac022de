import type { Mutant } from '../mutant.ts';

const guards = 'test/unit/cluster/actions/certificates.test.ts';
const trusted = 'test/unit/cluster/actions/make-authorities.test.ts';

/** What an action about certificates looks at again just before it acts, and what its writes carry. */
export const ofCertificates: readonly Mutant[] = [
  {
    file: 'reconcile/cluster/act/requests/authorities.ts',
    from: 'if (found && !found.ours) throw',
    to: 'if (found === null) throw',
    without: "another's Secret is written over as if it were a CA of ours",
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/requests/leaves.ts',
    from: 'if (found && !found.current) throw',
    to: 'if (found === null) throw',
    without: "another's Secret is written over as if it were a leaf of ours",
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/requests/leaves.ts',
    from: 'if (peer.uid !== peerUid) throw',
    to: 'if (peer === null) throw',
    without: 'a leaf is given to a peer that was made anew',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/make-authorities.ts',
    from: ' && found.record.token === token) return;',
    to: ') return;',
    without: 'the CA of an earlier birth signs for this one',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/make-authorities.ts',
    from: 'one && !one.foreign ?',
    to: 'one ?',
    without: "members are told to trust what another's Secret says",
    killers: [trusted],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/make-authorities.ts',
    from: 'authority.isAuthority && !hasEnded(authority, at)',
    to: '!hasEnded(authority, at)',
    without: 'a leaf among the CAs to trust spoils the whole bundle',
    killers: [trusted],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/make-authorities.ts',
    from: "someLoadedAnother ? 'stranger' : undefined",
    to: 'undefined',
    without: 'members that run are not told that they trust another CA than the new one',
    killers: [trusted],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/issue-leaves.ts',
    from: 'if (!authority?.facts) throw',
    to: 'if (!authority) throw',
    without: 'a CA signs that cannot sign',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/rotate-authorities.ts',
    from: 'found.facts.trust.length > 1 || ',
    to: '',
    without: 'a CA is followed by the next while members still move to it',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/note-served.ts',
    from: 'if (record.servedSince !== undefined) continue;',
    to: '',
    without: 'clients get the overlap again and again',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/delete-authorities.ts',
    from: 'if (!cluster.deleting) throw',
    to: "if (cluster.name === '') throw",
    without: 'the CAs of a cluster go that stays',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/delete-authorities.ts',
    from: ' && found?.ours && found.uid === uid)',
    to: ' && found)',
    without: "another's Secret is deleted as if it were a CA of ours",
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/request-certificates.ts',
    from: "if (secret?.state === 'foreign') throw",
    to: "if (secret?.state === undefined && name === '') throw",
    without: "cert-manager takes over another's Secret",
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/hand-over-certificates.ts',
    from: 'found?.facts?.keyMatches && found.facts.fingerprint === fingerprint',
    to: 'found?.facts?.keyMatches',
    without: 'a leaf is handed over that was issued since, and never judged',
    killers: [guards],
  },
  {
    file: 'reconcile/cluster/act/actions/certificates/hand-over-certificates.ts',
    from: 'if (!facts) throw',
    to: 'if (!facts) return [...known.values()][0] as CertificateFacts;\n    if (!fingerprint) throw',
    without: 'leaves are handed over beside other CAs than were judged',
    killers: [guards],
  },
];
