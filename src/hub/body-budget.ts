import { totalmem } from 'node:os';
import { type ByteBudget, createByteBudget } from '../core/byte-budget.ts';
import type { Settings } from '../core/settings/settings.ts';
import { hubLimits } from './limits.ts';

/**
 * The memory for bodies of requests: a part of what this process may have, and enough for two of the largest bodies
 * that the settings allow.
 */
export function bodyBudget(settings: () => Settings): ByteBudget {
  // 0, or more than there is, where nothing constrains the process.
  const memory = Math.min(totalmem(), process.constrainedMemory() || Infinity);
  const part = Math.min(Math.max(memory * hubLimits.budgetPart, hubLimits.budgetBytesLeast), hubLimits.budgetBytesMost);
  return createByteBudget(() => Math.max(part, 2 * (settings().system.routing.jsonBodyBytes ?? 0)));
}
