import type { Ground } from './ground.ts';
import { ownImage } from './installation.ts';

/** What another pod beside a member finds on its volume: who owns what, and whether it may read it. */
export async function seenIn(
  { outputOf }: Ground,
  claim: string,
  securityContext: object = {},
): Promise<Readonly<Record<string, string>>> {
  const program = `
    const { readdirSync, statSync } = require('node:fs');
    const owner = (path) => { const { uid, gid } = statSync(path); return uid + ':' + gid; };
    let data; try { data = readdirSync('/volume/data').join() } catch ({ code }) { data = code }
    console.log(JSON.stringify({ me: String(process.getuid()), volume: owner('/volume'), member: owner('/volume/data'), data }));`;
  const container = {
    ...{ name: 'look', image: await ownImage() },
    command: ['node', '-e', program],
    volumeMounts: [{ name: 'volume', mountPath: '/volume', readOnly: true }],
  };
  const spec = {
    containers: [container],
    securityContext,
    volumes: [{ name: 'volume', persistentVolumeClaim: { claimName: claim, readOnly: true } }],
  };
  return JSON.parse(await outputOf({ name: 'look', spec }));
}
