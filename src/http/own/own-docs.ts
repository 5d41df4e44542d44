import { listOf, ref } from '../../core/answers/schema.ts';
import {
  newPromptInput,
  newResourceInput,
  promptUpdateInput,
  resourceUpdateInput,
} from '../../settings/own/own-shape.ts';
import type { Operation, Subject } from '../frame/operation.ts';

export const own: Subject = {
  name: 'Prompts and resources of the hub',
  operations: {
    ...operations('prompts', 'prompt', 'BuiltinPrompt', newPromptInput, promptUpdateInput),
    ...operations('resources', 'resource', 'BuiltinResource', newResourceInput, resourceUpdateInput),
  },
};

function operations(
  kind: string,
  one: string,
  schema: 'BuiltinPrompt' | 'BuiltinResource',
  made: NonNullable<Operation['body']>,
  changed: NonNullable<Operation['body']>,
): Record<string, Operation> {
  const answer = { data: ref(schema) };
  const description =
    'All clients get it, on every endpoint. What is switched off, or what a policy keeps from the caller or asks about, is shown to admins only.';
  return {
    [`GET /${kind}`]: { summary: `The ${kind} of the hub itself`, description, answer: { data: listOf(ref(schema)) } },
    [`POST /${kind}`]: { summary: `Create a ${one}`, admin: true, body: made, answer, created: true },
    [`GET /${kind}/:id`]: { summary: `One ${one} of the hub itself`, answer },
    [`PUT /${kind}/:id`]: { summary: `Change a ${one}`, admin: true, body: changed, answer },
    [`DELETE /${kind}/:id`]: { summary: `Delete a ${one}`, admin: true },
  };
}
