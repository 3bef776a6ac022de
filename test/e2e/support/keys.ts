import { noop } from 'cockatiel';
import { Etcd3 } from 'etcd3';

/** One key through one client URL, as an application would. @throws when it is not acknowledged within 5 s. */
export async function writeKey(url: string, key: string, value: string): Promise<void> {
  const client = connect(url);
  try {
    await client.put(key).value(value);
  } finally {
    client.close();
  }
}

/** Linearizable; `null` when there is no such key. */
export async function readKey(url: string, key: string): Promise<string | null> {
  const client = connect(url);
  try {
    return await client.get(key).string();
  } finally {
    client.close();
  }
}

function connect(url: string): Etcd3 {
  return new Etcd3({
    hosts: url,
    faultHandling: { global: noop, host: () => noop },
    defaultCallOptions: () => ({ deadline: Date.now() + 5000 }),
  });
}
