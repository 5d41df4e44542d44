import { HubError } from '../../core/errors.ts';

/** What became of one element of a batch (reference: MCPHub §1.4). */
export interface BatchResult {
  readonly name: string;
  readonly success: boolean;
  readonly message: string;
}

/**
 * Does one thing after the other; what one of them throws is its own result and costs the others nothing. `nameOf` is
 * for answers and must not throw.
 */
export async function eachOf<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
  run: (item: T) => Promise<string>,
): Promise<BatchResult[]> {
  const results: BatchResult[] = [];
  for (const item of items) {
    const name = nameOf(item);
    try {
      results.push({ name, success: true, message: await run(item) });
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      results.push({ name, success: false, message: error.message });
    }
  }
  return results;
}

export function countsOf(results: readonly BatchResult[]) {
  const successCount = results.filter((result) => result.success).length;
  const failureCount = results.length - successCount;
  return {
    success: failureCount === 0,
    successCount,
    failureCount,
    results,
  };
}

/** What the envelope says when something failed (CONTRACT §3). */
export function batchMessage({ successCount, failureCount }: { successCount: number; failureCount: number }) {
  if (failureCount === 0) return {};
  return { message: `${failureCount} of ${successCount + failureCount} failed; the results say why.` };
}

/**
 * 200 when everything went well, 207 for a part of it, 400 for nothing: the one place besides `reply.ts` that knows a
 * status.
 */
export function batchStatus({ successCount, failureCount }: { successCount: number; failureCount: number }) {
  return failureCount === 0 ? 200 : successCount > 0 ? 207 : 400;
}

/** The name an element of a batch carries, as far as it has one. */
export function nameIn(item: unknown): string {
  return typeof item === 'object' && item !== null && 'name' in item && typeof item.name === 'string' ? item.name : '';
}
