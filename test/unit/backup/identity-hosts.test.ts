import assert from 'node:assert/strict';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { EgressError, strictEgress } from '../../../manifests/egress/egress.ts';
import { forToken, guardConnections } from '../../../reconcile/backup/stores/guard.ts';
import { openers } from '../../../reconcile/backup/stores/openers.ts';

/** Pods get their identities at these hosts, on port 80. What else listens there is nothing to a store's client. */
const hosts = [
  ['gs', 'metadata.google.internal'],
  // As Google's client writes it.
  ['gs', 'metadata.google.internal.'],
  ['gs', '169.254.169.254'],
  ['s3', '169.254.169.254'],
  ['s3', '169.254.170.2'],
  ['s3', '169.254.170.23'],
  ['s3', 'fd00:ec2::23'],
] as const;

describe('connections of a store', () => {
  const dialled: string[] = [];
  const restore: (() => void)[] = [];
  before(() => {
    for (const { prototype } of [HttpAgent, HttpsAgent]) {
      const { createConnection } = prototype;
      // Nothing is connected to: what is asked for is written down.
      prototype.createConnection = (options) => {
        dialled.push(`${options.host}:${options.port}`);
        return undefined;
      };
      restore.push(() => {
        prototype.createConnection = createConnection;
      });
    }
  });
  after(() => {
    for (const one of restore) one();
  });

  for (const [scheme, host] of hosts) {
    test(`${scheme}: ${host} is asked for a pod's identity, at port 80 without TLS`, () => {
      using _ = guardConnections(strictEgress, openers[scheme].ownHosts({}));
      dialled.length = 0;
      forToken(() => new HttpAgent().createConnection({ host, port: 80 }));
      assert.deepEqual(dialled, [`${host}:80`]);
    });

    test(`${scheme}: ${host} is asked for nothing but a token`, () => {
      using _ = guardConnections(strictEgress, openers[scheme].ownHosts({}));
      dialled.length = 0;
      assert.throws(() => new HttpAgent().createConnection({ host, port: 80 }), EgressError);
      const { addRequest } = HttpAgent.prototype as unknown as { addRequest: (request: object, at: object) => void };
      assert.throws(() => addRequest.call(new HttpAgent(), {}, { host, port: 80 }), EgressError, 'an open connection');
      assert.deepEqual(dialled, []);
    });

    test(`${scheme}: ${host} is not connected to at any other port, nor with TLS`, () => {
      using _ = guardConnections(strictEgress, openers[scheme].ownHosts({}));
      dialled.length = 0;
      const dial = (agent: HttpAgent, port: number) => forToken(() => agent.createConnection({ host, port }));
      for (const port of [1, 79, 81, 443, 2379, 8080, 10250])
        assert.throws(() => dial(new HttpAgent(), port), EgressError, `${host}:${port}`);
      for (const port of [80, 443]) assert.throws(() => dial(new HttpsAgent(), port), EgressError, `${host}:${port}`);
      assert.deepEqual(dialled, []);
    });
  }

  for (const [what, hosts] of [
    ['gs with a key', openers.gs.ownHosts({ gcs: { keyFile: '/key.json' } })],
    ['gs without credentials', openers.gs.ownHosts({ gcs: { anonymous: true } })],
    ['s3 with keys', openers.s3.ownHosts({ s3: { credentialsDirectory: '/keys' } })],
  ] as const) {
    test(`${what} has no use for a pod's identity, and does not reach where it is given`, () => {
      using _ = guardConnections(strictEgress, hosts);
      dialled.length = 0;
      for (const host of ['metadata.google.internal', '169.254.169.254', '169.254.170.2', '169.254.170.23'])
        assert.throws(() => forToken(() => new HttpAgent().createConnection({ host, port: 80 })), EgressError, host);
      assert.deepEqual(dialled, []);
    });
  }

  test('the hosts of one store are no hosts of another', () => {
    using _ = guardConnections(strictEgress, openers.gs.ownHosts({}));
    const dial = () => new HttpAgent().createConnection({ host: '169.254.170.2', port: 80 });
    assert.throws(() => forToken(dial), EgressError);
  });
});
