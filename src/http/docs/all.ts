import { anyObject, text } from '../../core/answers/schema.ts';
import { grants } from '../authorize/grant-docs.ts';
import { calls } from '../calls/call-docs.ts';
import { smartRouting } from '../calls/smart-routing-docs.ts';
import { credentials } from '../credentials/credential-docs.ts';
import { dashboard } from '../dashboard/dashboard-docs.ts';
import type { Subject } from '../frame/operation.ts';
import { governance } from '../governance/governance-docs.ts';
import { groups } from '../groups/group-docs.ts';
import { keys } from '../keys/key-docs.ts';
import { own } from '../own/own-docs.ts';
import { audit } from '../records/audit-docs.ts';
import { activity, logs } from '../records/record-docs.ts';
import { servers } from '../servers/server-docs.ts';
import { oidcLogin } from '../sign-in/oidc-docs.ts';
import { settings } from '../settings/settings-docs.ts';
import { login } from '../users/login-docs.ts';
import { secondFactor } from '../users/second-factor-docs.ts';
import { users } from '../users/user-docs.ts';

const documents: Subject = {
  name: 'Documentation',
  operations: {
    'GET /docs/openapi.json': { summary: 'This document', answer: { bare: anyObject } },
    'GET /docs': { summary: 'This document as a page', answer: { bare: text, type: 'text/html' } },
  },
};

/** The whole management API, in the order a reader wants it. */
export const subjects: readonly Subject[] = [
  login,
  secondFactor,
  oidcLogin,
  servers,
  groups,
  own,
  calls,
  users,
  keys,
  grants,
  credentials,
  governance,
  logs,
  activity,
  audit,
  settings,
  smartRouting,
  dashboard,
  documents,
];
