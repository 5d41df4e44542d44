// Installs Claude Code, Codex and Gemini CLI for `clients.test.ts`: 760 MB, apart from the project's own dependencies.
import { fileURLToPath } from 'node:url';
import { installLocked } from '../conformance/suite.mjs';

const failure = installLocked(fileURLToPath(new URL('programs/', import.meta.url)));
if (failure !== undefined) console.log(`The clients cannot be installed: ${failure}`);
process.exit(failure === undefined ? 0 : 1);
