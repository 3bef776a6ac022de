import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Machine, needRealNode } from '../../support/cluster/real-node/needs.ts';

const whole: Machine = {
  isRoot: true,
  hasProgram: () => true,
  hasFile: () => true,
  fileSystems: 'nodev\tproc\nnodev\toverlay\n\text4\n',
};

test('a machine that has all that a real node needs tells where the CNI plugins are', () => {
  assert.deepEqual(needRealNode(whole), { cniPlugins: '/usr/lib/cni' });
  const elsewhere = { ...whole, hasFile: (path: string) => !path.startsWith('/usr/lib/cni') };
  assert.deepEqual(needRealNode(elsewhere), { cniPlugins: '/opt/cni/bin' });
});

for (const [what, lacks, message] of [
  ['root', { isRoot: false }, /^a real node needs root.*: run it with sudo$/],
  [
    'containerd',
    { hasProgram: (name: string) => !['containerd', 'ctr'].includes(name) },
    /does not have: containerd, ctr: apt-get install containerd$/,
  ],
  [
    'runc and the CNI plugins',
    {
      hasProgram: (name: string) => name !== 'runc',
      hasFile: (path: string) => !path.includes('cni'),
    },
    /runc, the CNI plugins bridge, host-local, loopback: apt-get install runc containernetworking-plugins$/,
  ],
  [
    'parts of the kernel',
    { fileSystems: 'ext4', hasFile: (path: string) => !path.startsWith('/proc/sys/net/bridge') },
    /not loaded: overlay, br_netfilter: modprobe -a overlay br_netfilter$/,
  ],
] as const)
  test(`a machine without ${what} is told what to do`, () => {
    assert.throws(() => needRealNode({ ...whole, ...lacks }), { name: 'ProvisionError', message });
  });
