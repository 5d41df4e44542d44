import { afterAll } from 'vitest';
import { closeFile } from './at-end.ts';

// Test files share a process, and the modules in it: these lines run for each of them, ahead of it.
afterAll(closeFile);
