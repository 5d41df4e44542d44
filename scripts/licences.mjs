import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Of a bundle: beside it lies a file with the licence of every package that is in it, as their licences ask. */
export function licences(fileName = 'licences.txt') {
  return {
    name: 'licences',
    generateBundle(_options, bundle) {
      const folders = new Set();
      for (const chunk of Object.values(bundle)) {
        for (const id of chunk.type === 'chunk' ? chunk.moduleIds : []) {
          if (id.includes('/node_modules/')) folders.add(packageFolder(dirname(id.replaceAll('\0', ''))));
        }
      }
      const source = [...folders]
        .map(describe)
        .sort()
        .join(`\n\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName, source: `${source}\n` });
    },
  };
}

/** Some packages have a package.json in each of their folders, which says nothing of them. */
function packageFolder(folder) {
  const file = join(folder, 'package.json');
  const { name, version } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  return name && version ? folder : packageFolder(dirname(folder));
}

function describe(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const texts = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)(?:\.|-|$)/i.test(file));
  return [
    `${name} ${version} (${license})`,
    ...texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()),
  ].join('\n\n');
}
