/** CRC-32C (Castagnoli), which etcd's log has. Node's `zlib.crc32` has the polynomial of IEEE. */

const polynomial = 0x82f6_3b78;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ polynomial;
  return crc;
});

/** @param before that of all bytes before these */
export function crc32c(bytes: Uint8Array, before = 0): number {
  let crc = ~before;
  for (let at = 0; at < bytes.length; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}
