import { expect, test } from 'vitest';
import { mcpLimits } from '../mcp/limits.ts';
import { replicaLimits } from '../replicas/limits.ts';
import { hubLimits } from './limits.ts';

test('what holds between hubs fits what holds within one', () => {
  expect(replicaLimits.passedStreams).toBe(mcpLimits.streams);
  expect(replicaLimits.unreadMs).toBe(mcpLimits.unreadMs);
  const { goodbyeMs, lastRequestsMs, lastAnswersMs, leavingMs } = replicaLimits;
  expect(leavingMs).toBeGreaterThan(goodbyeMs + lastRequestsMs + lastAnswersMs + hubLimits.drainMs);
});
