import type { Check } from './check.ts';

/** Node.js 20.19 is needed; 20 itself no longer gets security fixes. */
export function checkNodeVersion(running: string = process.versions.node): Check {
  const [major = 0, minor = 0] = running.split('.').map(Number);
  const name = 'Node.js';
  if (major < 20 || (major === 20 && minor < 19)) {
    return {
      name,
      status: 'fail',
      detail: `${running} is too old`,
      fix: 'Install Node.js 22 or newer (20.19 is the oldest that works).',
    };
  }
  if (major === 20) {
    return {
      name,
      status: 'warn',
      detail: `${running} works, but Node.js 20 gets no security fixes any more`,
      fix: 'Prefer Node.js 22 or newer.',
    };
  }
  return { name, status: 'ok', detail: running };
}
