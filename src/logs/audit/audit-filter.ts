import { type RawFilter, readFilter } from '../filter-input.ts';
import { auditLimits } from './limits.ts';
import type { AuditListing } from './table.ts';

/** Reads the query of a listing of the audit log. Throws HubError `invalid_input`. */
export function parseAuditListing(raw: RawFilter): AuditListing {
  const read = readFilter(raw);
  const listing = {
    action: read.text('action'),
    actor: read.text('actor'),
    target: read.text('target'),
    since: read.date('since'),
    until: read.date('until', 'end'),
    limit: read.integer('limit', { min: 1, max: auditLimits.auditPageMost }) ?? auditLimits.auditPage,
    before: read.integer('before', { min: 0, max: Number.MAX_SAFE_INTEGER }),
  };
  read.done('the audit log');
  return listing;
}
