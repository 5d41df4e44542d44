import { afterAll, afterEach, expect } from 'vitest';
import { closePages, leaveHubs, takeComplaints } from './kit.ts';

// As test/kit/each-file.ts: test files share a process, and these lines run for each of them.
afterAll(leaveHubs);
afterEach(() => {
  const found = takeComplaints();
  expect(found, found.join('\n')).toEqual([]);
});
afterEach(closePages);
