import { expect, test } from 'vitest';
import { createByteBudget } from '../core/byte-budget.ts';
import { mcpLimits } from '../mcp/limits.ts';
import { wireLimits } from '../wire/limits.ts';
import { hubLimits } from './limits.ts';

const kilobyte = 1024;

test('small bodies on as many connections as there may be leave room for logins, and for those with a credential', () => {
  const budget = createByteBudget(() => hubLimits.budgetBytesLeast);
  const sent = new Uint8Array(wireLimits.connections - 1);
  for (let isGrowing = true; isGrowing;) {
    isGrowing = false;
    for (const [i, kilobytes = 0] of sent.entries()) {
      if (kilobytes === 63 || !budget.hold(kilobyte, (kilobytes + 1) * kilobyte)) continue;
      sent[i] = kilobytes + 1;
      isGrowing = true;
    }
  }
  expect(budget.used).toBeGreaterThan(hubLimits.budgetBytesLeast / 2);
  expect(budget.used).toBeLessThanOrEqual((hubLimits.budgetBytesLeast * 5) / 8);
  budget.receive({ declared: kilobyte, isKnown: false }).add(kilobyte);
  // The largest usual body, and small ones.
  budget.receive({ declared: mcpLimits.requestBodyBytes, isKnown: true }).add(mcpLimits.requestBodyBytes);
  for (let i = 0; i < 100; i++) budget.receive({ declared: 0, isKnown: true }).add(64 * kilobyte);
});
