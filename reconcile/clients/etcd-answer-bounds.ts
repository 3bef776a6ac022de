/**
 * An answer of etcd is decoded only if it can be one. A member may run the image of a tenant, and a few compressed
 * kilobytes would become millions of objects: the memory belongs to the clusters of all.
 */

import { type Channel, status } from '@grpc/grpc-js';
import { mostMembers } from './etcd-values.ts';

/** Of one message, also after decompression: of what we ask for, a part of a snapshot is the largest, with 32 KiB. */
const mostBytes = 64 * 1024;
/** Of one message at its top: members, their alarms of two kinds, and what is there once. */
const mostFields = 3 * mostMembers;
/** The same of users, roles and rights: names, or a key and its end. */
const mostOfAuth = 1024;

export const boundedBytes = { 'grpc.max_receive_message_length': mostBytes };

/** Ends a call whose answer has more fields than any of etcd's, before the first of them is decoded. */
export function withBoundedFields(channel: Channel): Channel {
  const create = channel.createCall.bind(channel);
  channel.createCall = (method, ...args) => {
    const most = method.startsWith('/etcdserverpb.Auth/') ? mostOfAuth : mostFields;
    const refusedFor = `more than ${most} fields, or fields that can't be read`;
    const call = create(method, ...args);
    const start = call.start.bind(call);
    call.start = (metadata, listener) =>
      start(metadata, {
        ...listener,
        onReceiveMetadata: (received) => listener.onReceiveMetadata(received),
        onReceiveStatus: (ended) => listener.onReceiveStatus(ended),
        onReceiveMessage: (message: Buffer) => {
          if (hasAtMostFields(message, most)) listener.onReceiveMessage(message);
          else call.cancelWithStatus(status.RESOURCE_EXHAUSTED, `this is no answer of etcd: ${refusedFor}`);
        },
      });
    return call;
  };
  return channel;
}

/** Whether a protobuf message has no more fields than that, and all can be read; those within fields do not count. */
export function hasAtMostFields(message: Uint8Array, most: number): boolean {
  let at = 0;
  for (let count = 0; at < message.length; count += 1) {
    const tag = varint(message, at);
    const end = tag && afterValue(message, tag.end, tag.value % 8);
    if (end === undefined || count >= most) return false;
    at = end;
  }
  return at === message.length;
}

/** Where the value ends, by its wire type (https://protobuf.dev/programming-guides/encoding). etcd has no groups. */
function afterValue(message: Uint8Array, at: number, wireType: number): number | undefined {
  if (wireType === 0) return varint(message, at)?.end;
  if (wireType === 1) return at + 8;
  if (wireType === 5) return at + 4;
  if (wireType !== 2) return undefined;
  const length = varint(message, at);
  return length && length.end + length.value;
}

/** At most ten bytes. As a double, it is exact as far as an index may be. */
function varint(message: Uint8Array, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = message[at + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, end: at + index + 1 };
  }
  return undefined;
}
