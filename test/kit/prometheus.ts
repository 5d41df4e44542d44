/** A line of what Prometheus reads. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Scrape {
  readonly samples: readonly Sample[];
  /** The type of each family by its name. */
  readonly types: ReadonlyMap<string, string>;
  /** The value of the one sample with that name and exactly those labels; undefined when there is none. */
  readonly value: (name: string, labels?: Record<string, string>) => number | undefined;
}

const metricName = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const labelName = /[a-zA-Z_][a-zA-Z0-9_]*/y;
const labelValue = /"((?:[^"\\\n]|\\[\\"n])*)"/y;
const number = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i;

/**
 * Reads the text format of Prometheus, version 0.0.4, and nothing that only looks like it: throws at the first line
 * that is not right, and at a series that is there twice.
 */
export function scrape(text: string): Scrape {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '' || /^# HELP [a-zA-Z_:][a-zA-Z0-9_:]* (?:[^\\]|\\[\\n])*$/.test(line)) continue;
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (type?.[1] !== undefined && type[2] !== undefined) {
      if (types.has(type[1])) throw new Error(`${type[1]} is there twice`);
      types.set(type[1], type[2]);
      continue;
    }
    const sample = readSample(line);
    const family = [sample.name, sample.name.replace(/_(?:bucket|sum|count)$/, '')].find((name) => types.has(name));
    if (family === undefined || [...types.keys()].at(-1) !== family)
      throw new Error(`${line} is of no family above it`);
    const series = JSON.stringify([
      sample.name,
      ...Object.keys(sample.labels)
        .toSorted()
        .map((label) => [label, sample.labels[label]]),
    ]);
    if (seen.has(series)) throw new Error(`${line} is there twice`);
    seen.add(series);
    samples.push(sample);
  }
  const same = (a: Sample['labels'], b: Sample['labels']) =>
    Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, value]) => b[name] === value);
  return {
    samples,
    types,
    value: (name, labels = {}) => samples.find((one) => one.name === name && same(one.labels, labels))?.value,
  };
}

function readSample(line: string): Sample {
  let at = 0;
  const wrong = () => new Error(`not a sample, from character ${at} on: ${line}`);
  const take = (pattern: RegExp): RegExpExecArray => {
    pattern.lastIndex = at;
    const found = pattern.exec(line);
    if (!found) throw wrong();
    at = pattern.lastIndex;
    return found;
  };
  const [name] = take(metricName);
  const labels: Record<string, string> = {};
  if (line[at] === '{') {
    do {
      at++;
      const [label] = take(labelName);
      if (line[at++] !== '=' || label in labels) throw wrong();
      labels[label] = (take(labelValue)[1] ?? '').replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
    } while (line[at] === ',');
    if (line[at++] !== '}') throw wrong();
  }
  const value = line.slice(at + 1);
  if (line[at] !== ' ' || !number.test(value)) throw wrong();
  return { name, labels, value: Number(value.replace('Inf', 'Infinity')) };
}
