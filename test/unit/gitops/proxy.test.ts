import assert from 'node:assert/strict';
import { test } from 'node:test';
import { usableProxy } from '../../../gitops/net/proxy.ts';

for (const [value, expected] of [
  ['http://proxy.example.com:3128', 'http://proxy.example.com:3128/'],
  [' proxy.example.com:3128 ', 'http://proxy.example.com:3128/'],
  ['user:pa%40ss@proxy:3128', 'http://user:pa%40ss@proxy:3128/'],
  ['https://proxy', 'https://proxy/'],
  ['HTTP://PROXY', 'http://proxy/'],
] as const) {
  test(`HTTPS_PROXY=${value} is ${expected}`, () => {
    assert.deepEqual(usableProxy({ HTTPS_PROXY: value }), { HTTPS_PROXY: expected });
  });
}

for (const value of ['socks5://hunter2@proxy', 'http://', 'ftp://proxy', 'http://:hunter2@', '://', 'a b']) {
  test(`HTTP_PROXY=${value} is an error that does not repeat it`, () => {
    assert.throws(
      () => usableProxy({ HTTP_PROXY: value }),
      (error) => {
        assert.ok(error instanceof Error && 'code' in error);
        assert.equal(error.code, 'ERR_PROXY_INVALID_CONFIG');
        assert.match(error.message, /^HTTP_PROXY is not the URL of an HTTP proxy/);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  });
}

test('empty variables are none, and others do not matter', () => {
  assert.deepEqual(usableProxy({ HTTPS_PROXY: '', http_proxy: ' ', PATH: '/bin', ALL_PROXY: 'socks5://x' }), {});
});

for (const [value, expected] of [
  ['example.com', '.example.com'],
  ['.example.com', '.example.com'],
  ['*.example.com', '*.example.com'],
  ['*', '*'],
  ['git.example.com:8443', 'git.example.com:8443'],
  ['localhost, 127.0.0.1', '.localhost,127.0.0.1'],
  ['10.0.0.0/8', '10.0.0.0-10.255.255.255'],
  ['172.16.5.4/12', '172.16.0.0-172.31.255.255'],
  ['192.168.1.7/32', '192.168.1.7-192.168.1.7'],
  ['255.255.255.255/0', '0.0.0.0-255.255.255.255'],
  ['.svc .cluster.local', '.svc,.cluster.local'],
  ['192.168.1.0-192.168.1.9', '192.168.1.0-192.168.1.9'],
  ['fd00::/8', 'fd00::/8'],
] as const) {
  test(`NO_PROXY=${value} is ${expected}`, () => {
    assert.deepEqual(usableProxy({ NO_PROXY: value }), { NO_PROXY: expected });
  });
}
