import { mkdir } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { binariesEnvironment, provisionBinaries } from './support/cluster/binaries.ts';
import { startControlPlane } from './support/cluster/control-plane.ts';
import { kubectlFor } from './support/cluster/kubectl.ts';
import { enterSandbox } from './support/cluster/sandbox.ts';
const binaries = await provisionBinaries();
const sandbox = await enterSandbox(binariesEnvironment(binaries));
const directory = join(sandbox.directory, 'control-plane');
await mkdir(directory, { mode: 0o700 });
const t0 = Date.now();
const say = (when: string) => {
  const out: string[] = [];
  for (const line of execFileSync('ps', ['-eo', 'pid,comm,cputimes,args']).toString().split('\n').slice(1)) {
    const [pid = '', comm = ''] = line.trim().split(/\s+/);
    if (!/^(kube-|etcd)/.test(comm)) continue;
    try {
      if (!readFileSync(`/proc/${pid}/cmdline', 'utf8`.replace("', 'utf8", ''), 'utf8').includes(sandbox.directory)) continue;
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const f = text.slice(text.lastIndexOf(')') + 2).split(' ');
      out.push(`${comm} ${(Number(f[11]) + Number(f[12])) / 100}`);
    } catch {}
  }
  console.log(when, Date.now() - t0, process.cpuUsage().user / 1e6, out.join('  '));
};
await using cp = await startControlPlane(binaries, directory);
say('ready');
const kubectl = kubectlFor(binaries.kubernetes.kubectl, cp.kubeconfigPath);
await kubectl(['apply', '-k', resolve(import.meta.dirname, '../manifests/install/crds')]);
await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s']);
say('crds');
await setTimeout(15000);
say('idle 15');
