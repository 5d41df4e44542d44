// Installs the conformance suite, for whoever wants to know that it is there: the gate runs it only where it is.
import { installSuite } from './suite.mjs';

process.exit(installSuite() ? 0 : 1);
