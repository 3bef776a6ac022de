import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { readCounters, readMetrics } from '../../../reconcile/clients/etcd-metrics.ts';
import { type Limit, limitOf } from '../../../reconcile/clients/limit.ts';
import type { MemberCounters, MemberMetrics, SlowAbove } from '../../../reconcile/interfaces/etcd.ts';

const lines = [
  '# HELP etcd_server_id Server or member ID in hexadecimal format. 1 for "server_id" label with current ID.',
  '# TYPE etcd_server_id gauge',
  'etcd_server_id{server_id="8e9e05c52164694d"} 1',
  'etcd_server_has_leader 0',
  'etcd_server_is_learner 0',
  'etcd_server_proposals_applied_total 1.234567e+06',
  'etcd_debugging_mvcc_current_revision 56634',
  'etcd_network_peer_round_trip_time_seconds_bucket{To="91bc3c398fb3c146",le="0.0001"} 2',
  'etcd_network_peer_round_trip_time_seconds_count{To="91bc3c398fb3c146"} 2',
  'etcd_network_peer_round_trip_time_seconds_count{To="fd422379fda50e48"} 2',
  'go_goroutines 100',
];
const text = (changed: readonly string[] = lines) => `${changed.join('\n')}\n`;
const instead = (name: string, ...by: readonly string[]) =>
  text(lines.flatMap((line) => (line.startsWith(name) ? by : [line])));

/** What becomes of the answer of a member that a tenant may have made. */
function answered(listener: RequestListener, ms = 5_000): Promise<MemberMetrics> {
  return asking(listener, readMetrics, ms);
}

async function asking<T>(
  listener: RequestListener,
  read: (endpoint: string, limit: Limit) => Promise<T>,
  ms = 5_000,
): Promise<T> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const limit = limitOf(undefined, ms);
  try {
    const { port } = server.address() as AddressInfo;
    return await limit.race(read(`http://127.0.0.1:${port}`, limit));
  } finally {
    limit.release();
    server.closeAllConnections();
    server.close();
  }
}

const saying = (body: string, status = 200) => answered((_, response) => response.writeHead(status).end(body));

test('a member tells its ID, how far it has applied, its revision, and the others', async () => {
  const told = {
    memberId: '8e9e05c52164694d',
    hasLeader: false,
    isLearner: false,
    applied: 1_234_567n,
    revision: 56_634n,
    others: ['91bc3c398fb3c146', 'fd422379fda50e48'],
  };
  assert.deepEqual(await saying(text()), told);
  const led = await saying(instead('etcd_server_has_leader', 'etcd_server_has_leader 1'));
  assert.deepEqual(led, { ...told, hasLeader: true });
  const bytewise = await answered(async (_, response) => {
    for (const byte of text()) response.write(byte);
    response.end();
  });
  assert.deepEqual(bytewise, told, 'wherever it is cut');
});

describe('no answer of etcd is', () => {
  const id = 'etcd_server_id{server_id="8e9e05c52164694d"} 1';
  const others = (count: number) =>
    Array.from({ length: count }, (_, n) => `etcd_network_peer_round_trip_time_seconds_count{To="${n + 1}"} 1`);
  for (const [what, body] of [
    ['an empty one', ''],
    ['a page', '<html>'],
    ['one without an ID', instead('etcd_server_id')],
    ['one with two IDs', instead('etcd_server_id', id, id.replace('8e', '9e'))],
    ['an ID that is none', instead('etcd_server_id', id.replace('8e9', '0x8e'))],
    ['an ID with more labels', instead('etcd_server_id', id.replace('} ', ',a="b"} '))],
    ['one that lacks a count', instead('etcd_server_proposals_applied_total')],
    ['a count that is there twice', text([...lines, 'etcd_server_proposals_applied_total 5'])],
    [
      'a count with a label',
      instead('etcd_debugging_mvcc_current_revision', 'etcd_debugging_mvcc_current_revision{a="1"} 5'),
    ],
    ['more members than a list may have', instead('etcd_network_peer_round_trip_time_seconds_count', ...others(65))],
    ['ten thousand of them', instead('etcd_network_peer_round_trip_time_seconds_count', ...others(5_000))],
    ...['-1', '1.5', '1e300', 'NaN', '+Inf', '0x10a', ''].map(
      (value) =>
        [
          `a count of "${value}"`,
          instead('etcd_server_proposals_applied_total', `etcd_server_proposals_applied_total ${value}`),
        ] as const,
    ),
  ] as const)
    test(what, async () => {
      await assert.rejects(saying(body), /the answer is not etcd’s/);
    });

  test('one of another status, nor where it redirects to', async () => {
    await assert.rejects(saying(text(), 503), /HTTP 503/);
    let asked = 0;
    const away: RequestListener = (_, response) => {
      asked += 1;
      response.writeHead(302, { location: '/elsewhere' }).end(text());
    };
    await assert.rejects(answered(away), /HTTP 302/);
    assert.equal(asked, 1);
  });
});

test('bytes without end, one line or many, are left after a megabyte', async () => {
  for (const part of ['x'.repeat(10_000), `${'x'.repeat(100)}\n`.repeat(100)]) {
    let sent = 0;
    const endless: RequestListener = (_, response) => {
      const more = () => {
        while (!response.destroyed) {
          sent += part.length;
          if (!response.write(part)) break;
        }
      };
      response.on('drain', more);
      more();
    };
    await assert.rejects(answered(endless), /larger than 1048576 bytes/);
    assert.ok(sent < 20_000_000, `${sent} bytes`);
  }
});

test('a member that sends a byte now and then is left when its time is over', async () => {
  const slow: RequestListener = (_, response) => {
    response.write('etcd_');
  };
  await assert.rejects(answered(slow, 200), /no end after 200 ms/);
});

describe('what a member has counted', () => {
  const histogram = (name: string, within: number, all: number) => [
    `${name}_bucket{le="0.256"} ${within - 1}`,
    `${name}_bucket{le="0.512"} ${within}`,
    `${name}_bucket{le="+Inf"} ${all}`,
    `${name}_sum 12.5`,
    `${name}_count ${all}`,
  ];
  const told = [
    'etcd_server_leader_changes_seen_total 3',
    'etcd_server_proposals_failed_total 7',
    ...histogram('etcd_disk_wal_fsync_duration_seconds', 990, 1000),
    ...histogram('etcd_disk_backend_commit_duration_seconds', 1_234_000, 1_234_567),
  ];
  const slow = { fsyncMs: 512, commitMs: 512 };
  const counting = (body: string, of: SlowAbove = slow): Promise<MemberCounters> =>
    asking(
      (_, response) => response.end(body),
      (endpoint, limit) => readCounters(endpoint, of, limit),
    );

  test('is told, with how many took longer than asked for', async () => {
    const all = { leaderChanges: 3, failedProposals: 7, fsyncs: 1000, commits: 1_234_567 };
    assert.deepEqual(await counting(text(told)), { ...all, slowFsyncs: 10, slowCommits: 567 });
    assert.deepEqual(await counting(text(told), {}), { ...all, slowFsyncs: 0, slowCommits: 0 });
  });

  for (const [what, body, of] of [
    ['one that lacks a count', text(told.slice(1)), slow],
    ['a bucket that it does not have', text(told), { fsyncMs: 500 }],
    ['a bucket that is there twice', text([...told, told[3] ?? '']), slow],
    ['more within a bound than there are', text(told).replace('_count 1000', '_count 10'), slow],
    ['a page', '<html>', {}],
  ] as const)
    test(`is no answer of etcd: ${what}`, async () => {
      await assert.rejects(counting(body, of), /the answer is not etcd’s/);
    });
});
