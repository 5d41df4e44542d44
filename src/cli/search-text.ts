import type { DroppedTool, DropReason, ReportedTool, SearchReport } from '../mcp/search-report.ts';

/**
 * The report for people: a line per tool, best first, and where asked for the channels below it and what was left out.
 */
export function searchText(report: SearchReport): string {
  const { searched, results, dropped, confident, degraded } = report;
  const lines = results.flatMap((tool, index) => [
    `  ${String(index + 1).padStart(3)}  ${tool.score.toFixed(2)}  ${headOf(tool)}`,
    ...channelsOf(tool),
  ]);
  const outside = dropped.flatMap((tool) => [`       ${reasonOf(tool, report)}: ${headOf(tool)}`, ...channelsOf(tool)]);
  const notes = [
    ...(searched === 0
      ? ['There is nothing to search: no group of that name, no server in it, or none is connected.']
      : []),
    ...(searched > 0 && results.length === 0
      ? [`Nothing fits among ${searched} tools. Try other or more general words.`]
      : []),
    ...(results.length > 0 && !confident ? ['Even the best of these may well have nothing to do with the query.'] : []),
    ...(degraded === undefined ? [] : [degraded]),
  ];
  return [
    '',
    ...lines,
    ...(outside.length > 0 ? ['', '  Left out', ...outside] : []),
    ...notes.map((note) => `  ${note}`),
    '',
    '',
  ]
    .join('\n')
    .replace(/^\n(?=\n)/, '');
}

const descriptionChars = 80;

function headOf({ name, description }: Pick<ReportedTool, 'name' | 'description'>): string {
  // Names and descriptions are a server's and could move the cursor.
  const plain = `${name}  ${description}`.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').trim();
  return plain.length <= name.length + descriptionChars ? plain : `${plain.slice(0, name.length + descriptionChars)}…`;
}

function channelsOf({ channels }: Pick<ReportedTool, 'channels'>): string[] {
  if (!channels) return [];
  const { words, grams, meaning, server } = channels;
  const shown = { words, 'parts of words': grams, meaning, 'its server': server };
  return [
    `             ${Object.entries(shown)
      .map(([name, value]) => `${name} ${value.toFixed(2)}`)
      .join('   ')}`,
  ];
}

const reasons: Record<DropReason, string> = {
  threshold: 'too far behind the best',
  unavailable: 'its server is not connected',
  not_in_group: 'not in this group',
  switched_off: 'switched off',
};

function reasonOf({ reason, score }: DroppedTool, { threshold }: SearchReport): string {
  return score === undefined ? reasons[reason] : `${reasons[reason]} (${score.toFixed(2)} < ${threshold.toFixed(2)})`;
}
