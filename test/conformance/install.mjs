// Installs the conformance suite, for a test of it: the gate runs it only where it is.
import { installSuite } from './suite.mjs';

process.exit(installSuite() ? 0 : 1);
