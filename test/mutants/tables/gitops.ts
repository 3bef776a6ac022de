import type { Mutant } from '../mutant.ts';

/** What is read from Git, told to forges, and believed of webhooks. */
export const ofGitops: readonly Mutant[] = [
  {
    file: 'gitops/git/http.ts',
    from: 'if (redirects === maxRedirects) {',
    to: 'if (redirects < 0) {',
    without: 'redirects are followed without end',
    killers: ['test/unit/gitops/redirects.test.ts'],
  },
  {
    file: 'gitops/specs/specs.ts',
    from: '      complete = false;\n',
    to: '      complete = true;\n',
    without: 'a tree with a document of no name counts as read whole, so that clusters may be pruned (I8)',
    killers: ['test/unit/gitops/find-specs.test.ts'],
  },
  {
    file: 'gitops/specs/specs.ts',
    from: 'if (only && same.length === 1 && only.problems.length === 0)',
    to: 'if (only && same.length === 1 && only.problems.length !== 0)',
    without: 'broken documents are specs, and sound ones are not',
    killers: ['test/unit/gitops/find-specs.test.ts'],
  },
  {
    file: 'gitops/merge/merge-trees.ts',
    from: 'if (isSame(before, theirs)) return ours;',
    to: 'if (!isSame(before, theirs)) return ours;',
    without: 'a merge keeps our side where theirs has changed too',
    killers: ['test/unit/gitops/merge-trees.test.ts'],
  },
  {
    file: 'gitops/statuses/report.ts',
    from: "stopped = error.class !== 'status';",
    to: "stopped = error.class === 'status';",
    without: 'a rejected status stops the next one, and a forge that is away does not',
    killers: ['test/unit/gitops/report.test.ts'],
  },
  {
    file: 'gitops/statuses/report.ts',
    from: "if (error.class !== 'retry' || attempts === maxAttempts) return error;",
    to: "if (error.class === 'retry' || attempts === maxAttempts) return error;",
    without: 'what may pass is not tried again, and what is final is',
    killers: ['test/unit/gitops/report.test.ts'],
  },
  {
    file: 'gitops/git/wire/pack-entries.ts',
    from: "if (entry.type === 'delta') count(",
    to: "if (entry.type !== 'delta') count(",
    without: 'what a delta makes does not count against the bound',
    killers: ['test/unit/gitops/pack.test.ts'],
  },
  {
    file: 'gitops/forges/one-comment.ts',
    from: 'comment.ours && comment.body.startsWith(marker)',
    to: '!comment.ours && comment.body.startsWith(marker)',
    without: 'the comment of another author is taken for ours',
    killers: ['test/unit/gitops/forges/one-comment.test.ts'],
  },
  {
    file: 'gitops/webhooks/proof.ts',
    from: 'secrets.filter((secret) => secret.length > 0)',
    to: 'secrets.filter(() => true)',
    without: 'a webhook that is signed with the empty secret is believed',
    killers: ['test/unit/webhooks/receivers.test.ts'],
  },
  {
    file: 'gitops/net/egress.ts',
    from: '        ({ address }) => !isApiServer(address, url, egress) && (isLocal || !isForbidden(address, egress)),',
    to: '        ({ address }) => !isApiServer(address, url, egress),',
    without: 'a name may lead to this machine once it is looked up',
    killers: ['test/unit/gitops/egress.test.ts'],
  },
  {
    file: 'gitops/net/egress.ts',
    from: '  return meantBy(asked).some((one) => wanted.includes(one));',
    to: '  return wanted.includes(unbracketed(asked));',
    without: 'the API server is asked by a mapped or translated address',
    killers: ['test/unit/gitops/egress.test.ts'],
  },
];
