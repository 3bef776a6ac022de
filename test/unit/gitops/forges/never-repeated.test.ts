import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { openForge } from '../../../../gitops/forges/forges.ts';
import { localNetwork } from '../../../support/network.ts';

/**
 * A forge that answers with what it was shown, written as JSON lets it: conditions, which many may read, have no
 * word of it.
 */

const escapes = [
  ['/', '\\/'],
  ['+', '\\u002B'],
  ['=', '\\u003d'],
] as const;
const server = createServer((request, response) => {
  const said = JSON.stringify({ message: `bad ${request.headers.authorization}` });
  response.writeHead(403, { 'content-type': 'application/json' });
  response.end(escapes.reduce((text, [plain, escaped]) => text.replaceAll(plain, escaped), said));
});
before(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
after(() => server.close());

const secret = 'to/ken+with="all"???>>>';

for (const [type, path, credentials] of [
  ['Gitea', 'o/r', { kind: 'token', token: secret }],
  ['GitHub', 'o/r', { kind: 'token', token: secret }],
  ['AzureDevOps', 'c/p/_git/r', { kind: 'token', token: secret }],
  ['BitbucketDataCenter', 'scm/KEY/r', { kind: 'basic', username: 'ada', password: secret }],
] as const) {
  test(`${type}: an escaped secret is not repeated`, async () => {
    const gitUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`;
    const forge = openForge(type, { gitUrl, credentials, network: localNetwork });
    const status = { sha: 'ab'.repeat(20), context: 'c', state: 'success', description: 'd' } as const;
    await assert.rejects(forge.post(status, { signal: AbortSignal.timeout(5_000) }), ({ message }: Error) => {
      assert.match(message, /HTTP 403/);
      assert.doesNotMatch(message, /bad|ken\+/);
      return true;
    });
  });
}
