import type { Mutant } from '../mutant.ts';

/** Triggers, chains of follow-ups, the server, and what runs before a recovery. */
export const ofFunctions: readonly Mutant[] = [
  {
    file: 'functions/pass/follow-up/chain.ts',
    from: ': one.chain < other.chain;',
    to: ': one.chain > other.chain;',
    without: 'of two chains the later one goes on',
    killers: ['test/unit/functions/chain.test.ts'],
  },
  {
    file: 'functions/set-aside.ts',
    from: 'if (ran.some((number) => number >= attempt)) {',
    to: 'if (ran.some((number) => number < attempt)) {',
    without: 'an attempt of a recovery runs though it, or a later one, has run',
    killers: ['test/unit/functions/set-aside.test.ts'],
  },
  {
    file: 'functions/set-aside.ts',
    from: '  await flushed(volume);\n',
    to: '',
    without: 'the mark of an attempt is not on the disk when etcd is told to forget the others',
    killers: ['test/unit/functions/set-aside-disk.test.ts'],
  },
  {
    file: 'functions/set-aside.ts',
    from: 'if (free < size + reserve) {',
    to: 'if (free < 0) {',
    without: 'the data are copied though the volume has no room for a copy',
    killers: ['test/unit/functions/set-aside-disk.test.ts'],
  },
  {
    file: 'functions/pass/read-only.ts',
    from: 'readOnly(kube.as(serviceAccount))',
    to: 'kube.as(serviceAccount)',
    without: 'as a service account, what may only read may write',
    killers: ['test/unit/functions/read-only.test.ts'],
  },
  {
    file: 'functions/serve/gate.ts',
    from: "came === 'body' && inside >= requests ? 'busy' : came",
    to: "came === 'body' && inside < requests ? 'busy' : came",
    without: 'of many whose bodies are there at once, more get in than there are places',
    killers: ['test/unit/serve/gate.test.ts'],
  },
  {
    file: 'functions/serve/hand-over.ts',
    from: 'const isLate = under >= atOnce || prior',
    to: 'const isLate = under < atOnce || prior',
    without: 'each delivery of a burst makes a Job of its own',
    killers: ['test/unit/serve/webhooks.test.ts'],
  },
  {
    file: 'functions/checks/ledger.ts',
    from: 'if (!isDeepStrictEqual(now, before)) return [',
    to: 'if (isDeepStrictEqual(now, before)) return [',
    without: 'a verdict that two have told the forge is not in doubt',
    killers: ['test/unit/checks/ledger.test.ts'],
  },
  {
    file: 'functions/pass/wake.ts',
    from: "if (outcome === 'lost' || outcome === 'failed') return [{ on: 'time', afterSeconds: retrySeconds }];",
    to: '',
    without: 'a cluster whose claim another invocation won, or whose step failed, is not looked at again soon',
    killers: ['test/unit/functions/wake.test.ts'],
  },
  {
    file: 'functions/page/access.ts',
    from: ' && status.denied !== true',
    to: '',
    without: 'who is allowed by one authorizer and denied by another sees the page',
    killers: ['test/unit/page/access.test.ts'],
  },
  {
    file: 'functions/fleet-secret.ts',
    from: '  return metadata.labels?.[labels.fleetSecret] === shared;',
    to: '  return true;',
    without: 'a fleet has a Secret sent that its owner has not shared',
    killers: ['test/unit/serve/webhooks.test.ts'],
  },
];
