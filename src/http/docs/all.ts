import { calls } from './calls.ts';
import { dashboard } from './dashboard.ts';
import { groups } from './groups.ts';
import type { Subject } from './operation.ts';
import { keys, login, users } from './people.ts';
import { activity, logs } from './records.ts';
import { servers } from './servers.ts';
import { documents, settings } from './settings.ts';
import { smartRouting } from './smart-routing.ts';

/** The whole management API, in the order a reader wants it. */
export const subjects: readonly Subject[] = [
  login,
  servers,
  groups,
  calls,
  users,
  keys,
  logs,
  activity,
  settings,
  smartRouting,
  dashboard,
  documents,
];
