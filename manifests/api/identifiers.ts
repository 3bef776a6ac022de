/** The ID of an etcd cluster or member, as statuses say it: hexadecimal, lower-case, without leading zeros. */
export const etcdIdPattern = '^[1-9a-f][0-9a-f]{0,15}$';

/** A digest, as `sha256sum` prints it. */
export const sha256Pattern = '^[0-9a-f]{64}$';

export const isEtcdId = matches(etcdIdPattern);
export const isSha256 = matches(sha256Pattern);

/** A Job is named after it, and its name is a label of its pod: 63 characters, of which `-verify-10` takes ten. */
export const longestBackupName = 52;

function matches(pattern: string): (value: unknown) => value is string {
  const expression = new RegExp(pattern);
  return (value): value is string => typeof value === 'string' && expression.test(value);
}
