// The same tools/call at hubs that differ in nothing but what decides about calls besides access.
import { compareHubs } from '../lib/turns.mjs';

export const about = 'CPU time of a call with policies and limits, and without';

/** Ninety-seven about other tools, and three about the one that is called. */
const policies = (conditions) => [
  ...Array.from({ length: 97 }, (_, i) => ({
    id: `other ${i}`,
    text: `forbid(principal, action, resource == Tool::"other/tool${i}") when { context.arguments has x && context.arguments.x like "*${i}*" };`,
  })),
  ...conditions.map((condition, i) => ({
    id: `own ${i}`,
    text: `forbid(principal, action == Action::"call", resource == Tool::"sio/echo") when { ${condition} };`,
  })),
];

/** Of what is in no call, so that the verdict is known after the first; and of what each call has differently. */
const repeated = [
  'principal.role == "nobody"',
  'context.arguments has target && context.arguments.target == "prod"',
  'context.client == "none"',
];
const fresh = [
  'context.arguments.message like "*DROP TABLE*"',
  'context.arguments.message like "*DELETE FROM*"',
  'context.arguments.message == ""',
];

const cases = {
  'no policies, no limits': {},
  '97 policies of other tools': { system: { policies: policies([]) } },
  '100 policies, three of the tool, on what repeats': { system: { policies: policies(repeated) } },
  '100 policies, three of the tool, on arguments that never repeat': { system: { policies: policies(fresh) } },
  'limits of every caller': { system: { limits: { default: { callsPerDay: 100_000_000, concurrentCalls: 10_000 } } } },
};

export const run = (options) => compareHubs(cases, options);
