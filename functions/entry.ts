/**
 * What the bundle is written for and tested on: esbuild's target, the image's Node, and the one that `npm ci` brings.
 * An older one may start it and miss something in the middle: on Node 20 a chunk fails when it is loaded
 * (`AsyncDisposableStack` and `URL.parse` are newer, too).
 */
export const oldestNode = 24;

export type Entry = 'tick' | 'serve' | 'set-aside' | 'read-log' | 'backup' | 'reboot' | 'look' | 'plugin';

const argumentOf: Readonly<Record<Entry, string>> = {
  tick: 'process.argv.slice(2)',
  serve: 'process.env',
  'set-aside': 'process.argv.slice(2)',
  'read-log': 'process.argv.slice(2)',
  backup: 'process.env',
  reboot: 'process.env',
  look: 'process.env',
  plugin: 'process.argv.slice(2)',
};

/**
 * Source that ends the process with the code of `main`, when all that it wrote has left. Not by `process.exitCode`: a
 * handle that was left open would hold a pod until its Job's deadline, and Node has spun in its own clean-up.
 */
export function endWith(main: string): string {
  return `const code = await ${main};
  for (const stream of [process.stdout, process.stderr]) await new Promise((done) => stream.write('', done));
  process.exit(code);`;
}

/**
 * Starts `node dist/<name>.js`. It needs nothing that an old Node lacks, so that an old one says so; in a checkout the
 * Node that `npm ci` brought takes over. Without an unconditional call an old Node would do nothing, with exit code 0.
 * @param bundle where it is, from the entry point
 */
export function entryOf(name: Entry, bundle = `./chunks/${name}.js`): string {
  // kubectl finds a plugin by its name in PATH, and runs it as it is.
  const shebang = name === 'plugin' ? '#!/usr/bin/env node\n' : '';
  return `${shebang}if (Number(process.versions.node.split('.')[0]) >= ${oldestNode}) {
  const { main } = await import('${bundle}');
  ${endWith(`main(${argumentOf[name]})`)}
} else {
  const { spawnSync } = await import('node:child_process');
  const { existsSync } = await import('node:fs');
  const { fileURLToPath } = await import('node:url');
  const installed = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  const isLast = process.env.RATCHET_HANDED_OVER !== undefined || !existsSync(installed);
  if (isLast) {
    const needed = 'needs Node ${oldestNode} or later, and this is ' + process.version;
    process.stderr.write('etcd-ratchet ' + needed + '. Install it, or run "npm ci" in the checkout, which brings one.\\n');
    process.exitCode = 1;
  } else {
    const env = Object.assign({}, process.env, { RATCHET_HANDED_OVER: '1' });
    const { status, error } = spawnSync(installed, process.argv.slice(1), { stdio: 'inherit', env });
    if (error) process.stderr.write('etcd-ratchet: ' + installed + ' does not start: ' + error.message + '\\n');
    process.exitCode = status === null ? 1 : status;
  }
}
`;
}
