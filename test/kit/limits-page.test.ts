import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { limitsPage } from '../../scripts/limits.mjs';

test('docs/limits.md has every limit of the sources as it is now (node scripts/limits.mjs)', () => {
  const page = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
  expect(page).toBe(limitsPage());
  expect(page.match(/^\| `/gm)?.length).toBeGreaterThan(300);
});
