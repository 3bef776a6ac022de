import { abortAfter } from '../../manifests/abort-after.ts';

/** How long the whole answer may take, in milliseconds. */
const patience = 5_000;
/** An alert has about 500 bytes. */
const mostBytes = 4 * 1024 * 1024;

/** The text of `GET <url>/api/v1/alerts`; follows no redirect. @throws {Error} when it is late or too long */
export async function readAlerts(url: string, signal: AbortSignal): Promise<string> {
  const inTime = abortAfter(patience, signal);
  const options = { signal: inTime, redirect: 'error', headers: { accept: 'application/json' } } as const;
  const response = await fetch(`${url.replace(/\/+$/, '')}/api/v1/alerts`, options);
  if (response.status !== 200 || !response.body) {
    await response.body?.cancel();
    throw new Error(`it answers with status ${response.status}`);
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body) {
    length += part.length;
    if (length > mostBytes) throw new Error(`its answer is longer than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
