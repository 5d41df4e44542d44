import { auditRecord } from './audit.ts';
import type { Schema } from './schema.ts';
import {
  group,
  groupServer,
  toolOverride,
  builtinPrompt,
  builtinResource,
  user,
  me,
  login,
  loginSession,
  secondFactor,
  loggedIn,
  userStatistics,
  accessKey,
  oauthGrant,
  userCredential,
  tool,
  prompt,
  resource,
  server,
  serverDetails,
  serverNames,
  serverSummary,
  batchResult,
} from './settings.ts';
import { approval, explanation, pin, policy, simulation, waitingApprovals } from './governance.ts';
import { failure, bareFailure, pagination } from './failures.ts';
import { toolResult, searchReport, logEntry, activity, activityStatistics } from './records.ts';

// What the API answers (SPEC, Resources and their fields; CONTRACT §4). These schemas are the components of its
// document and make the types of the code that answers and of the dashboard that reads. Tests hold the answers of a
// running hub against them.

/** The components of the document, by the names that it gives them. */
export const components: Readonly<Record<string, Schema>> = {
  Failure: failure,
  BareFailure: bareFailure,
  Pagination: pagination,
  Group: group,
  GroupServerConfig: groupServer,
  ToolOverride: toolOverride,
  BuiltinPrompt: builtinPrompt,
  BuiltinResource: builtinResource,
  User: user,
  Me: me,
  UserStatistics: userStatistics,
  AccessKey: accessKey,
  LoginSession: loginSession,
  SecondFactor: secondFactor,
  OAuthGrant: oauthGrant,
  UserCredential: userCredential,
  Server: server,
  ServerDetails: serverDetails,
  ServerNames: serverNames,
  ServerSummary: serverSummary,
  Tool: tool,
  Prompt: prompt,
  Resource: resource,
  BatchResult: batchResult,
  Pin: pin,
  Policy: policy,
  Simulation: simulation,
  Explanation: explanation,
  Approval: approval,
  WaitingApprovals: waitingApprovals,
  ToolResult: toolResult,
  SearchReport: searchReport,
  LogEntry: logEntry,
  Activity: activity,
  ActivityStatistics: activityStatistics,
  AuditRecord: auditRecord,
  Login: login,
  LoggedIn: loggedIn,
};
