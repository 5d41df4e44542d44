import type { Problem } from '../core/errors.ts';
import { withoutNulls } from './read.ts';
import { newReport } from './report.ts';
import { readServer } from './server.ts';

/** What the settings would refuse about one entry of `mcpServers`, at its path; nothing for one they would take. */
export function serverProblems(name: string, config: unknown): readonly Problem[] {
  const report = newReport();
  readServer(name, withoutNulls(config, ['mcpServers', name]), '-', report);
  return report.problems;
}
