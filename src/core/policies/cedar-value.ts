import { coreLimits } from '../limits.ts';
import { isObject } from '../protocol/rpc.ts';

/** A value that policies cannot be asked about. The message says why, in a sentence for the caller. */
export class NotJudgeable extends Error {}

/**
 * A JSON value in Cedar's JSON: texts, booleans, records as they are; arrays become sets; whole numbers become `Long`,
 * others `decimal`, rounded to its four digits after the point; members that are `null` are left out. Throws
 * `NotJudgeable` for what Cedar has no value for, and for more than so many characters.
 */
export function cedarValue(value: unknown, chars: number = coreLimits.policyArgumentChars): unknown {
  return converted(value, 0, { nodes: coreLimits.policyArgumentNodes, chars, most: chars });
}

interface Budget {
  nodes: number;
  chars: number;
  readonly most: number;
}

function converted(value: unknown, depth: number, budget: Budget): unknown {
  budget.nodes -= 1;
  if (budget.nodes < 0)
    throw new NotJudgeable(`the arguments have more than ${coreLimits.policyArgumentNodes} values.`);
  if (depth > coreLimits.policyArgumentDepth)
    throw new NotJudgeable(`the arguments are nested deeper than ${coreLimits.policyArgumentDepth} levels.`);
  if (typeof value === 'string') return text(value, budget);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value)) return value.flatMap((one) => (one === null ? [] : [converted(one, depth + 1, budget)]));
  if (!isObject(value)) throw new NotJudgeable('the arguments have a value that is no JSON.');
  const members = Object.entries(value).flatMap(([name, one]) =>
    one === null ? [] : [[memberName(text(name, budget)), converted(one, depth + 1, budget)] as const],
  );
  return Object.fromEntries(members);
}

function text(value: string, budget: Budget): string {
  budget.chars -= value.length;
  if (budget.chars < 0) throw new NotJudgeable(`the arguments are longer than ${budget.most} characters.`);
  return value;
}

/** Cedar's JSON gives these names a meaning: an argument must not become another entity. */
function memberName(name: string): string {
  return name === '__entity' || name === '__extn' || name === '__expr' ? ` ${name}` : name;
}

function number(value: number): unknown {
  if (Number.isSafeInteger(value)) return value;
  // Every integer that is not safe is beyond it too.
  if (Math.abs(value) > coreLimits.policyDecimalMost)
    throw new NotJudgeable('the arguments have a number that is too large.');
  return { __extn: { fn: 'decimal', arg: value.toFixed(4) } };
}
