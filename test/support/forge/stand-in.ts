import { startForge } from '../git/forge.ts';
import { startGitServer } from '../git/server.ts';
import { callers } from '../webhooks/deliveries.ts';
import { askAt, clientOf } from './client.ts';
import { deskOf } from './desk.ts';
import type { ForgeAddress, PeoplesForge } from './peoples-forge.ts';

const token = 'demo-token';

/** System git behind our HTTP server, and the part of Gitea's API that people need here. */
export async function startStandIn({ host, port }: ForgeAddress, why: string): Promise<PeoplesForge> {
  await using parts = new AsyncDisposableStack();
  const git = parts.use(await startGitServer({ host: '0.0.0.0', port, auth: { token } }));
  const repository = await git.createRepository('platform/etcd');
  const desk = deskOf(repository);
  const forge = parts.use(await startForge({ host: '0.0.0.0', port: port === 0 ? 0 : port + 1, token, desk }));
  const at = (url: string) => `http://${host}:${new URL(url).port}`;
  const apiUrl = `${at(forge.url)}/api/v1`;
  const gitUrl = `${at(git.url)}${new URL(repository.url).pathname}`;
  const hooks: { readonly url: string; readonly secret: string }[] = [];
  const started = parts.move();
  return {
    title: `the built-in stand-in for a forge (no Gitea: ${why})`,
    gitUrl,
    apiUrl,
    token,
    ...clientOf(askAt(apiUrl, `token ${token}`)),
    async hook(url, secret) {
      hooks.push({ url, secret });
    },
    async announce(push) {
      for (const { url, secret } of hooks) {
        const facts = { url: gitUrl, ref: 'refs/heads/main', ...push };
        const { headers, body } = await callers.Gitea.send(secret, 'push', callers.Gitea.push(facts));
        const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(10_000) });
        if (!response.ok) throw new Error(`${url} answered ${response.status} to a delivery`);
      }
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
