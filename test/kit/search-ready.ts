import { api } from './api.ts';
import type { TestHub } from './test-hub.ts';
import { until } from './until.ts';

/** Waits until the search has read its table of words and all tools; asks as an admin, of which no record is kept. */
export async function searchReady(hub: Pick<TestHub, 'url'>, admin: string): Promise<void> {
  await until('the search uses all it has', async () => {
    const { status, body } = await api(hub, 'POST', '/smart-routing/search', { token: admin, body: { query: 'x' } });
    return status === 200 && (body.data as { degraded?: string }).degraded === undefined;
  });
}
