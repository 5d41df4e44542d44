import { useState } from 'react';
import { type System, useChangeSystem } from '../../api/system.ts';
import { changedLists, changedMembers } from '../../lib/changed.ts';
import { limitsDraft } from '../../lib/limits.ts';

/** What the form shows of the settings. */
export interface Fields {
  readonly bearer: string;
  readonly openApi: string;
  readonly globalRoute: boolean;
  readonly secondFactor: string;
  readonly separator: string;
  readonly pageSize: string;
  readonly payload: boolean;
  readonly queries: boolean;
  readonly baseUrl: string;
  readonly cidrs: string;
  readonly callsPerMinute: string;
  readonly concurrentCalls: string;
  readonly callsPerDay: string;
  readonly most: string;
  readonly skills: string;
  readonly codeSeconds: string;
  readonly codeMemory: string;
  readonly codeCalls: string;
  readonly secretsIn: string;
  readonly secretsOut: string;
}

/** What is typed and not saved yet. */
interface Unsaved {
  readonly edits: Partial<Fields>;
  /** What each of them was when one began with it. */
  readonly since: Partial<Fields>;
}

const nothing: Unsaved = { edits: {}, since: {} };

/**
 * The settings in a form. Only what is changed in it is kept apart from what the hub has: when another user changes
 * them meanwhile, the rest of the form shows that, and saving leaves it alone.
 */
export function useGeneralForm(system: System) {
  const [unsaved, setUnsaved] = useState(nothing);
  const save = useChangeSystem();
  const now = fieldsOf(system);
  const changes = changesIn(unsaved, now);
  return {
    fields: { ...now, ...unsaved.edits },
    set: (part: Partial<Fields>) => {
      const edits = { ...unsaved.edits, ...part };
      setUnsaved(
        kept({ edits, since: { ...now, ...unsaved.since } }, (key) => key in edits && edits[key] !== now[key]),
      );
    },
    isUnchanged: Object.keys(changes).length === 0,
    /** The hub's value of an edited field has changed since the editing began. */
    isOvertaken: keysOf(unsaved.edits).some(
      (key) => unsaved.since[key] !== now[key] && unsaved.edits[key] !== now[key],
    ),
    undo: () => setUnsaved(nothing),
    save: () =>
      save.mutate(changes, {
        onSuccess({ data }) {
          // What was typed while it was on its way is not saved yet.
          setUnsaved(({ edits }) =>
            kept({ edits, since: fieldsOf(data) }, (key) => key in edits && edits[key] !== unsaved.edits[key]),
          );
        },
      }),
    saving: save.isPending,
    error: save.error,
  };
}

function kept({ edits, since }: Unsaved, isKept: (key: keyof Fields) => boolean): Unsaved {
  const only = (part: Partial<Fields>) =>
    Object.fromEntries(keysOf(part).flatMap((key) => (isKept(key) ? [[key, part[key]]] : [])));
  return { edits: only(edits), since: only(since) };
}

function keysOf(part: Partial<Fields>) {
  return Object.keys(part) as (keyof Fields)[];
}

/** What to send. Of a list that is what was added and taken out here; other changes to it stay. */
function changesIn({ edits, since }: Unsaved, now: Fields) {
  const { network, ...others } = bodyOf({ ...now, ...edits });
  const lists = changedLists(bodyOf({ ...now, ...since }).network, network, bodyOf(now).network);
  return { ...changedMembers(bodyOf(now), others), ...(lists.allowedCidrs && { network: lists }) };
}

function fieldsOf({
  routing,
  auth,
  nameSeparator,
  listPageSize,
  activityLog,
  network,
  install,
  limits,
  ...context
}: System): Fields {
  const bearer = routing?.enableBearerAuth;
  return {
    bearer: bearer === undefined ? 'auto' : bearer ? 'on' : 'off',
    openApi: routing?.openApiAccess ?? 'open',
    globalRoute: routing?.enableGlobalRoute ?? true,
    secondFactor: auth?.requireSecondFactor ?? 'no',
    separator: nameSeparator ?? '-',
    pageSize: String(listPageSize ?? 0),
    payload: activityLog?.storeToolPayload ?? false,
    queries: activityLog?.storeSearchQueries ?? true,
    baseUrl: install?.baseUrl ?? '',
    cidrs: (network?.allowedCidrs ?? []).join('\n'),
    ...limitsDraft(limits?.default),
    ...contextFields(context),
  };
}

function contextFields({
  maxResultTokens,
  skills,
  codeMode: { timeoutSeconds, memoryMb, calls } = {},
  secretsInCalls = {},
}: System) {
  return {
    secretsIn: secretsInCalls.arguments ?? 'allow',
    secretsOut: secretsInCalls.results ?? 'allow',
    most: numberText(maxResultTokens),
    skills: skills?.folder ?? '',
    codeSeconds: numberText(timeoutSeconds),
    codeMemory: numberText(memoryMb),
    codeCalls: numberText(calls),
  };
}

function bodyOf(fields: Fields) {
  return {
    routing: {
      enableBearerAuth: fields.bearer === 'auto' ? null : fields.bearer === 'on',
      openApiAccess: fields.openApi,
      enableGlobalRoute: fields.globalRoute,
    },
    auth: { requireSecondFactor: fields.secondFactor },
    nameSeparator: fields.separator,
    listPageSize: Number(fields.pageSize),
    activityLog: { storeToolPayload: fields.payload, storeSearchQueries: fields.queries },
    network: {
      allowedCidrs: fields.cidrs
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    },
    install: { baseUrl: fields.baseUrl.trim() },
    limits: {
      default: {
        callsPerMinute: limitIn(fields.callsPerMinute),
        concurrentCalls: limitIn(fields.concurrentCalls),
        callsPerDay: limitIn(fields.callsPerDay),
      },
    },
    secretsInCalls: { arguments: fields.secretsIn, results: fields.secretsOut },
    maxResultTokens: limitIn(fields.most),
    skills: { folder: fields.skills.trim() || null },
    codeMode: {
      timeoutSeconds: limitIn(fields.codeSeconds),
      memoryMb: limitIn(fields.codeMemory),
      calls: limitIn(fields.codeCalls),
    },
  };
}

function numberText(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}

/** Null takes it out. */
function limitIn(text: string): number | null {
  return text === '' ? null : Number(text);
}
