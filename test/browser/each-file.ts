import { afterAll, afterEach, expect } from 'vitest';

// As test/kit/each-file.ts: test files share a process, and these lines run for each of them. In the gate other tests
// are among them, which do not need what drives a browser.
if (expect.getState().testPath?.includes('/test/browser/') === true) {
  const { closePages, leaveHubs, takeComplaints } = await import('./kit.ts');
  afterAll(leaveHubs);
  afterEach(() => {
    const found = takeComplaints();
    expect(found, found.join('\n')).toEqual([]);
  });
  afterEach(closePages);
}
