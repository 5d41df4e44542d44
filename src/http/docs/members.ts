import { z } from 'zod';
import { components } from '../../core/answers/components.ts';
import type { Schema } from '../../core/answers/schema.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { MembersOf } from '../frame/body.ts';
import type { Operation, Subject } from '../frame/operation.ts';

/**
 * What each route takes, and what its answers have, so that what was read can be sent back (CONTRACT §7). Read from the
 * descriptions of the routes: the schemas that validate bodies and the ones that answers are held against. A route that
 * describes no JSON object with named members takes any: arguments of tools, and settings of other programs, beside
 * which a route may have a form of its own that it checks itself (`z.union`).
 */
export function membersOfBodies(subjects: readonly Subject[]): MembersOf {
  const operations = new Map(subjects.flatMap((subject) => Object.entries(subject.operations)));
  const known = new Map<string, ReadonlySet<string> | undefined>();
  return ({ method, path }) => {
    const key = `${method} ${path}`;
    if (!known.has(key) && operations.has(key)) known.set(key, membersOf(key, operations));
    return known.get(key);
  };
}

function membersOf(key: string, operations: ReadonlyMap<string, Operation>): ReadonlySet<string> | undefined {
  const body = operations.get(key)?.body;
  if (body === undefined) return undefined;
  const schema: Schema =
    body instanceof z.ZodType ? z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) : body.schema;
  const taken = schema['properties'];
  // Loose objects say what they know of themselves.
  if (!isObject(taken) || isObject(schema['additionalProperties'])) return undefined;
  const read = operations.get(`GET ${key.slice(key.indexOf(' ') + 1)}`);
  return new Set([...Object.keys(taken), ...membersIn(answerOf(operations.get(key))), ...membersIn(elementOf(read))]);
}

/** What is told of one thing where a list of them is read. A change that answers a list takes none of its elements. */
function elementOf(read: Operation | undefined): Schema {
  const schema = answerOf(read);
  return isObject(schema['items']) ? resolved(schema['items']) : schema;
}

function answerOf(operation: Operation | undefined): Schema {
  const answer = operation?.answer;
  return answer === undefined ? {} : resolved('data' in answer ? answer.data : answer.bare);
}

function membersIn({ properties }: Schema): string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

function resolved(schema: Schema): Schema {
  const { $ref: reference } = schema;
  return typeof reference === 'string' ? (components[reference.slice(reference.lastIndexOf('/') + 1)] ?? {}) : schema;
}
