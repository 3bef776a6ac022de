import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { resources } from '../../../reconcile/interfaces/kube.ts';
import { startCollector } from '../telemetry/collector.ts';

/** What a program says, and how it ends, where the reader of its results has gone. */
async function withoutReader(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const path = join(import.meta.dirname, `../../../functions/${program}.ts`);
  const script = `const { main } = await import(${JSON.stringify(path)});
process.exitCode = await main(${JSON.stringify(args)});
process.stderr.write('it came to its end');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  child.stdout.destroy();
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { said, code };
}

for (const program of ['tick', 'plugin'])
  test(`${program} --help ends quietly where its reader has closed the pipe`, async () => {
    assert.deepEqual(await withoutReader(program, ['--help']), { said: 'it came to its end', code: 0 });
  });

test('a pass comes to its end, and tells its collector, where its reader has closed the pipe', async () => {
  await using server = await startCollector((response) => {
    const asked = Object.values(resources).find(({ plural }) => response.req.url?.includes(`/${plural}?`));
    const empty = { ...asked, kind: `${asked?.kind}List`, metadata: { resourceVersion: '1' }, items: [] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(empty));
  });
  await using directory = await mkdtempDisposable(join(tmpdir(), 'etcd-ratchet-pipe-'));
  const kubeconfig = join(directory.path, 'config');
  const clusters = [{ name: 'c', cluster: { server: server.url, 'insecure-skip-tls-verify': true } }];
  const contexts = [{ name: 'c', context: { cluster: 'c', user: 'u' } }];
  const users = [{ name: 'u', user: { token: 'none' } }];
  await writeFile(kubeconfig, JSON.stringify({ 'current-context': 'c', clusters, contexts, users }));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  const { said, code } = await withoutReader('tick', ['--kubeconfig', kubeconfig, '--timeout', '20'], env);
  assert.match(said, /it came to its end$/);
  assert.equal(code, 0);
  assert.ok(server.received.some(({ path }) => path === '/v1/traces'));
});
