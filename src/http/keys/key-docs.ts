import { listOf, ref } from '../../core/answers/schema.ts';
import { keyRotationInput, keyUpdateInput, newKeyInput } from '../../settings/key/key-input.ts';
import type { Subject } from '../frame/operation.ts';

const key = { data: ref('AccessKey') };

export const keys: Subject = {
  name: 'Access keys',
  operations: {
    'GET /auth/keys': { summary: 'The own access keys; admins see all', answer: { data: listOf(ref('AccessKey')) } },
    'POST /auth/keys': {
      summary: 'Make an access key; its token is shown this once',
      body: newKeyInput,
      answer: key,
      created: true,
    },
    'PUT /auth/keys/:id': { summary: 'Change an access key', body: keyUpdateInput, answer: key },
    'POST /auth/keys/:id/rotate': {
      summary: 'Give an access key another token, which is shown this once',
      description: 'The token before is accepted for `overlapSeconds` more: 0 without it, 30 days at most.',
      body: keyRotationInput,
      answer: key,
    },
    'DELETE /auth/keys/:id': { summary: 'Delete an access key' },
  },
};
