// docs/limits.md, of the limits in the sources: node scripts/limits.mjs.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The text of docs/limits.md: for each module a table of names, values and reasons. */
export function limitsPage() {
  const modules = readdirSync(join(root, 'src'), { recursive: true })
    .filter((path) => /(?:^|\/)limits\.ts$/.test(path))
    .toSorted((a, b) => a.localeCompare(b));
  const tables = modules.map((path) => table(path, readFileSync(join(root, 'src', path), 'utf8')));
  return `# Limits

Every queue, cache, retry, body, page and timeout of the hub has a bound. They are no settings, unless [configuration](configuration.md) says how to change one. This page is made of the sources by \`node scripts/limits.mjs\`.

${tables.join('\n')}`;
}

/**
 * One file of limits. Its lines are of four kinds: a heading (\`// …\`), a comment for the limits that follow it, a
 * limit (`name: value,`), and what stands around them; any other is an error.
 */
function table(path, source) {
  const module = path.replace(/\/limits\.ts$/, '');
  const inside = /^export const \w+ = \{\n(?<lines>[\s\S]*)^\} as const;\n$/m.exec(source)?.groups?.lines;
  if (inside === undefined) throw new Error(`src/${path} is no list of limits.`);
  const rows = [];
  let reason = '';
  for (const [part] of inside.matchAll(/\/\*\*[\s\S]*?\*\/|\S.*/g)) {
    const limit = /^(?<name>\w+): (?<value>[\d_. *]+),$/.exec(part)?.groups;
    if (part.startsWith('// ')) rows.push(`| **${part.slice(3)}** | | |`);
    else if (part.startsWith('/**')) reason = part.replaceAll(/^\/\*\*|\*\/$|\n\s*\*(?!\/)/g, '').trim();
    else if (!limit) throw new Error(`src/${path}: "${part}" is no limit.`);
    else {
      rows.push(`| \`${limit.name}\` | ${inUnits(limit.name, limit.value)} | ${reason.replaceAll('|', '\\|')} |`);
      reason = '↑';
    }
  }
  return `## ${module}\n\n| Limit | Value | Reason |\n|---|---|---|\n${rows.join('\n')}\n`;
}

const units = {
  Ms: [
    ['d', 24 * 60 * 60_000],
    ['h', 60 * 60_000],
    ['min', 60_000],
    ['s', 1_000],
    ['ms', 1],
  ],
  Bytes: [
    ['GiB', 1024 ** 3],
    ['MiB', 1024 ** 2],
    ['KiB', 1024],
    ['bytes', 1],
  ],
};

/** A value with the unit that the name ends with, in the largest one that leaves it whole. */
function inUnits(name, expression) {
  const value = expression.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
  const of = units[/(?:Ms|Bytes)(?=$|Least|Most)/.exec(name)?.[0] ?? ''];
  const [unit, size] = of?.find(([, least]) => value >= least && value % least === 0) ?? of?.at(-1) ?? ['', 1];
  const number = String(value / size).replace(/\B(?=(?:\d{3})+$)/g, ' ');
  const counted = /Chars(?=$|Least|Most)/.test(name) ? 'characters' : unit;
  return `${number} ${counted}`.trim();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(join(root, 'docs/limits.md'), limitsPage());
