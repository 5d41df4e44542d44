import type { ApprovalQuestion } from '../../src/governance/approvals.ts';

/** A call of the tool `query` that a policy asks about, with this text as its argument. */
export const question = (text: string): ApprovalQuestion => ({
  who: 'admin',
  policy: 'ask',
  message: undefined,
  server: 'db',
  tool: 'query',
  caller: 'ann',
  callerKind: 'user',
  client: undefined,
  address: undefined,
  principal: 'u:\nann',
  arguments: JSON.stringify({ text }),
});
