// Parts of the hub that tests run in processes of their own. `build.ts` makes `.built/parts.js` of it: Node 20 runs no
// TypeScript.
export { openEmbedded } from '../../src/database/embedded.ts';
export { takeLock } from '../../src/disk/folder-lock.ts';
export { standardOutput } from '../../src/logs/output.ts';
export { settingsFile } from '../../src/settings/file.ts';
export { openSettings } from '../../src/settings/store.ts';
export { ownerMark } from '../../src/upstream/channels/stdio/orphans.ts';
export { openReaper } from '../../src/upstream/channels/stdio/reaper.ts';
export { openProgram } from '../../src/upstream/channels/stdio/program.ts';
