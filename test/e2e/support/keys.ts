import { type Access, connectTo } from './client.ts';

/** One key, as an application would write it. @throws when it is not acknowledged within 5 s. */
export async function writeKey(access: Access, key: string, value: string): Promise<void> {
  const client = connectTo(access, 5000);
  try {
    await client.put(key).value(value);
  } finally {
    client.close();
  }
}

/** Linearizable; `null` when there is no such key. */
export async function readKey(access: Access, key: string): Promise<string | null> {
  const client = connectTo(access, 5000);
  try {
    return await client.get(key).string();
  } finally {
    client.close();
  }
}
