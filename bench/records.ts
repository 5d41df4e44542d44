// What the scenario `failures` takes of the hub and of its tests: Node 20 runs no TypeScript.
export { openEmbedded } from '../src/database/embedded.ts';
export { startPostgres } from '../test/kit/postgres.ts';
