import { auditCheck, auditHead } from '../../core/answers/audit.ts';
import { listOf, ref, text } from '../../core/answers/schema.ts';
import { auditLimits } from '../../logs/audit/limits.ts';
import type { Subject } from '../frame/operation.ts';

export const audit: Subject = {
  name: 'Audit',
  operations: {
    'GET /audit': {
      summary: 'Who did what, newest first',
      description:
        'Each record has the hash of the one before. Failures and refusals that repeat are one record with a count.',
      admin: true,
      query: {
        action: { type: 'string', description: 'Part of it; the case of A–Z does not matter.' },
        actor: { type: 'string', description: 'The whole name.' },
        target: { type: 'string', description: 'Part of it; the case of A–Z does not matter.' },
        since: { type: 'string', description: 'A date or a time (ISO 8601).' },
        until: { type: 'string', description: 'A date or a time (ISO 8601), inclusive.' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: auditLimits.auditPageMost,
          default: auditLimits.auditPage,
        },
        before: { type: 'integer', description: 'The id of a record; only older ones.' },
      },
      answer: { data: listOf(ref('AuditRecord')) },
    },
    'GET /audit/head': {
      summary: 'The newest record by id and hash, for publishing',
      admin: true,
      answer: { data: auditHead },
    },
    'GET /audit/check': {
      summary: 'Whether the chain holds, and the first record that does not fit',
      description: 'The hub looks at its own records. Who does not trust it checks an export.',
      admin: true,
      answer: { data: auditCheck },
    },
    'GET /audit/export': {
      summary: 'All records, oldest first, as lines of JSON',
      description:
        'What `toolhub audit verify --file` checks without a hub. The export is in the log itself, as its last record.',
      admin: true,
      answer: { bare: text, type: 'application/jsonl' },
    },
  },
};
