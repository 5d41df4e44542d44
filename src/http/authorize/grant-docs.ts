import { listOf, ref } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';

export const grants: Subject = {
  name: 'Connected apps',
  operations: {
    'GET /auth/grants': {
      summary: 'The clients that you let in by OAuth; admins see those of all users',
      answer: { data: listOf(ref('OAuthGrant')) },
    },
    'DELETE /auth/grants/:id': { summary: 'Shut a client out: its tokens end at once' },
  },
};
