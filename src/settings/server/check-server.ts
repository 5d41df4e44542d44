import { withoutNulls } from '../document/read-part.ts';
import { newReport, type Report } from '../document/report.ts';
import { checkName, readServer } from './read-server.ts';

/**
 * What the settings say to one entry of `mcpServers`, at its path: `problems` they would refuse it for, `warnings`
 * where it probably does not mean what it says.
 */
export function checkServer(name: string, config: unknown): Pick<Report, 'problems' | 'warnings'> {
  const report = newReport();
  if (checkName(name, ['mcpServers', name], report))
    readServer(name, withoutNulls(config, ['mcpServers', name]), { separator: '-', systemOwner: 'admin' }, report);
  return report;
}
