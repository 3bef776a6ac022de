/**
 * What etcd3 has in the bundle for `@grpc/proto-loader`. That one parses etcd's protocol, describes each message in
 * Protocol Buffers once more and prepares all calls: 100 ms of every invocation. Here the protocol was parsed when the
 * bundle was built, and a service is prepared when it is first asked.
 */

import services from 'etcd-protocol';
import protobuf from 'protobufjs/light.js';
import type { Call, Service } from './etcd-protocol.ts';

/** As `loadSync` of `@grpc/proto-loader`, of the one protocol that is in the bundle. */
export function loadSync(_file: string, options: protobuf.IConversionOptions): Record<string, object> {
  return Object.fromEntries(services.map((service) => [service.name, definitionOf(service, options)]));
}

function definitionOf({ name, calls, messages }: Service, options: protobuf.IConversionOptions) {
  let root: protobuf.Root | undefined;
  const typeOf = (message: string): protobuf.Type => {
    root ??= protobuf.Root.fromJSON(messages);
    return root.lookupType(message);
  };
  return Object.fromEntries(calls.map((call) => [call.name, methodOf(name, call, typeOf, options)]));
}

function methodOf(
  service: string,
  { name, method, request, response, requestStream, responseStream }: Call,
  typeOf: (message: string) => protobuf.Type,
  options: protobuf.IConversionOptions,
) {
  const serialize = (type: protobuf.Type, message: Record<string, unknown>) =>
    Buffer.from(type.encode(type.fromObject(message)).finish());
  const deserialize = (type: protobuf.Type, bytes: Buffer) => type.toObject(type.decode(bytes), options);
  return {
    path: `/${service}/${name}`,
    originalName: method,
    requestStream,
    responseStream,
    requestSerialize: (message: Record<string, unknown>) => serialize(typeOf(request), message),
    requestDeserialize: (bytes: Buffer) => deserialize(typeOf(request), bytes),
    responseSerialize: (message: Record<string, unknown>) => serialize(typeOf(response), message),
    responseDeserialize: (bytes: Buffer) => deserialize(typeOf(response), bytes),
  };
}
