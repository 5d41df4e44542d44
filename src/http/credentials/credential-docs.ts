import { listOf, ref } from '../../core/answers/schema.ts';
import type { Subject } from '../frame/operation.ts';
import { credentialsInput } from './credential-routes.ts';

export const credentials: Subject = {
  name: 'Credentials',
  operations: {
    'GET /credentials': {
      summary: 'The servers that you use with credentials of your own, and which of them you have set; never a value',
      answer: { data: listOf(ref('UserCredential')) },
    },
    'PUT /credentials/:name': {
      summary: 'Set your credentials for a server: a value for each slot',
      body: credentialsInput,
      answer: { data: ref('UserCredential') },
    },
    'DELETE /credentials/:name': { summary: 'Remove your credentials for a server' },
  },
};
