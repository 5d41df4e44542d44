// Installs helm and kubectl for the tests of deploy/: the gate runs those that need them only where they are.
import { installTools } from './tools.mjs';

process.exit((await installTools()) ? 0 : 1);
