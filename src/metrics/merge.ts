interface Family {
  /** Its lines of help and type. */
  readonly head: string[];
  readonly samples: string[];
}

/** The pages of several workers of one hub as one page: every value has the label `worker`. The first is ours. */
export function mergePages(pages: ReadonlyMap<number, string>): string {
  const families = new Map<string, Family>();
  let hasEnd = false;
  for (const [worker, page] of pages) {
    let family: Family | undefined;
    for (const line of page.split('\n')) {
      const [, about, name] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (name !== undefined) {
        const known = families.get(name);
        family = known ?? { head: [], samples: [] };
        families.set(name, family);
        if (!family.head.some((one) => one.startsWith(`# ${about} `))) family.head.push(line);
      } else if (line === '# EOF') hasEnd = true;
      else if (line !== '') family?.samples.push(labelled(line, worker));
    }
  }
  const lines = [...families.values()].flatMap(({ head, samples }) => [...head, ...samples]);
  return `${[...lines, ...(hasEnd ? ['# EOF'] : [])].join('\n')}\n`;
}

function labelled(sample: string, worker: number): string {
  return sample.replace(/^([^\s{]+)(\{\}|\{)?/, (_, name: string, open?: string) =>
    open === '{' ? `${name}{worker="${worker}",` : `${name}{worker="${worker}"}`,
  );
}
