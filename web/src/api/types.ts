// The types of what the hub answers are made of the schemas that its own document shows (`/api/docs`).
export type { ImportAnswer, ImportedServer, RequiredConfig } from '../../../src/core/answers/imports.ts';
export type {
  AccessKey as Key,
  BuiltinPrompt,
  BuiltinResource,
  Group,
  GroupServer,
  ItemCount,
  LoginSession,
  Me,
  OAuthGrant as Grant,
  UserCredential,
  Prompt,
  Resource,
  SecondFactor,
  ServerDetails,
  ServerNames,
  ServerReason,
  ServerStatus,
  ServerSummary,
  Tool,
  ToolOverrideAnswer as ToolOverride,
  User,
} from '../../../src/core/answers/settings.ts';
export type {
  Activity,
  ActivityFailure,
  ActivityGroup,
  ActivityBucket,
  ActivityChoices,
  ActivityStatistics as ActivityStats,
  ActivityStatus,
  ActivityTimeline,
  Callable,
  ClientSeen,
  Connect,
  Exposure,
  LogEntry,
  LogLevel,
  SearchUse,
  ServerCost,
  Snippet,
} from '../../../src/core/answers/records.ts';
export type {
  ApprovalAnswer as Approval,
  WaitingApprovalsAnswer as WaitingApprovals,
  ExplanationAnswer as Explanation,
  GuardAnswer as GuardState,
  GuardTriedAnswer as GuardTried,
  PinAnswer as Pin,
  PolicyAnswer as Policy,
  SimulationAnswer as Simulation,
} from '../../../src/core/answers/governance.ts';
export type { AuditCheck, AuditRecord } from '../../../src/core/answers/audit.ts';
export type { Pagination } from '../../../src/core/answers/failures.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
export type Selection = 'all' | readonly string[];
