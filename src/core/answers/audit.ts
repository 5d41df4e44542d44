import { actorKinds, auditResults, auditWays } from '../audit.ts';
import { anyObject, count, flag, object, oneOf, orNull, saying, type Shape, text, time } from './schema.ts';

// The audit log, as the API answers it (CONTRACT §9).

export const auditRecord = object(
  {
    id: saying('From 1, without gaps.', count),
    time,
    actor: object({ kind: oneOf(actorKinds), name: saying('Empty where there is none.', text) }),
    address: text,
    via: oneOf(auditWays),
    action: saying('Like `server.update`.', text),
    target: text,
    result: oneOf(auditResults),
    count: saying('How often, of what is counted: failures and refusals.', count),
    prev: saying('The hash of the record before; 64 zeros in the first one.', text),
    hash: saying('SHA-256 of the record without this member, as canonical JSON (RFC 8785).', text),
  },
  {
    before: saying('The members that changed, as they were. Secrets are masked.', anyObject),
    after: saying('The same as they are since.', anyObject),
  },
);
export type AuditRecord = Shape<typeof auditRecord>;

export const auditHead = object({
  id: saying('0 where there is no record yet.', count),
  hash: text,
  time: orNull(time),
});
export type AuditHead = Shape<typeof auditHead>;

export const auditCheck = object(
  { whole: flag, records: saying('How many were looked at, or the place of the first that is wrong.', count) },
  {
    first: saying('The id of the oldest one.', count),
    head: auditHead,
    id: saying('Of the first record that is wrong.', count),
    why: text,
  },
);
export type AuditCheck = Shape<typeof auditCheck>;
